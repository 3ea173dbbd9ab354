"""What stands in a table's cells: the same words in every format for people."""

from __future__ import annotations

from collections.abc import Iterator

from ptxbench.report.cells import ABSENT, UNDECIDED, shown
from ptxbench.report.heading import caveat
from ptxbench.report.table import Column, Line, Number, Pair, Table, Value


def titles(column: Column) -> tuple[str, str]:
    """Return a column's title and what stands below it: unit and turn limits."""
    limits = " / ".join(f"≤{k}" for k in column.limits)
    return shown(column.title), ", ".join(part for part in (column.unit or "", limits) if part)


def lines(column: Column, value: Value) -> tuple[str, ...]:
    """Return the one or two lines of a cell."""
    if not isinstance(value, Pair):
        return (_text(column, value),)
    below = _joined(_numbers(column, value.unrestricted, value.undecided))
    if len(column.metrics) < 2:
        return (below,)
    if value.target is None:
        return (f"({below})",)
    return _joined(_numbers(column, value.target, value.undecided, value.unproven)), f"({below})"


def is_numeric(column: Column) -> bool:
    """Whether a column's values are aligned to the right."""
    return column.format != "text"


def body(table: Table) -> Iterator[tuple[Line, list[tuple[str, ...]]]]:
    """Yield the rows and then the published ones, each with the lines of its cells; published ones name their note."""
    sources = published_sources(table)
    for line in (*table.rows, *table.published):
        cells = [lines(column, line.values.get(column.key)) if _shows(column, line) else ("",) for column in table.columns]
        if line.source is not None:
            at = next(index for index, column in enumerate(table.columns) if column.key in ("model", "figure"))
            cells[at] = (f"{cells[at][0]} [{sources.index(line.source) + 1}]",)
        yield line, cells


def _shows(column: Column, line: Line) -> bool:
    """Whether a cell says anything: a published row is empty where nothing was published."""
    return line.source is None or column.key in line.values


def footnotes(table: Table) -> list[str]:
    """Return what stands below a table: how to read it, what to know, sources, and what its figures do not establish."""
    found = []
    if table.has_pairs:
        found.append(f"First line: target instructions executed as well ({ABSENT}: none to ask for); in parentheses: unrestricted.")
    found += table.notes
    found += [f"[{number}] published, for comparison by eye: {source}" for number, source in enumerate(published_sources(table), 1)]
    metrics = {name: metric for column in table.columns for name, metric in column.metrics.items()}
    return [shown(note) for note in (*found, *(caveat(metric) for metric in metrics.values()))]


def published_sources(table: Table) -> list[str]:
    """Return the sources of a table's published rows, each once."""
    return list(dict.fromkeys(line.source for line in table.published if line.source is not None))


def _text(column: Column, value: str | bool | int | float | None) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(column, value)
    return ABSENT if value is None else shown(str(value))


def _numbers(column: Column, numbers: tuple[Number, ...], undecided: tuple[int, ...], unproven: tuple[int, ...] = ()) -> list[str]:
    """Return the texts of a pair's line; a number that unknown turns could raise has a mark."""
    none = (0,) * len(numbers)
    return [
        UNDECIDED if number is None and unknown else _number(column, number, "≥" if unknown or lacking else "")
        for number, unknown, lacking in zip(numbers, undecided or none, unproven or none, strict=True)
    ]


def _number(column: Column, number: Number, mark: str = "") -> str:
    if number is None:
        return ABSENT
    match column.format:
        case "percent":
            return f"{mark}{100 * number:.1f}"
        case "speedup":
            return f"{mark}{number:.3f}"
        case "ratio":
            return f"{mark}{number:.2f}"
        case "count":
            return f"{mark}{number:,.0f}"
        case _:
            return mark + (f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}")


def _joined(texts: list[str]) -> str:
    """Return the values of all limits, or one word when they all are that word."""
    return texts[0] if len(set(texts)) == 1 and texts[0] in (ABSENT, UNDECIDED) else " / ".join(texts)
