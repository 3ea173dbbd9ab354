"""The lines of a candidate's sources, to show what a rule met."""

from __future__ import annotations

from ptxbench.schema import Candidate


class SourceLines:
    """Looks up source lines by file and number."""

    def __init__(self, candidate: Candidate) -> None:
        self._lines = {source.path: source.content.split("\n") for source in candidate.sources}

    def text(self, file: str | None, line: int | None) -> str:
        """Return a line's text, empty when there is none."""
        lines = self._lines.get(file or "", [])
        return lines[line - 1].strip() if line is not None and 0 < line <= len(lines) else ""
