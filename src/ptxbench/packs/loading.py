"""Read the folder of pack data: the manifest, and each fragment that it names, strictly."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from ptxbench.core.errors import PackError, nearest
from ptxbench.packs.keys import first_fault
from ptxbench.packs.manifest import KIND_OF_FOLDER, Kind, Manifest, Pack, kind_of
from ptxbench.packs.page import Page, parse_page
from ptxbench.packs.parsing import Header, parse_header

DATA = Path(__file__).parent / "data"
PAGES, HEADERS = (".md",), (".cuh", ".hpp")
MOST_BYTES = 512 << 10
"""A fragment is a page or a header; anything larger is a mistake."""


@dataclass(frozen=True)
class Fragment:
    """One file that a prompt shows: a header or a page."""

    id: str
    kind: Kind
    path: Path
    content: Header | Page

    @property
    def text(self) -> str:
        """The file's text, its lines ended by one newline each."""
        return self.content.text


@dataclass(frozen=True)
class Library:
    """A folder of pack data and its manifest. Fragments are read when they are asked for, each once."""

    root: Path
    manifest: Manifest

    @cached_property
    def _read(self) -> dict[str, Fragment]:
        return {}

    def fragment(self, name: str) -> Fragment:
        """Return one fragment. Raises ``PackError`` for one that does not exist or cannot be parsed."""
        if name not in self._read:
            self._read[name] = self._load(name)
        return self._read[name]

    def fragments(self, pack: Pack, family: str | None = None, variant: str = "base") -> list[Fragment]:
        """Return a pack's fragments and those of a variant, each once, in the order of the manifest."""
        names = [*self.resolve(pack.fragments), *self.resolve(pack.variant(family, variant))]
        return [self.fragment(name) for name in dict.fromkeys(names)]

    def everything(self, pack: Pack) -> list[Fragment]:
        """Return what a pack's texts can show: its own fragments, then what variants add, each once, in the manifest's order."""
        added = (entry for variants in pack.variants.values() for entries in variants.values() for entry in entries)
        return [self.fragment(name) for name in dict.fromkeys(self.resolve((*pack.fragments, *added)))]

    def resolve(self, entries: Iterable[str]) -> Iterator[str]:
        """Yield the fragment ids that manifest entries stand for: groups opened, folders listed by name.

        Raises ``PackError`` for an unknown fragment or group, and for groups that contain each other.
        """
        for entry in entries:
            yield from self._open(entry, ())

    def _open(self, entry: str, inside: tuple[str, ...]) -> Iterator[str]:
        if entry in inside:
            ring = " -> ".join([*inside[inside.index(entry) :], entry])
            raise PackError(f"groups of the manifest contain each other: {ring}", next_step="take one of them out")
        if entry.startswith("@"):
            group = self.manifest.groups.get(entry[1:])
            if group is None:
                raise _unknown("group", entry, [f"@{name}" for name in self.manifest.groups])
            for inner in group:
                yield from self._open(inner, (*inside, entry))
        elif entry.endswith("/"):
            yield from self.below(entry)
        elif entry in self.present:
            yield entry
        else:
            raise self._no_fragment(entry)

    def below(self, folder: str) -> list[str]:
        """Return the fragments below a folder (``contracts/``) by name; none where nobody has written one, as the check says."""
        return sorted(name for name in self.present if name.startswith(folder))

    @cached_property
    def present(self) -> dict[str, Path]:
        """Every file below the root that could be a fragment, by its id. Snippets and host models are none of their own."""
        found: dict[str, Path] = {}
        for folder in KIND_OF_FOLDER:
            for path in sorted((self.root / folder).rglob("*")):
                if path.suffix in (HEADERS if folder == "include" else PAGES) and path.is_file():
                    name = path.relative_to(self.root).with_suffix("").as_posix()
                    if name in found:
                        raise PackError(f"{found[name].name} and {path.name} share the fragment id {name}", next_step="rename one")
                    found[name] = path
        return found

    @cached_property
    def unread(self) -> dict[str, Path]:
        """Files that lie where fragments do and have a suffix that none has, by the id that they would have.

        Snippets are files of other pages, a script in ``include`` writes headers, and a hidden file is an editor's.
        """
        found: dict[str, Path] = {}
        for folder in KIND_OF_FOLDER:
            known = (*HEADERS, ".py", ".pyc") if folder == "include" else PAGES
            for path in sorted((self.root / folder).rglob("*")):
                name = path.relative_to(self.root).with_suffix("").as_posix()
                other = path.suffix in known or path.name.startswith(".") or name.startswith("schedules/snippets/")
                if not other and name not in self.present and path.is_file():
                    found[name] = path
        return found

    def suffix_fault(self, name: str) -> PackError:
        """Return the error for a file of ``unread``: which suffix is read where it lies."""
        where = self.unread[name].relative_to(self.root).as_posix()
        step = "a header's name ends in .cuh" if name.startswith("include/") else "a page's name ends in .md"
        return PackError(f"{where} is not read, for its suffix", next_step=step)

    def included(self, header: str, include: str) -> str | None:
        """Return the fragment id of what a header includes in quotes, None for what is no file of the data."""
        beside: list[str] = []
        for part in (*PurePosixPath(header).parent.parts, *PurePosixPath(include).with_suffix("").parts):
            if part == "..":
                beside = beside[:-1]
            elif part != ".":
                beside.append(part)
        for candidate in ("/".join(beside), f"include/{PurePosixPath(include).with_suffix('')}"):
            if candidate in self.present:
                return candidate
        return None

    def _load(self, name: str) -> Fragment:
        path = self.present.get(name)
        if path is None:
            raise self._no_fragment(name)
        where = path.relative_to(self.root).as_posix()
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise PackError(f"{where} is a link out of the data", next_step="put the file itself there")
        text = read_text(path)
        content = parse_page(text, where) if path.suffix == ".md" else parse_header(text, where)
        if isinstance(content, Page) and content.front.id != path.stem:
            raise PackError(f"{where}: its id is {content.front.id!r}", next_step=f"an id is the file's name: {path.stem!r}")
        return Fragment(name, kind_of(name), path, content)

    def _no_fragment(self, name: str) -> PackError:
        return self.suffix_fault(name) if name in self.unread else _unknown("fragment", name, list(self.present))


def load(root: Path = DATA) -> Library:
    """Read the manifest of a folder of pack data. Raises ``PackError``, naming the key, when it is not a manifest."""
    path = root / "manifest.toml"
    try:
        manifest = Manifest.model_validate(tomllib.loads(read_text(path)))
    except ValidationError as error:
        raise PackError(f"{path.name}: {first_fault(error, Manifest)}", next_step="correct the key") from error
    except (ValueError, RecursionError) as error:
        raise PackError(f"{path.name}: {error}", next_step="correct the TOML") from error
    return Library(root, manifest)


def read_text(path: Path) -> str:
    """Return a file's text with Unix line ends and one at its end. Raises ``PackError`` when it cannot be read so."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise PackError(f"{path.name} is no ordinary file", next_step="name a file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise PackError(f"{path.name} is larger than {MOST_BYTES >> 10} KiB", next_step="name a page, a header or a kernel")
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PackError(f"{path.name} cannot be read: {error}", next_step="check the file") from error
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip("\n") + "\n"


def _unknown(what: str, name: str, known: list[str]) -> PackError:
    close = nearest(name, known)
    step = f"did you mean {', '.join(close)}?" if close else f"there are {len(known)} {what}s, none like it"
    return PackError(f"unknown {what} {name!r}", next_step=step, nearest=close)
