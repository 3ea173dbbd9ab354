"""Read a candidate from disk: its entry file and the files beside it that it includes."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from ptxbench.core.errors import SourceError
from ptxbench.schema import Candidate, Language, Source

MAX_BYTES = 2 << 20
"""Largest size of one source, and of all sources of a candidate together."""
MAX_FILES = 256
"""More files than this are not a kernel's."""
MAX_PATH = 200
"""Longest path of a source, in characters."""
PATH_RULE = f"may hold letters, digits and _ . + = - only, {MAX_PATH} of them at most"

LANGUAGES = {".cu": Language.CUDA, ".cpp": Language.CPP, ".cc": Language.CPP, ".py": Language.PYTHON}
"""Language of a source by its suffix."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+=-]*)*")


def plain_path(path: str) -> bool:
    """Return whether every tool of a build, down to its shells, takes a source's path as it is."""
    return len(path) <= MAX_PATH and _PLAIN_PATH.fullmatch(path) is not None


def read_candidate(path: Path, *, arch: str, language: Language | None = None, symbol: str = "run") -> Candidate:
    """Return the candidate whose entry file is ``path``.

    Files that it includes by ``#include "…"``, relative to the including file and inside the entry file's folder, become sources
    of the candidate, and so on from them. What lies outside the folder is never read: the policy judges the line that asks for
    it. ``language`` follows from the suffix unless given. Raises ``SourceError`` for a missing, empty, too large or non-UTF-8 file,
    and for one whose name no build takes: that is not the kernel's fault.
    """
    if language is None:
        language = LANGUAGES.get(path.suffix.lower())
        if language is None:
            known = ", ".join(LANGUAGES)
            raise SourceError(
                f"cannot tell the language of {path.name!r}", next_step=f"use one of the suffixes {known}", path=str(path)
            )
    folder = path.absolute().parent
    texts = {path.name: _read(path, MAX_BYTES)}
    if not texts[path.name].strip():
        raise SourceError(f"{path}: is empty", next_step="write a kernel into it", path=str(path))
    if not plain_path(path.name):
        step = f"rename it, such as kernel{path.suffix if plain_path(f'k{path.suffix}') else ''}"
        raise SourceError(f"the file name {path.name!r} cannot be built: it {PATH_RULE}", next_step=step, path=str(path))
    if language in (Language.CUDA, Language.CPP):
        _collect_includes(folder, texts)
    sources = tuple(Source(path=name, content=text) for name, text in texts.items())
    return Candidate(sources=sources, entry_point=f"{path.name}::{symbol}", language=language, arch=arch)


def local_includes(name: str, text: str) -> list[str]:
    """Return the paths, relative to the candidate's folder, that a source includes by quotes and that stay inside the folder."""
    found = []
    for match in _INCLUDE.finditer(text):
        target = resolve_include(PurePosixPath(name).parent, match[1])
        if target is not None:
            found.append(target)
    return found


def _collect_includes(folder: Path, texts: dict[str, str]) -> None:
    left = MAX_BYTES - sum(len(text.encode()) for text in texts.values())
    pending = list(texts)
    real_folder = folder.resolve()
    while pending:
        name = pending.pop()
        for target in local_includes(name, texts[name]):
            file = folder / target
            # A link that leads out of the folder is outside of it, whatever its name says.
            if target in texts or not file.is_file() or not file.resolve().is_relative_to(real_folder):
                continue
            if len(texts) >= MAX_FILES:
                raise SourceError(
                    f"{name} and what it includes are more than {MAX_FILES} files", next_step="put the kernel into fewer files"
                )
            texts[target] = _read(file, left)
            left -= len(texts[target].encode())
            pending.append(target)


def resolve_include(base: PurePosixPath, target: str) -> str | None:
    """Return ``base/target`` without dots, None when it is absolute or leads out of the candidate's folder."""
    if target.startswith("/") or "\\" in target or "\0" in target:
        return None
    parts: list[str] = list(base.parts)
    for part in PurePosixPath(target).parts:
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            return None
    return "/".join(parts) or None


def _read(path: Path, limit: int) -> str:
    def refuse(what: str, step: str) -> SourceError:
        return SourceError(f"{path}: {what}", next_step=step, path=str(path))

    if path.is_dir():
        raise refuse("is a folder", "name the kernel's source file")
    if path.exists() and not path.is_file():
        raise refuse("is not a regular file", "save the source into a file")
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError:
        raise refuse("no such file", "check the path") from None
    except OSError as error:
        raise refuse(f"cannot be read: {error.strerror}", "check the path and its permissions") from error
    if len(data) > limit:
        raise refuse(f"too large: the sources of a kernel may have {MAX_BYTES >> 20} MiB in all", "is this a source file?")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse(f"is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}", "save it as UTF-8") from None
    if "\0" in text:
        raise refuse(f"holds a NUL byte at offset {data.index(0)}", "is this a source file?")
    return text
