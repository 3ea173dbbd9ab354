"""Includes that never end, found before a compiler unrolls them two hundred deep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from ptxbench.schema import Candidate
from ptxbench.toolchain.sources import resolve_include

MAX_DEPTH = 200
"""How deep compilers let includes nest; beyond it they report the error themselves."""

_COMMENT_OR_LITERAL = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_DIRECTIVE = re.compile(r'[ \t]*#[ \t]*(include|if|ifdef|ifndef|endif|pragma)\b[ \t]*(?:"([^"\n]+)"|(once)\b)?')


@dataclass(frozen=True)
class EndlessInclude:
    """A file that includes itself, perhaps through others, with nothing that could stop it."""

    file: str
    line: int
    cycle: tuple[str, ...]


def endless_include(candidate: Candidate) -> EndlessInclude | None:
    """Return an include that can never end, None when there is none.

    Only certain cases count: every include of the cycle stands outside any ``#if`` and no file of it says ``#pragma once``. All
    others are for the compiler to judge.
    """
    texts = {source.path: source.content for source in candidate.sources}
    edges = {path: list(_unconditional(path, text, texts)) for path, text in texts.items()}
    return _search(candidate.entry_file, edges, [], set())


def _search(path: str, edges: dict[str, list[tuple[str, int]]], trail: list[str], done: set[str]) -> EndlessInclude | None:
    if len(trail) > MAX_DEPTH:
        return None
    trail.append(path)
    for target, line in edges[path]:
        if target in trail:
            return EndlessInclude(path, line, (*trail[trail.index(target) :], target))
        if target not in done:
            found = _search(target, edges, trail, done)
            if found is not None:
                return found
    trail.pop()
    done.add(path)
    return None


def _unconditional(path: str, text: str, texts: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Yield (target, line) of each include that stands outside any condition; nothing when the file says ``#pragma once``."""
    found = []
    depth = 0
    for number, line in enumerate(_bare(text).split("\n"), 1):
        match = _DIRECTIVE.match(line)
        if match is None:
            continue
        word = match[1]
        if word in ("if", "ifdef", "ifndef"):
            depth += 1
        elif word == "endif":
            depth -= 1
        elif word == "pragma" and match[3]:
            return
        elif word == "include" and match[2] and depth == 0:
            target = resolve_include(PurePosixPath(path).parent, match[2])
            if target in texts:
                found.append((str(target), number))
    yield from found


def _bare(text: str) -> str:
    """Return the text with comments blanked, its lines where they were."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0][0] in "\"'" else " " + "\n" * match[0].count("\n")

    return _COMMENT_OR_LITERAL.sub(blank, text)
