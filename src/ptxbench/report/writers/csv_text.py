"""Tables and figures' data as CSV: numbers as they are, unknown ones empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ptxbench.report.figure import Figure
from ptxbench.report.table import Column, Line, Pair, Table

FIGURE_COLUMNS = ("column", "metric", "k", "value", "ci95_low", "ci95_high", "undecided", "unproven")
"""What a line says of one figure of a pair: where it stands, what it is, at which turn limit, and what is unknown of it."""


def tables_csv(tables: Sequence[Table]) -> str:
    """Return tables of one kind in one CSV.

    A line has its table's title and facts (``header.NAME``) beside its values, so that rows that may not stand together can be
    told apart, and ``source``, which is empty for one's own. A row with pairs becomes a line for each of their figures.
    """
    return _written(flat for table in tables for line in (*table.rows, *table.published) for flat in _lines(table, line))


def figures_csv(figures: Sequence[Figure]) -> str:
    """Return what is drawn in figures of one kind in one CSV, with each figure's facts."""
    return _written(
        {"figure": number, **_header(one.facts), **point} for number, one in enumerate(figures, 1) for point in one.data
    )


def _header(facts: dict[str, str]) -> dict[str, Any]:
    return {f"header.{name}": text for name, text in facts.items()}


def _lines(table: Table, line: Line) -> Iterator[dict[str, Any]]:
    pairs = {column.key for column in table.columns if any(isinstance(row.values.get(column.key), Pair) for row in table.rows)}
    scalars = {column.key: line.values.get(column.key) for column in table.columns if column.key not in pairs}
    row = {"table": table.title, **_header(table.facts), **scalars}
    if not pairs:
        yield row | {"source": line.source}
    for column in table.columns:
        value = line.values.get(column.key)
        if column.key in pairs and isinstance(value, Pair):
            for told in _figures(column, value):
                yield row | told | {"source": line.source}


def _figures(column: Column, value: Pair) -> Iterator[dict[str, Any]]:
    """Yield a pair's figures, target forms first at each limit."""
    unrestricted, target = [*(name for name in column.metrics if name != "ci95"), None, None][:2]
    forms = ((target, value.target or (), value.target_ci95), (unrestricted, value.unrestricted, value.ci95))
    for index, k in enumerate(column.limits or (None,)):
        for metric, numbers, intervals in forms:
            if metric is not None and numbers:
                low, high = (intervals and intervals[index]) or (None, None)
                unknown = [counts[index] if counts else None for counts in (value.undecided, value.unproven)]
                told = (column.title, metric, k, numbers[index], low, high, *unknown)
                yield dict(zip(FIGURE_COLUMNS, told, strict=True))


def _written(lines: Iterable[dict[str, Any]]) -> str:
    rows = list(lines)
    names = list(dict.fromkeys(name for row in rows for name in row))
    ordered = [*(name for name in names if name != "source"), *(name for name in names if name == "source")]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, ordered, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
