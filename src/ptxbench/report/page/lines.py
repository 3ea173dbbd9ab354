"""Texts that share lines, each line stretch once: what a 32 KB window of deflate cannot see between kernels of one run."""

from __future__ import annotations

STRETCH = 4
"""Equal lines in a row that are worth a reference: shorter ones (a brace, a blank) cost more than they save."""


class LinePool:
    """Lines of many texts. ``add`` gives a text as ranges of them, ``text`` gives it back; both are exact."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._known: dict[tuple[str, ...], int] = {}

    def add(self, text: str) -> list[int]:
        """Return the text as ranges: first line and number of lines, again and again."""
        lines = text.split("\n")
        ranges: list[int] = []
        place = 0
        while place < len(lines):
            found = self._known.get(tuple(lines[place : place + STRETCH])) if place + STRETCH <= len(lines) else None
            if found is None:
                found, length = self._append(lines[place]), 1
            else:
                length = self._length(lines, place, found)
            if ranges and ranges[-2] + ranges[-1] == found:
                ranges[-1] += length
            else:
                ranges += [found, length]
            place += length
        return ranges

    def text(self, ranges: list[int]) -> str:
        """Return the text of ranges."""
        pairs = zip(ranges[::2], ranges[1::2], strict=True)
        return "\n".join(line for first, length in pairs for line in self._lines[first : first + length])

    @property
    def joined(self) -> str:
        """All lines in order."""
        return "\n".join(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def _append(self, line: str) -> int:
        self._lines.append(line)
        if len(self._lines) >= STRETCH:
            self._known.setdefault(tuple(self._lines[-STRETCH:]), len(self._lines) - STRETCH)
        return len(self._lines) - 1

    def _length(self, lines: list[str], place: int, found: int) -> int:
        length = 0
        while place + length < len(lines) and found + length < len(self._lines):
            if lines[place + length] != self._lines[found + length]:
                break
            length += 1
        return length
