"""One instance of each wrapper: what the packs of the paper show, with the other instances named in comments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ptxbench.packs.parsing import ANNOTATION, Header, Wrapper, end_of_declaration, words_of


def representatives(headers: Iterable[Header]) -> frozenset[str]:
    """Return, of the wrappers that prompts show, the first of each kind: those alike but for numbers are instances of one."""
    first: dict[tuple[str, str], str] = {}
    for header in headers:
        shown = words_of(header.shown(comments=False))
        for wrapper in header.wrappers:
            if wrapper.name in shown:
                first.setdefault(_kind(wrapper), wrapper.name)
    return frozenset(first.values())


def representative(header: Header, kept: frozenset[str]) -> Header:
    """Return a header in which each wrapper that is not among ``kept`` is a comment, and each that is says its other instances."""
    lines = header.text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    pieces, end = [], 0
    for wrapper in header.wrappers:
        first = at = wrapper.line - 1
        if wrapper.name in kept:
            if wrapper.variants is not None:
                pieces += [header.text[end : starts[at]], f"// Instances: {wrapper.variants}.\n"]
                end = starts[at]
            continue
        # The comment above speaks of the function that goes.
        while first > 0 and lines[first - 1].lstrip().startswith("//") and not lines[first - 1].lstrip().startswith(ANNOTATION):
            first -= 1
        pieces += [header.text[end : starts[first]], f"// Likewise {wrapper.name}: {wrapper.ptx}.\n"]
        end = min(end_of_declaration(header.text, starts[at + 1]) + 1, len(header.text))
    return replace(header, text="".join([*pieces, header.text[end:]]))


def _kind(wrapper: Wrapper) -> tuple[str, str]:
    """Return name and PTX with every number the same: shapes, ranks and counts of one instruction."""
    return re.sub(r"\d+", "#", wrapper.name), re.sub(r"\d+", "#", wrapper.ptx)
