"""Tables and figures' data as CSV: one line a row, numbers as they are, unknown ones empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from ptxbench.report.figure import Figure
from ptxbench.report.table import Column, Pair, Table, Value


def tables_csv(tables: Sequence[Table]) -> str:
    """Return the rows of tables of one kind in one CSV.

    Each has its table's title and facts beside its values, so that rows that may not stand together can be told apart, and
    ``source``, which is empty for one's own. Pairs become a column for each metric and limit: ``KEY.METRIC@K``.
    """
    rows = []
    for table in tables:
        for line in (*table.rows, *table.published):
            row: dict[str, Any] = {"table": table.title, **{f"header.{name}": text for name, text in table.facts.items()}}
            for column in table.columns:
                row |= _flat(column, line.values.get(column.key))
            rows.append(row | {"source": line.source})
    return _written(rows)


def figures_csv(figures: Sequence[Figure]) -> str:
    """Return what is drawn in figures of one kind in one CSV, with each figure's facts."""
    rows = []
    for number, one in enumerate(figures, 1):
        facts = {f"header.{name}": text for name, text in one.facts.items()}
        rows += [{"figure": number, **facts, **point} for point in one.data]
    return _written(rows)


def _flat(column: Column, value: Value) -> dict[str, Any]:
    if not column.limits and len(column.metrics) < 2:
        return {column.key: value.unrestricted[0] if isinstance(value, Pair) else value}
    unrestricted, target = [*column.metrics, None][:2]
    limits: tuple[int | None, ...] = column.limits or (None,)
    flat = {}
    for index, k in enumerate(limits):
        for metric, form in ((target, "target"), (unrestricted, "unrestricted")):
            if metric is not None:
                numbers = getattr(value, form) if isinstance(value, Pair) else None
                flat[f"{column.key}.{metric}" + (f"@{k}" if k else "")] = numbers[index] if numbers else None
        if isinstance(value, Pair) and value.undecided:
            flat[f"{column.key}.undecided" + (f"@{k}" if k else "")] = value.undecided[index]
    return flat


def _written(rows: Iterable[dict[str, Any]]) -> str:
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    if "source" in names:
        names = [*(name for name in names if name != "source"), "source"]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
