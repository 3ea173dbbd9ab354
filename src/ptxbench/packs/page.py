"""A page of prose: front matter in TOML between two ``+++`` lines, and a body in Markdown."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field, ValidationError

from ptxbench.core.errors import PackError
from ptxbench.packs.keys import first_fault
from ptxbench.packs.manifest import Id
from ptxbench.schema import Record

FENCE = re.compile(r"^(?P<mark>```+|~~~+)(?P<label>[^\n`]*)\n(?P<code>.*?)^(?P=mark)[ \t]*$", re.M | re.S)
"""A fenced block of code."""
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
"""A span of code in a line."""
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]*)\]\((?P<target>[^)\s]*)\)")
"""A Markdown link."""
REFERENCE = re.compile(r"\[\[(?P<id>[A-Za-z0-9_./-]+)\]\]")
"""A reference to another page by its id."""
SNIPPET = re.compile(r"^[ \t]*<!--[ \t]*snippet:[ \t]*(?P<file>[^\s#]+)(?:#(?P<anchor>[\w-]+))?[ \t]*-->[ \t]*$", re.M)
"""A line that stands for a compiled file below ``schedules/snippets/``, or for an anchored part of one."""


class Level(StrEnum):
    """What breaking a contract costs."""

    MUST = "must"
    """A hang, a fault or a wrong result."""
    SHOULD = "should"
    """Code that works by luck."""
    PERF = "perf"
    """Time."""


class Status(StrEnum):
    """How a fact is known, the strongest first."""

    EXECUTED = "executed"
    """A test ran it on the hardware, and the evidence says so."""
    COMPILED = "compiled"
    """The assembler accepts the form and emits the expected instruction."""
    MODELLED = "modelled"
    """A CPU model and its test agree with the documentation."""
    DOCUMENTED = "documented"
    """The vendor's documentation says so; nothing here has tried it."""
    INFERRED = "inferred"
    """Reasoning from the documentation."""


class Citation(Record):
    """Where a statement can be read."""

    doc: str
    version: str | None = None
    section: str


class FrontMatter(Record):
    """What a page says about itself. A contract has a level; other pages have none."""

    id: Id
    title: str
    arch: tuple[str, ...] = ()
    """Architectures for which it holds; empty for all."""
    instructions: tuple[str, ...] = ()
    """PTX instructions that it is about."""
    wrappers: tuple[str, ...] = ()
    """Wrappers that it is about, by name."""
    needs: tuple[str, ...] = ()
    """What the pack must provide for it: names of wrappers, or how the PTX of one begins."""
    requires: tuple[Id, ...] = ()
    """Contracts that must be in the pack with it."""
    level: Level | None = None
    status: Status = Status.DOCUMENTED
    tests: tuple[str, ...] = ()
    """``tests/packs/test_x.py::test_y``: what shows it."""
    reason: str | None = None
    """For a ``must`` that nothing tests: why."""
    sources: tuple[Citation, ...] = ()
    since: str | None = None
    """Version of the pack data that brought it."""
    tokens: int | None = Field(default=None, ge=0)
    """What the author meant it to cost."""


@dataclass(frozen=True)
class Page:
    """A parsed page; ``text`` is the whole file."""

    front: FrontMatter
    body: str
    text: str

    def code(self) -> Iterator[tuple[str, str]]:
        """Yield (label, code) of each fenced block."""
        for match in FENCE.finditer(self.body):
            yield match["label"].strip(), match["code"]

    def prose(self) -> str:
        """Return the body without its fenced blocks."""
        return FENCE.sub("", self.body)


def parts(body: str) -> Iterator[tuple[str, bool]]:
    """Yield (text, whether it is code) of a body in order, fenced blocks and spans alike: brackets in code are no links."""
    end = 0
    for match in re.finditer(f"(?P<block>{FENCE.pattern})|{INLINE.pattern}", body, re.M | re.S):
        yield body[end : match.start()], False
        yield match[0], True
        end = match.end()
    yield body[end:], False


def parse_page(text: str, where: str) -> Page:
    """Parse a page. Raises ``PackError``, naming the file and the key, when its front matter is missing or wrong."""
    head, mark, rest = text.partition("\n+++\n")
    if not head.startswith("+++\n") or not mark:
        raise PackError(f"{where}: no front matter", next_step="begin the page with TOML between two lines of +++")
    try:
        front = FrontMatter.model_validate(tomllib.loads(head[4:]))
    except ValidationError as error:
        raise PackError(f"{where}: {first_fault(error, FrontMatter)}", next_step="correct the key between the +++ lines") from error
    except (ValueError, RecursionError) as error:
        raise PackError(f"{where}: {error}", next_step="correct the TOML between the +++ lines") from error
    if not rest.strip():
        raise PackError(f"{where}: says nothing below its front matter", next_step="write it, or take it out of the manifest")
    return Page(front, rest.strip("\n") + "\n", text)
