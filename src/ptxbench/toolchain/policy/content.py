"""Rules over a candidate's preprocessed tokens: what its own text says, macros expanded, in either pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ptxbench.schema import Violation
from ptxbench.toolchain.policy.groups import ASM, assemblies, section_attributes
from ptxbench.toolchain.policy.passes import Placed
from ptxbench.toolchain.policy.symbols import called, driver_entries, reserved
from ptxbench.toolchain.policy.tokens import string_value

_LOOK_UP = re.compile(r"cudaGetDriverEntryPoint(ByVersion)?(_ptsz)?")
_LIBRARY_NAMESPACES = {"cutlass": "cutlass", "cute": "cutlass"}
_LENGTH = re.compile(r"\d{1,7}")

Report = Callable[[str, Placed], Violation]
"""Makes the record of a breach of a rule at a token."""


def judge_tokens(tokens: Sequence[Placed], report: Report) -> Iterator[Violation]:
    """Yield the breaches that a candidate's tokens show whether or not it compiled."""
    for placed in section_attributes(tokens):
        yield report("section_attribute", placed)
    for placed, text in assemblies(tokens):
        if "incbin" in text:
            yield report("incbin", placed)
    for index, placed in enumerate(tokens):
        text = placed.token.text
        if placed.token.kind == "string" and (rule := _named_in_text(tokens, index)) is not None:
            yield report(rule, placed)
        if placed.token.kind != "identifier":
            continue
        if (rule := reserved(text)) is not None:
            yield report(rule, placed)
        elif text in _LIBRARY_NAMESPACES and (_text(tokens, index + 1) == "::" or _text(tokens, index - 1) == "namespace"):
            yield report(_LIBRARY_NAMESPACES[text], placed)
        elif _LOOK_UP.fullmatch(text) and _looked_up(tokens, index) not in (None, *driver_entries()):
            yield report("driver_entry", placed)


def _named_in_text(tokens: Sequence[Placed], index: int) -> str | None:
    """Return the rule that a string breaks which is a linker's name: ``weakref`` and its like take names as strings."""
    if index > 0 and tokens[index - 1].token.kind == "string":
        return None
    name = ""
    while index < len(tokens) and tokens[index].token.kind == "string":
        name += string_value(tokens[index].token)
        index += 1
    return reserved(name)


def judge_calls(tokens: Sequence[Placed], report: Report) -> Iterator[Violation]:
    """Yield calls of refused functions, by name: for sources without an object, whose imports would say it for certain."""
    for index, placed in enumerate(tokens):
        if placed.token.kind != "identifier" or _text(tokens, index + 1) != "(" or _text(tokens, index - 1) in (".", "->"):
            continue
        rule = called(placed.token.text)
        if rule is not None:
            yield report(rule, placed)
    for index, placed in enumerate(tokens):
        library = placed.token.text
        if library in ("cub", "thrust") and _text(tokens, index + 1) == "::" and _device_wide(library, _text(tokens, index + 2)):
            yield report("device_wide_library", placed)


def judge_host_asm(tokens: Sequence[Placed], report: Report) -> Iterator[Violation]:
    """Yield assembly in host code; labels that rename a symbol count too."""
    for placed in tokens:
        if placed.token.text in ASM and placed.token.kind == "identifier":
            yield report("host_asm", placed)


def place_of_device_wide(tokens: Sequence[Placed]) -> Placed | None:
    """Return the token by which a candidate reaches for CUB's or Thrust's device-wide part."""
    for index, placed in enumerate(tokens):
        if placed.token.text in ("cub", "thrust") and _device_wide(placed.token.text, _text(tokens, index + 2)):
            return placed
    return next((placed for placed in tokens if placed.token.text in ("cub", "thrust")), None)


def _text(tokens: Sequence[Placed], index: int) -> str | None:
    return tokens[index].token.text if 0 <= index < len(tokens) else None


def _looked_up(tokens: Sequence[Placed], index: int) -> str | None:
    """Return the name that a look-up at ``index`` asks for, when it is one literal."""
    if _text(tokens, index + 1) != "(":
        return None
    position, value = index + 2, ""
    while position < len(tokens) and tokens[position].token.kind == "string":
        value += string_value(tokens[position].token)
        position += 1
    return value if position > index + 2 and _text(tokens, position) == "," else None


_DEVICE_WIDE = {
    "cub": re.compile(r"Device[A-Z]\w*|Dispatch[A-Z]\w*"),
    "thrust": re.compile(
        r"(device|universal)_(vector|malloc|new|free|delete)\w*|device|(stable_)?sort(_by_key)?|(transform_)?reduce(_by_key)?|transform|for_each(_n)?|inner_product|"
        r"(transform_)?(in|ex)clusive_scan(_by_key)?|copy(_if|_n)?|fill(_n)?|sequence|generate(_n)?|gather(_if)?|scatter(_if)?|unique\w*|count(_if)?|(min|max|minmax)_element"
    ),
}


def _device_wide(library: str, name: str | None) -> bool:
    return name is not None and _DEVICE_WIDE[library].fullmatch(name) is not None


def mangled_parts(symbol: str) -> list[str]:
    """Return the identifiers in an Itanium-mangled name, in order."""
    parts: list[str] = []
    position = 0
    if not symbol.startswith("_Z"):
        return parts
    while (match := _LENGTH.search(symbol, position)) is not None:
        length = int(match.group())
        part = symbol[match.end() : match.end() + length]
        if length and re.fullmatch(r"[A-Za-z_]\w*", part):
            parts.append(part)
            position = match.end() + length
        else:
            position = match.end()
    return parts
