"""The lines of a candidate's sources, to show what a rule met."""

from __future__ import annotations

from ptxbench.schema import Candidate

LONGEST = 1000
"""Characters of a line that are kept: a line may be a megabyte, and asked for once for every token."""


class SourceLines:
    """Looks up source lines by file and number."""

    def __init__(self, candidate: Candidate) -> None:
        self._lines = {source.path: source.content.split("\n") for source in candidate.sources}
        self._shown: dict[tuple[str, int], str] = {}

    def text(self, file: str | None, line: int | None) -> str:
        """Return a line's text, empty when there is none."""
        if file is None or line is None:
            return ""
        known = self._shown.get((file, line))
        if known is None:
            lines = self._lines.get(file, [])
            known = lines[line - 1].strip()[:LONGEST] if 0 < line <= len(lines) else ""
            self._shown[file, line] = known
        return known
