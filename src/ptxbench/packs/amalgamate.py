"""One self-contained source from a kernel and the headers that it includes: each header once, where it is first needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ptxbench.core.errors import PackError
from ptxbench.packs.loading import DATA, read_text
from ptxbench.packs.parsing import ANNOTATION, comment_spans

INCLUDE = DATA / "include"
"""Where ``#include "ptxk/…"`` is found."""
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<word>include|ifdef|ifndef|if|endif|pragma)\b(?P<rest>[^\n]*)$")
_ANY_INCLUDE = re.compile(r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:include|include_next|import)\b[^\n]*", re.M)
"""What the preprocessor takes for an inclusion, once comments are gone and lines are joined."""
_DEEPEST = 64
"""Headers inside headers."""
_TARGET = re.compile(r'[ \t]*(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)')


@dataclass(frozen=True)
class Amalgam:
    """The one source, and the headers that went into it in the order of their text, as paths below the root that has them."""

    text: str
    headers: tuple[str, ...]


@dataclass
class _Walk:
    roots: Sequence[Path]
    home: Path
    """The kernel's folder."""
    once: dict[Path, bool] = field(default_factory=dict)
    """Headers that stand in the text, and whether they may be included again without effect."""
    open: list[Path] = field(default_factory=list)
    system: set[str] = field(default_factory=set)
    names: list[str] = field(default_factory=list)


def amalgamate(kernel: Path, roots: Sequence[Path] = (INCLUDE,)) -> Amalgam:
    """Return a kernel with the text of every header that it includes in place of the ``#include`` line.

    Looked for are ``#include "…"`` beside the including file and below ``roots``, and ``#include <…>`` below ``roots`` only; other
    ``<…>`` are the compiler's and stay, each once. Annotations of pack headers are left out.

    Raises:
        PackError: a quoted header is not found; headers include each other; a header without ``#pragma once`` is included twice;
            a header is included under ``#if``, where "once" cannot be decided without a preprocessor; a header lies neither below
            the kernel's folder nor below a root; an inclusion is spelled otherwise than ``#include`` in a line of its own.

    """
    source = read_text(kernel)
    kernel = kernel.resolve()
    walk = _Walk(roots, kernel.parent)
    walk.open.append(kernel)
    text = "\n".join(_expanded(kernel, source, walk))
    _nothing_left(text, walk)
    return Amalgam(re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n", tuple(walk.names))


def _nothing_left(text: str, walk: _Walk) -> None:
    """Raise ``PackError`` when a compiler would still include one of our headers, by a spelling that was not read."""
    for begin, end in reversed(comment_spans(text)):
        text = text[:begin] + " " + text[end:]
    for match in _ANY_INCLUDE.finditer(text.replace("\\\n", "")):
        plain = _DIRECTIVE.match(match[0])
        target = _TARGET.match(plain["rest"]) if plain else None
        if target is None or target["angled"] is None or _find(walk.home, target["angled"], walk, beside=False) is not None:
            raise PackError(f"cannot follow {match[0].strip()!r}", next_step='write #include "header" in a line of its own')


def _expanded(path: Path, text: str, walk: _Walk) -> Iterator[str]:
    hidden = comment_spans(text)
    depth = start = 0
    for number, line in enumerate(text.split("\n"), 1):
        match = _DIRECTIVE.match(line)
        if any(begin <= start < end for begin, end in hidden):
            match = None
        start += len(line) + 1
        word = match["word"] if match else None
        depth += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(word or "", 0)
        if match is not None and word == "include":
            yield from _included(path, match["rest"], line, depth, number, walk)
        elif match is not None and word == "pragma" and match["rest"].split()[:1] == ["once"]:
            continue
        elif not line.lstrip().startswith(ANNOTATION):
            yield line


def _included(path: Path, rest: str, line: str, depth: int, number: int, walk: _Walk) -> Iterator[str]:
    where = f"{path.name}:{number}"
    target = _TARGET.match(rest)
    if target is None:
        raise PackError(f"{where}: cannot read {line.strip()!r}", next_step="name the header itself, not a macro")
    name = target["quoted"] or target["angled"]
    found = _find(path.parent, name, walk, beside=target["quoted"] is not None)
    if found is None:
        if target["quoted"]:
            raise PackError(f"{where}: no header {name!r} here", next_step=f"write <{name}> if it is one of the compiler's")
        if name not in walk.system or depth:
            yield line
        # Under #if it may be compiled away: it cannot stand for the ones to come.
        walk.system |= set() if depth else {name}
        return
    header, shown = found
    if not any(header.is_relative_to(folder.resolve()) for folder in (walk.home, *walk.roots)):
        raise PackError(f"{where}: {name} lies outside the kernel's folder", next_step="name its folder with --include")
    if len(walk.open) > _DEEPEST:
        raise PackError(f"{where}: more than {_DEEPEST} headers inside each other", next_step="include them beside each other")
    if header in walk.open:
        ring = " -> ".join(one.name for one in [*walk.open[walk.open.index(header) :], header])
        raise PackError(f"{where}: headers include each other: {ring}", next_step="move what both need into a third")
    if depth:
        raise PackError(f"{where}: {name} is included under #if", next_step="include it unconditionally")
    if header in walk.once:
        if not walk.once[header]:
            raise PackError(f"{where}: {name} has no #pragma once and is included twice", next_step="add #pragma once to it")
        return
    text = read_text(header)
    walk.once[header] = re.search(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", text, re.M) is not None
    walk.open.append(header)
    inner = list(_expanded(header, text, walk))
    walk.open.pop()
    walk.names.append(shown)
    yield f"// ---- {shown}"
    yield from inner
    yield f"// ---- end of {shown}"


def _find(folder: Path, name: str, walk: _Walk, *, beside: bool) -> tuple[Path, str] | None:
    """Return a header's real path and the name to show for it."""
    for place in [*([folder] if beside else []), *walk.roots]:
        try:
            file = (place / name).resolve()
        except (OSError, RuntimeError, ValueError):  # links in a ring, a name with a NUL
            continue
        if file.is_file():
            for root in walk.roots:
                if file.is_relative_to(root.resolve()):
                    return file, file.relative_to(root.resolve()).as_posix()
            return file, name
    return None
