"""Macros of a candidate that carry assembly or section attributes into the text of system headers.

A macro that is defined before an include is expanded inside the header, and a header's text is not judged as the candidate's. So a
macro whose body holds such words, or builds them by pasting, may not bear a name that a header included after it uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ptxbench.toolchain.policy.directives import INCLUDES, Directive, RawFile

_WORDS = {
    "asm": "host_asm", "__asm": "host_asm", "__asm__": "host_asm", "##": "host_asm",
    "section": "section_attribute", "__section__": "section_attribute",
}  # fmt: skip


def injected(files: Mapping[str, RawFile], entry: str, headers: Iterable[Path]) -> Iterator[tuple[str, str, Directive, str]]:
    """Yield ``(rule, file, definition, header's name)`` for every such macro. ``headers`` are the system headers that were read."""
    early = {name: where for name, where in _carriers(files).items() if _before_an_include(files, entry, *where[1:])}
    if not early:
        return
    names = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, early)) + r")(?!\w)")
    found: set[str] = set()
    for header in headers:
        if header.is_file():
            for name in set(names.findall(header.read_text(encoding="utf-8", errors="replace"))) - found:
                found.add(name)
                yield (*early[name], header.name)


def _carriers(files: Mapping[str, RawFile]) -> dict[str, tuple[str, str, Directive]]:
    """Return the macros whose expansion may hold a suspect word, also through other macros."""
    definitions = [(path, one) for path, file in files.items() for one in file.directives if one.name == "define" and one.operands]
    carriers: dict[str, tuple[str, str, Directive]] = {}
    words = dict(_WORDS)
    grown = True
    while grown:
        grown = False
        for path, definition in definitions:
            name = definition.operands[0].text
            rule = next((words[token.text] for token in definition.operands[1:] if token.text in words), None)
            if rule is not None and name not in carriers:
                carriers[name] = (rule, path, definition)
                words[name] = rule
                grown = True
    return carriers


def _before_an_include(files: Mapping[str, RawFile], entry: str, path: str, definition: Directive) -> bool:
    return path != entry or any(one.name in INCLUDES and one.line > definition.line for one in files[path].directives)
