"""Words of system headers that become assembly or the name of an included file when they are macros.

``__asm__ __volatile__ ("cpuid" …)`` in a header is innocent until a candidate makes ``__volatile__`` a macro that holds other
instructions and swallows the rest; ``#include __THRUST_…_HEADER`` opens whatever a candidate has put into that macro.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_QUOTED_OR_COMMENT = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_DEFINITION = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([^)]*)\))?(.*)$", re.MULTILINE)
_COMPUTED_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include(?:_next)?[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_ASSEMBLY = re.compile(r"(?<!\w)(?:asm|__asm|__asm__)(?!\w)([\w\s]*)")
_WORD = re.compile(r"(?<!\w)[A-Za-z_]\w*")


class HeaderWords(NamedTuple):
    """Words that decide what assembly there is, and words that decide which files are included."""

    assembly: frozenset[str]
    includes: frozenset[str]


def header_words(texts: Iterable[str]) -> HeaderWords:
    """Return the words of these headers' texts, also those that they reach through the headers' own macros."""
    bodies: dict[str, set[str]] = {}
    assembly: set[str] = set()
    includes: set[str] = set()
    for text in texts:
        bare = _QUOTED_OR_COMMENT.sub(lambda match: " " if match[0][0] == "/" else '""', text.replace("\\\n", " "))
        for name, parameters, body in _DEFINITION.findall(bare):
            own = set(_WORD.findall(parameters))
            bodies.setdefault(name, set()).update(set(_WORD.findall(body)) - own)
            assembly.update(set(_template_words(body)) - own)
        assembly.update(_template_words(_DEFINITION.sub("", bare)))
        includes.update(_COMPUTED_INCLUDE.findall(bare))
    return HeaderWords(_reached(assembly, bodies), _reached(includes, bodies))


def _template_words(text: str) -> Iterator[str]:
    """Yield the words between each ``asm`` and its first operand: qualifiers, and macros that make its template."""
    for match in _ASSEMBLY.finditer(text):
        yield from match[1].split()
        depth, end = 0, match.end()
        while end < len(text) and (character := text[end]) not in ":;":
            depth += (character == "(") - (character == ")")
            if depth <= 0:
                break
            end += 1
        yield from _WORD.findall(text, match.end(), end)


def _reached(words: set[str], bodies: dict[str, set[str]]) -> frozenset[str]:
    pending = list(words)
    while pending:
        for word in bodies.get(pending.pop(), set()) - words:
            words.add(word)
            pending.append(word)
    return frozenset(words)
