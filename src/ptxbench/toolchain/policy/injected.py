"""Macros of a candidate that reach into the text of system headers.

A macro that is defined before an include is expanded inside the header, and a header's text is not judged as the candidate's. So a
macro whose body holds assembly or a section attribute, or builds such words by pasting, may not bear a name that a header included
after it uses; and no macro may bear a name that decides what assembly a header holds or which file it includes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ptxbench.toolchain.policy.directives import INCLUDES, Directive, RawFile
from ptxbench.toolchain.policy.header_words import header_words

_WORDS = {
    "asm": "host_asm", "__asm": "host_asm", "__asm__": "host_asm", "##": "host_asm",
    "section": "section_attribute", "__section__": "section_attribute",
}  # fmt: skip

_WORD = re.compile(r"[^\W\d]\w*")

Definitions = list[tuple[str, Directive]]
"""Definitions of macros, each with its file."""


def injected(files: Mapping[str, RawFile], entry: str, headers: Iterable[Path]) -> Iterator[tuple[str, str, Directive, str]]:
    """Yield ``(rule, file, definition, header's name)`` for every such macro. ``headers`` are the system headers that were read."""
    definitions = [(path, one) for path, file in files.items() for one in file.directives if one.name == "define" and one.operands]
    last_include = max((one.line for one in files[entry].directives if one.name in INCLUDES), default=0) if entry in files else 0
    early = [(path, one) for path, one in definitions if path != entry or one.line < last_include]
    used = _used(early, headers)
    if not used:
        return
    carriers = _carriers(definitions)
    words = header_words(text for _, text in used.values())
    reported: set[str] = set()
    for path, definition in early:
        name = definition.operands[0].text
        where = next((header for header, (names, _) in used.items() if name in names), None)
        if where is None or name in reported:
            continue
        rule = carriers.get(name)
        if rule is None and any(token.kind != "number" for token in definition.operands[1:]):
            rule = "host_asm" if name in words.assembly else "include_path" if name in words.includes else None
        if rule is not None:
            reported.add(name)
            yield rule, path, definition, Path(where).name


def _used(early: Definitions, headers: Iterable[Path]) -> dict[str, tuple[set[str], str]]:
    """Return, by header, the names of early macros in its text, and the text; empty when no header holds any."""
    if not early:
        return {}
    names = {one.operands[0].text for _, one in early}
    texts = {str(header): header.read_text(encoding="utf-8", errors="replace") for header in headers if header.is_file()}
    found = {name: (names.intersection(_WORD.findall(text)), text) for name, text in texts.items()}
    return found if any(here for here, _ in found.values()) else {}


def _carriers(definitions: Definitions) -> dict[str, str]:
    """Return the rules of macros whose expansion may hold a suspect word, also through other macros."""
    users: dict[str, set[str]] = {}
    for _, definition in definitions:
        for token in definition.operands[1:]:
            users.setdefault(token.text, set()).add(definition.operands[0].text)
    carriers: dict[str, str] = {}
    pending = list(_WORDS.items())
    while pending:
        word, rule = pending.pop()
        for name in users.get(word, set()) - carriers.keys():
            carriers[name] = rule
            pending.append((name, rule))
    return carriers
