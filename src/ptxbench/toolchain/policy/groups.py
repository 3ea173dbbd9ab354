"""Bracketed groups of tokens that rules look into: assembly and attributes.

Each is found in one pass: a group inside another of its kind is part of that one, so hostile nesting costs no more than its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxbench.toolchain.policy.passes import Placed
from ptxbench.toolchain.policy.tokens import string_value

ASM = frozenset({"asm", "__asm__", "__asm"})
_ATTRIBUTE = frozenset({"__attribute__", "__attribute", "__declspec"})
_SECTION = frozenset({"section", "__section__"})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def assemblies(tokens: Sequence[Placed]) -> Iterator[tuple[Placed, str]]:
    """Yield each asm keyword with the joined string literals of the parentheses that follow it."""
    index = 0
    while index < len(tokens):
        keyword = tokens[index]
        index += 1
        if keyword.token.kind == "identifier" and keyword.token.text in ASM:
            while index < len(tokens) and tokens[index].token.kind == "identifier":
                index += 1
            end = _group_end(tokens, index) if _is(tokens, index, "(") else index
            yield keyword, "".join(string_value(one.token) for one in tokens[index:end] if one.token.kind == "string")
            index = end


def section_attributes(tokens: Sequence[Placed]) -> Iterator[Placed]:
    """Yield the first token of each attribute that names a section."""
    index = 0
    while index < len(tokens):
        first = tokens[index]
        if first.token.kind == "identifier" and first.token.text in _ATTRIBUTE:
            index += 1
            start = index
        elif _is(tokens, index, "[") and _is(tokens, index + 1, "["):
            start = index
        else:
            index += 1
            continue
        end = _group_end(tokens, start)
        if any(tokens[at].token.text in _SECTION and _is(tokens, at + 1, "(") for at in range(start, end)):
            yield first
        index = max(end, index)


def _group_end(tokens: Sequence[Placed], start: int) -> int:
    """Return the index behind the bracketed group that opens at ``start``; ``start`` itself when none does."""
    depth = 0
    for index in range(start, len(tokens)):
        token = tokens[index].token
        if token.kind == "punctuator" and token.text in _OPENING:
            depth += 1
        elif token.kind == "punctuator" and token.text in _CLOSING:
            depth -= 1
            if depth <= 0:
                return index + 1
        elif depth == 0:
            return start
    return len(tokens)


def _is(tokens: Sequence[Placed], index: int, text: str) -> bool:
    return index < len(tokens) and tokens[index].token.text == text
