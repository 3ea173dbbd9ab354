"""File names fit for a record: relative to the candidate or to an include root, never a path of this machine."""

from __future__ import annotations

import os.path
import re
from pathlib import Path

from ptxbench.toolchain.command import SOURCES
from ptxbench.toolchain.headers import SLIM_FOLDER
from ptxbench.toolchain.tools import HostToolchain, Toolchain

_START, _REST = r"(?<![\w.:/])", r"(?:[\w.+@=-]+/+)*[\w.+@=-]*"
_ABSOLUTE = r"/(?:[\w.+@=-]+/)+[\w.+@=-]*"


class RecordPaths:
    """Turns the paths that a compiler prints into the names that a record holds."""

    def __init__(self, scratch: Path, tools: HostToolchain) -> None:
        roots = [scratch / SOURCES, scratch / SLIM_FOLDER, scratch, tools.tvm_include]
        if isinstance(tools, Toolchain):
            roots += [tools.root / "include" / "cccl", tools.root / "include", tools.root]
        self._roots = tuple(str(root) + "/" for root in roots)
        # A folder of ours may have a name with a space in it, which no pattern of paths in a text would take.
        ours = "|".join(map(re.escape, self._roots))
        self._absolute = re.compile(f"{_START}(?:(?:{ours}){_REST}|{_ABSOLUTE})")

    def relative(self, path: str) -> str:
        """Return ``kernel.cu`` for a candidate's file, ``tvm/ffi/error.h`` for a tool's header, ``c++/12/vector`` for others."""
        if not path.startswith("/"):
            return os.path.normpath(path)
        path = os.path.normpath(path)
        for root in self._roots:
            if path.startswith(root):
                return path[len(root) :]
        _, include, rest = path.rpartition("/include/")
        return rest if include else Path(path).name

    def scrub(self, text: str) -> str:
        """Return the text with every absolute path in it made relative, and characters that a terminal obeys spelled out."""
        return spelled_out(self._absolute.sub(lambda match: self.relative(match[0]), text))


def spelled_out(text: str) -> str:
    """Return the text with control and direction characters as escapes; lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else one.encode("unicode_escape").decode() for one in text)
