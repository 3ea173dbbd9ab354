"""From a line of generated PTX back to the line of the candidate that it came from."""

from __future__ import annotations

import re

_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"')
_BODY = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+|\.extern\s+)*\.(?:entry|func)\b")


class PtxLines:
    """The PTX of one compilation; lines count from 1, as in ptxas's messages."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._files = {int(match[1]): match[2] for line in self._lines if (match := _FILE.match(line))}

    def quote(self, number: int) -> str | None:
        """Return the line's text without indentation, None when there is no such line."""
        return self._lines[number - 1].strip()[:200] if 0 < number <= len(self._lines) else None

    def place(self, number: int) -> tuple[str, int, int] | None:
        """Return (file, line, column) of the statement that a PTX line belongs to, None when nothing says."""
        for line in reversed(self._lines[: min(number, len(self._lines))]):
            if match := _LOC.match(line):
                file = self._files.get(int(match[1]))
                return (file, int(match[2]), int(match[3])) if file else None
            if _BODY.match(line):
                return None
        return None
