"""Tables as Markdown (GitHub's)."""

from __future__ import annotations

from collections.abc import Sequence

from ptxbench.report.formats import escaped
from ptxbench.report.heading import heading_of, telling
from ptxbench.report.table import Table
from ptxbench.report.writers.texts import body, footnotes, is_numeric, titles


def markdown(tables: Sequence[Table]) -> str:
    """Return tables one after the other, each with a heading, its header facts and footnotes."""
    besides = telling([table.facts for table in tables])
    return "\n".join(_one(table, heading_of(table.facts, besides=besides)) for table in tables)


def _one(table: Table, heading: str) -> str:
    heads = ["<br>".join(escaped(part) for part in titles(column) if part) for column in table.columns]
    rules = ["---:" if is_numeric(column) else "---" for column in table.columns]
    rows = [["<br>".join(map(escaped, cell)) for cell in cells] for _, cells in body(table)]
    lines = [f"### {escaped(table.title)}", ""]
    lines += [escaped(heading), ""] if heading else []
    lines += [f"| {' | '.join(cells)} |" for cells in (heads, rules, *rows)]
    notes = footnotes(table)
    lines += ["", *(f"- {escaped(note)}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"
