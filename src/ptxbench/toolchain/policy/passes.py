"""What a compiler pass made of a candidate: its own tokens, with their places, and every header that was entered.

The kept files are megabytes of system headers with a little of the candidate in between. Text of system headers is skipped from
line marker to line marker; the candidate's is tokenised, and a marker counts there only where a token begins, since a raw string
may hold lines that look like markers. Which text is whose rests on the markers: the strict profile refuses sources that forge
them (see ``screen``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ptxbench.toolchain.policy.tokens import Lexer, Token

_MARKER = re.compile(r'#(?: |line )(\d+)(?: "((?:[^"\\\n]|\\.)*)"((?: \d+)*))?[ \t]*(?=\n|\Z)')
_NAMED_MARKER_OR_REMOVED = re.compile(r'^#(?: \d+ "|if 0$)', re.MULTILINE)
_CONDITIONAL_LINE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b", re.MULTILINE)
_ENTERS = "1"
_RETURNS = "2"


class Placed(NamedTuple):
    """A token of the candidate and the candidate's file that it stands in."""

    token: Token
    file: str


@dataclass
class Entered:
    """A header that was entered: its path as opened, and the place in the candidate of the include that led to it.

    ``direct`` tells whether the candidate itself includes it, or a header that the candidate includes (``via``).
    """

    path: str
    direct: bool
    file: str | None = None
    line: int | None = None
    via: Entered | None = None

    @property
    def place(self) -> tuple[str | None, int | None]:
        """File and line of the candidate's own include; ``(None, None)`` for what the compiler includes by itself."""
        origin = self.via or self
        return origin.file, origin.line


@dataclass
class Pass:
    """The candidate's part of one preprocessed (or cudafe++) file."""

    tokens: list[Placed] = field(default_factory=list)
    entered: list[Entered] = field(default_factory=list)


def file_in(folder: Path) -> Callable[[str], str | None]:
    """Return a function from a marker's path to the candidate's file, or None for a path outside ``folder``."""
    roots = {os.path.normpath(folder.absolute()) + os.sep, str(folder.resolve()) + os.sep}
    known: dict[str, str | None] = {}

    def locate(path: str) -> str | None:
        if path not in known:
            full = os.path.normpath(path if path.startswith("/") else f"{folder.absolute()}/{path}")
            inside = next((full[len(root) :] for root in roots if full.startswith(root)), None)
            known[path] = None if path.startswith("<") else inside
        return known[path]

    return locate


def read_pass(text: str, locate: Callable[[str], str | None]) -> Pass:
    """Read a preprocessed file, or cudafe++'s host code (whose ``#if 0`` groups, removed device bodies, are left out)."""
    reader = _PassReader(text, locate)
    reader.read()
    return reader.result


class _PassReader:
    def __init__(self, text: str, locate: Callable[[str], str | None]) -> None:
        self.text = text
        self.lexer = Lexer(text, splices=False)
        self.locate = locate
        self.file: str | None = None
        self.result = Pass()
        self.stack: list[Entered] = []

    def read(self) -> None:
        while self.lexer.position < len(self.text):
            if self.file is None:
                self._skip_system()
            else:
                self._read_candidate(self.file)

    def _skip_system(self) -> None:
        """Move to just behind the next marker that names a file."""
        found = _NAMED_MARKER_OR_REMOVED.search(self.text, self.lexer.position)
        if found is None:
            self.lexer.position = len(self.text)
            return
        if found.group() == "#if 0":
            self._skip_removed(found.end())
            return
        marker = _MARKER.match(self.text, found.start())
        if marker is None:
            self.lexer.position = found.end()
            return
        self._enter(marker)

    def _read_candidate(self, file: str) -> None:
        """Collect tokens until a marker leads elsewhere."""
        lexer, text, collect = self.lexer, self.text, self.result.tokens
        at_start = lexer.position == 0 or text[lexer.position - 1] == "\n"
        while True:
            if at_start and text.startswith("#", lexer.position):
                marker = _MARKER.match(text, lexer.position)
                if marker is not None:
                    self._enter(marker)
                    if self.file != file:
                        return
                    continue
                if text.startswith("#if 0\n", lexer.position):
                    self._skip_removed(lexer.position + len("#if 0"))
                    continue
            token = lexer.next()
            if token is None:
                return
            at_start = token.kind == "newline"
            if not at_start:
                collect.append(Placed(token, file))

    def _skip_removed(self, position: int) -> None:
        """Move behind the ``#endif`` of a group whose body starts at ``position``."""
        depth = 1
        for line in _CONDITIONAL_LINE.finditer(self.text, position):
            depth += -1 if line.group(1) == "endif" else 1
            if depth == 0:
                end = self.text.find("\n", line.end())
                self.lexer.position = end + 1 if end >= 0 else len(self.text)
                return
        self.lexer.position = len(self.text)

    def _enter(self, marker: re.Match[str]) -> None:
        number, path, flags = marker.groups()
        self.lexer.position = min(marker.end() + 1, len(self.text))
        if path is not None:
            path = re.sub(r"\\(.)", r"\1", path)
            words = flags.split()
            if _ENTERS in words:
                self._push(path)
            elif _RETURNS in words:
                self._pop(path, int(number))
            self.file = self.locate(path)
        self.lexer.line = int(number)

    def _push(self, path: str) -> None:
        if self.file is not None:
            entered = Entered(path, True, self.file, max(1, self.lexer.line))
        else:
            entered = Entered(path, False, via=next((above for above in reversed(self.stack) if above.direct), None))
        self.stack.append(entered)
        self.result.entered.append(entered)

    def _pop(self, path: str, line: int) -> None:
        """Leave a header; the line after its include says where a direct one stands, more surely than counting did."""
        if not self.stack:
            return
        entered = self.stack.pop()
        if entered.direct and self.locate(path) == entered.file:
            entered.line = max(1, line - 1)
