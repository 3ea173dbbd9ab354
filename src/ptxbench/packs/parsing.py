"""A header of device code: its annotated wrappers, its includes, and its text as a prompt shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ptxbench.core.errors import PackError

ANNOTATION = "//@ptxk"
"""Begins the line that says which PTX and SASS the next declaration stands for."""
HIDE, SHOW = "//@ptxk-hide", "//@ptxk-show"
"""Around code that is compiled and not shown: instances that repeat what one outside already says."""
KEYS = frozenset({"ptx", "sass", "contracts", "variants", "arch", "name"})
_PAIR = re.compile(r'\s*(?P<key>[a-z_]+)=(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]+))')
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"(?P<own>[^"\n]+)"|<(?P<system>[^>\n]+)>)[^\n]*$', re.M)
_TOKEN = re.compile(
    r"""(?P<raw>R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")
      | (?P<string>"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')
      | (?P<comment>//[^\n]*|/\*.*?\*/)""",
    re.X | re.S,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_NOT_A_NAME = frozenset(
    {"__launch_bounds__", "__align__", "alignas", "__attribute__", "decltype", "requires", "noexcept", "enable_if_t"}
)


@dataclass(frozen=True)
class Wrapper:
    """One annotated declaration: what a model may call, and what the call becomes."""

    name: str
    signature: str
    ptx: str
    sass: str | None
    contracts: tuple[str, ...]
    variants: str | None
    line: int


@dataclass(frozen=True)
class Header:
    """A parsed header; ``text`` is the whole file."""

    text: str
    wrappers: tuple[Wrapper, ...]
    own_includes: tuple[str, ...]
    """``#include "…"``, as written."""
    system_includes: tuple[str, ...]
    """``#include <…>``, as written."""

    def identifiers(self) -> frozenset[str]:
        """Return every word of the code: types, functions, parameters, constants."""
        return words_of(self.text)

    def strings(self) -> str:
        """Return the text of the string literals: the assembly."""
        return "\n".join(match[0] for match in _TOKEN.finditer(self.text) if match["string"] or match["raw"])

    def shown(self, *, comments: bool) -> str:
        """Return the code for a prompt: no annotations, own includes or hidden parts; comments only if asked for."""
        text = "\n".join(_visible_lines(self.text))
        text = text if comments else without_comments(text)
        text = re.sub(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", "", text, flags=re.M)
        text = re.sub(r'^[ \t]*#[ \t]*include[ \t]*"[^\n]*$', "", text, flags=re.M)
        text = "\n".join(line.rstrip() for line in text.splitlines())
        return re.sub(r"\n{2,}", "\n\n" if comments else "\n", text).strip("\n") + "\n"

    def declarations(self) -> str:
        """Return each wrapper's declaration, its variants and the PTX that it stands for, one below the other."""
        blocks = []
        for wrapper in self.wrappers:
            notes = [wrapper.ptx or "no instruction of its own", *([wrapper.variants] if wrapper.variants else [])]
            blocks.append(f"{wrapper.signature};\n    // {'; '.join(notes)}\n")
        return "\n".join(blocks)


def parse_header(text: str, where: str) -> Header:
    """Parse a header. Raises ``PackError``, naming file and line, for an annotation that cannot be read or annotates nothing."""
    wrappers = []
    hidden: int | None = None
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        start += len(line) + 1
        word = line.strip().split(" ", 1)[0]
        if word in (HIDE, SHOW):
            if (word == HIDE) != (hidden is None):
                raise PackError(f"{where}:{number}: {word} out of turn", next_step=f"write {HIDE} and {SHOW} in pairs")
            hidden = number if word == HIDE else None
        elif word == ANNOTATION:
            wrappers.append(_wrapper(line.strip()[len(ANNOTATION) :], text[start:], f"{where}:{number}", number))
        elif word.startswith(ANNOTATION):
            raise PackError(f"{where}:{number}: {word} means nothing", next_step=f"write {ANNOTATION}, {HIDE} or {SHOW}")
    if hidden is not None:
        raise PackError(f"{where}:{hidden}: {HIDE} without {SHOW}", next_step="end the hidden part")
    includes = list(_INCLUDE.finditer(text))
    own = tuple(match["own"] for match in includes if match["own"])
    return Header(text, tuple(wrappers), own, tuple(match["system"] for match in includes if match["system"]))


def without_comments(text: str) -> str:
    """Return C++ text without comments; what looks like one inside a string stays."""
    return _TOKEN.sub(lambda match: " " if match["comment"] else match[0], text)


def words_of(code: str) -> frozenset[str]:
    """Return every word of C++ text outside comments."""
    return frozenset(_WORD.findall(without_comments(code)))


def end_of_declaration(text: str, start: int) -> int:
    """Return where the declaration that begins at ``start`` ends: after its body, or its semicolon."""
    depth = 0
    masked = _TOKEN.sub(lambda match: " " * len(match[0]), text)
    for position in range(start, len(masked)):
        character = masked[position]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if depth == 0 and character in "};":
            after = re.compile(r"\s*;").match(masked, position + 1) if character == "}" else None
            return after.end() if after else position + 1
    return len(text)


def comment_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each comment and raw string, in which no line is a directive."""
    return [match.span() for match in _TOKEN.finditer(text) if match["comment"] or match["raw"]]


def _visible_lines(text: str) -> Iterator[str]:
    hidden = False
    for line in text.splitlines():
        word = line.strip().split(" ", 1)[0]
        if word in (HIDE, SHOW):
            hidden = word == HIDE
        elif not hidden and word != ANNOTATION:
            yield line


def _wrapper(annotation: str, after: str, where: str, line: int) -> Wrapper:
    values = _pairs(annotation, where)
    if "ptx" not in values:
        raise PackError(f"{where}: the annotation has no ptx", next_step='write ptx="…": the instruction, or "none" for host code')
    signature = _signature(after)
    name = None if signature is None else _name(signature)
    if signature is None or name is None:
        raise PackError(f"{where}: no declaration follows the annotation", next_step="put it right before the function or struct")
    if values.get("name", name) != name:
        raise PackError(f"{where}: annotates {values['name']!r}, and {name!r} follows", next_step="correct the name")
    contracts = tuple(part for part in values.get("contracts", "").split(",") if part)
    return Wrapper(name, signature, values["ptx"], values.get("sass") or None, contracts, values.get("variants"), line)


def _pairs(annotation: str, where: str) -> dict[str, str]:
    values: dict[str, str] = {}
    end = 0
    while annotation[end:].strip():
        match = _PAIR.match(annotation, end)
        if match is None:
            raise PackError(
                f"{where}: cannot read {annotation[end:].strip()!r}", next_step='write key=word or key="…", all on one line'
            )
        key = match["key"]
        if key not in KEYS or key in values:
            fault = "given twice" if key in values else "unknown"
            raise PackError(f"{where}: the key {key!r} is {fault}", next_step=f"known: {', '.join(sorted(KEYS))}")
        values[key] = match["bare"] if match["quoted"] is None else match["quoted"].strip()
        end = match.end()
    return values


def _signature(after: str) -> str | None:
    """Return the declaration that begins the text, in one line, up to its body or semicolon."""
    code = without_comments(after).lstrip()
    depth = 0
    for position, character in enumerate(code):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character in "{;" and depth == 0:
            return " ".join(code[:position].split()) or None
    return None


def _name(signature: str) -> str | None:
    """Return the declared name: of a struct, or the word before the parameters."""
    bare = _without_template(signature)
    kept = re.match(r"(?:struct|class|enum(?: class)?|union)\s+(?:(?:alignas|__align__)\s*\([^)]*\)\s*)?([A-Za-z_]\w*)", bare)
    if kept:
        return kept[1]
    constant = re.match(r"[^(=]*?([A-Za-z_]\w*)\s*=", bare)
    if constant:
        return constant[1]
    for match in re.finditer(r"([A-Za-z_]\w*)\s*(?:<[^()]*>)?\s*\(", bare):
        if match[1] not in _NOT_A_NAME:
            return match[1]
    return None


def _without_template(signature: str) -> str:
    text = signature
    while text.startswith("template"):
        depth = 0
        for position, character in enumerate(text):
            depth += {"<": 1, ">": -1}.get(character, 0)
            if character == ">" and depth == 0:
                text = text[position + 1 :].lstrip()
                break
        else:
            return signature
    return text
