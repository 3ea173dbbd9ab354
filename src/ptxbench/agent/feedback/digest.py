"""Many messages made few: errors first, equal ones counted, each with a source excerpt, all within a budget of characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ptxbench.agent.templating import clip, printable
from ptxbench.schema import Candidate, Diagnostic, SanitizerFinding

EXCERPT_WIDTH = 160
"""Longest source line shown; minified one-liners are cut."""


@dataclass
class Item:
    """One message: where, how bad, what; how many more say the same; the source around it."""

    place: str
    severity: str
    text: str
    excerpt: str
    repeats: int = 0

    @property
    def characters(self) -> int:
        """About what it costs to show."""
        return len(self.place) + len(self.severity) + len(self.text) + len(self.excerpt) + 40


@dataclass(frozen=True)
class Digest:
    """The messages that fit, and how many different ones did not."""

    items: tuple[Item, ...]
    left_out: int


def digest_diagnostics(diagnostics: Iterable[Diagnostic], candidate: Candidate | None, budget: int) -> Digest:
    """Digest compiler messages: errors before warnings before notes, each group in the compiler's order."""
    order = {"error": 0, "warning": 1, "note": 2}
    lines = _lines(candidate)
    merged: dict[tuple[str, str], Item] = {}
    for diagnostic in sorted(diagnostics, key=lambda d: order[d.severity]):
        key = (diagnostic.severity, diagnostic.text)
        if key in merged:
            merged[key].repeats += 1
            continue
        merged[key] = Item(
            place=_place(diagnostic),
            severity=diagnostic.severity,
            text=clip(diagnostic.text),
            excerpt=excerpt(lines, diagnostic.file, diagnostic.line),
        )
    return _fit(list(merged.values()), budget)


def digest_findings(findings: Iterable[SanitizerFinding], candidate: Candidate | None, budget: int) -> Digest:
    """Digest findings of a memory checker: one per kind, kernel and line, the rest counted."""
    lines = _lines(candidate)
    merged: dict[tuple[str, str | None, int | None], Item] = {}
    for finding in findings:
        key = (finding.kind, finding.kernel, finding.line)
        if key in merged:
            merged[key].repeats += 1
            continue
        merged[key] = Item("", "error", clip(_finding_text(finding)), excerpt(lines, finding.file, finding.line))
    return _fit(list(merged.values()), budget)


def excerpt(lines: Mapping[str, list[str]], file: str | None, line: int | None, around: int = 1) -> str:
    """Return the source line with its neighbours, numbered and marked; "" when it is not the candidate's."""
    source = lines.get(file or "")
    if source is None or line is None or not 1 <= line <= len(source):
        return ""
    shown = []
    for number in range(max(1, line - around), min(len(source), line + around) + 1):
        text = printable(source[number - 1])
        text = text if len(text) <= EXCERPT_WIDTH else text[: EXCERPT_WIDTH - 1] + "…"
        shown.append(f"  {'>' if number == line else ' '} {number:>5} | {text}".rstrip())
    return "\n".join(shown)


def _lines(candidate: Candidate | None) -> dict[str, list[str]]:
    return {} if candidate is None else {source.path: source.content.split("\n") for source in candidate.sources}


def _place(diagnostic: Diagnostic) -> str:
    if diagnostic.file is None:
        return diagnostic.stage
    return ":".join(str(part) for part in (diagnostic.file, diagnostic.line, diagnostic.column) if part is not None)


def _finding_text(finding: SanitizerFinding) -> str:
    parts = [finding.kind]
    if finding.kernel:
        parts.append(f"in kernel {finding.kernel}")
    if finding.file and finding.line:
        parts.append(f"at {finding.file}:{finding.line}")
    if finding.block and finding.thread:
        parts.append(f"by thread {finding.thread} of block {finding.block}")
    return " ".join(parts) + f": {finding.text}"


def _fit(items: list[Item], budget: int) -> Digest:
    kept: list[Item] = []
    used = 0
    for item in items:
        used += item.characters
        if kept and used > budget:
            break
        kept.append(item)
    return Digest(tuple(kept), len(items) - len(kept))
