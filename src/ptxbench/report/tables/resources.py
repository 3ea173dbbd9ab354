"""Registers, spills and occupancy of compiled kernels by outcome, forward beside backward."""

from __future__ import annotations

from ptxbench.metrics.resources import resources_by_outcome
from ptxbench.report.groups import Group, comparable
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Format, Line, Table, Value

FIGURES: dict[str, tuple[str, Format, str | None]] = {
    "turns": ("turns", "count", None),
    "median_registers": ("registers, median", "number", "a thread"),
    "max_registers": ("registers, most", "count", "a thread"),
    "spilling": ("spilling", "count", "turns"),
    "median_spill_bytes": ("spilled, median", "number", "bytes"),
    "max_spill_bytes": ("spilled, most", "count", "bytes"),
    "occupancy_known": ("occupancy known", "count", "turns"),
    "median_occupancy_percent": ("occupancy, median", "number", "%"),
}


def resources(sources: Sources) -> list[Table]:
    """Return one row per cell and outcome of turns that were compiled."""
    return [_of_group(group) for group in comparable(sources.frame, ("checkpoint",))]


def _of_group(group: Group) -> Table:
    cells = {cell["cell"]: cell for cell in group.cells}
    found = resources_by_outcome(group.frame).rows(named=True)
    rows = []
    for row in sorted(found, key=lambda row: (row["direction"] != "forward", row["direction"] or "~")):
        cell = cells[row["cell"]]
        values: dict[str, Value] = {"direction": row["direction"], "task": cell["task_label"], "model": cell["model_label"]}
        values |= {"outcome": row["outcome"].replace("_", " ")} | {name: row[name] for name in FIGURES}
        rows.append(Line(values=values))
    return Table(
        kind="resources",
        title="Resources and outcomes",
        facts=group.facts,
        columns=(
            *(Column(key=name, title=name) for name in ("direction", "task", "model", "outcome")),
            *(Column.of(name, title, format, "resources", unit=unit) for name, (title, format, unit) in FIGURES.items()),
        ),
        rows=tuple(rows),
    )
