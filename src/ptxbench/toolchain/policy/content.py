"""Rules over a candidate's preprocessed tokens: what its own text says, macros expanded, in either pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ptxbench.schema import Violation
from ptxbench.toolchain.policy.passes import Placed
from ptxbench.toolchain.policy.symbols import called, driver_entries, reserved
from ptxbench.toolchain.policy.tokens import string_value

ASM = frozenset({"asm", "__asm__", "__asm"})
_ATTRIBUTE = frozenset({"__attribute__", "__attribute", "__declspec"})
_SECTION = frozenset({"section", "__section__"})
_LOOK_UP = re.compile(r"cudaGetDriverEntryPoint(ByVersion)?(_ptsz)?")
_LIBRARY_NAMESPACES = {"cutlass": "cutlass", "cute": "cutlass"}
_FFI_WRAPPER = re.compile(r"^TVMFFI(?:Function|Env|Type)?(\w+)")
"""TVM-FFI's C++ headers call ``TVMFFIFunctionGetGlobal`` in ``GetGlobal...``, and so on."""
_LENGTH = re.compile(r"\d{1,7}")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")

Report = Callable[[str, Placed], Violation]
"""Makes the record of a breach of a rule at a token."""


def judge_tokens(tokens: Sequence[Placed], report: Report) -> Iterator[Violation]:
    """Yield the breaches that a candidate's tokens show whether or not it compiled."""
    for index, placed in enumerate(tokens):
        text = placed.token.text
        if placed.token.kind == "string" and (rule := _named_in_text(tokens, index)) is not None:
            yield report(rule, placed)
        if placed.token.kind != "identifier":
            if text == "[" and _text(tokens, index + 1) == "[" and _section_in(tokens, index):
                yield report("section_attribute", placed)
            continue
        if text in _ATTRIBUTE and _section_in(tokens, index + 1):
            yield report("section_attribute", placed)
        elif text in ASM and "incbin" in "".join(strings_in_parentheses(tokens, index)):
            yield report("incbin", placed)
        elif (rule := reserved(text)) is not None:
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


def place_of_symbol(tokens: Sequence[Placed], symbol: str) -> Placed | None:
    """Return the token that a symbol comes from: its name, an asm label that spells it, or a part of its mangled name."""
    literal = None
    for index, placed in enumerate(tokens):
        if placed.token.text == symbol:
            return placed
        if literal is None and _spells(tokens, index, symbol):
            literal = placed
    if literal is not None:
        return literal
    parts = [*reversed(mangled_parts(symbol)), *_FFI_WRAPPER.findall(symbol)]
    return next((placed for part in parts for placed in tokens if placed.token.text.startswith(part)), None)


def _spells(tokens: Sequence[Placed], index: int, symbol: str) -> bool:
    """Return whether the token at ``index`` is a string that is the symbol's name, or an asm label that holds it."""
    token = tokens[index].token
    if token.kind == "string":
        return string_value(token) == symbol
    return token.text in ASM and symbol in "".join(strings_in_parentheses(tokens, index))


def place_of_device_wide(tokens: Sequence[Placed]) -> Placed | None:
    """Return the token by which a candidate reaches for CUB's or Thrust's device-wide part."""
    for index, placed in enumerate(tokens):
        if placed.token.text in ("cub", "thrust") and _device_wide(placed.token.text, _text(tokens, index + 2)):
            return placed
    return next((placed for placed in tokens if placed.token.text in ("cub", "thrust")), None)


def strings_in_parentheses(tokens: Sequence[Placed], index: int) -> list[str]:
    """Return the values of the string literals in the first pair of parentheses after the token at ``index``."""
    values, depth = [], 0
    for position in range(index + 1, len(tokens)):
        placed = tokens[position]
        text = placed.token.text
        if text == "(":
            depth += 1
        elif text == ")":
            depth -= 1
            if depth == 0:
                break
        elif depth == 0 and (placed.token.kind != "identifier"):
            break
        elif placed.token.kind == "string":
            values.append(string_value(placed.token))
    return values


def _text(tokens: Sequence[Placed], index: int) -> str | None:
    return tokens[index].token.text if 0 <= index < len(tokens) else None


def _section_in(tokens: Sequence[Placed], index: int) -> bool:
    """Return whether the bracketed group that opens at ``index`` names a section attribute."""
    depth = 0
    for position in range(index, len(tokens)):
        token = tokens[position].token
        if token.text in _OPENING and token.kind == "punctuator":
            depth += 1
        elif token.text in _CLOSING and token.kind == "punctuator":
            depth -= 1
            if depth <= 0:
                return False
        elif depth == 0:
            return False
        elif token.text in _SECTION and _text(tokens, position + 1) == "(":
            return True
    return False


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
