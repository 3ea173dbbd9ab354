"""Tokens, GPU seconds and money to the first correct, first proven and first gate-passing kernel."""

from __future__ import annotations

from ptxbench.metrics.effort import MEANS, effort_to_first
from ptxbench.report.groups import Group, comparable
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Format, Line, Table, Value
from ptxbench.report.tables.at_limits import notes_of

FORMATS: dict[str, tuple[str, Format, str]] = {
    "total_tokens": ("tokens", "count", "tokens"),
    "gpu_seconds": ("GPU time", "number", "s"),
    "cost_usd": ("cost", "number", "USD"),
}


def effort(sources: Sources) -> list[Table]:
    """Return one row per cell and goal; goals that nothing was put to (no gate, no target instructions) are left out."""
    return [_of_group(group) for group in comparable(sources.frame, ("harness", "checkpoint"))]


def _of_group(group: Group) -> Table:
    cells = {cell["cell"]: cell for cell in group.cells}
    rows = []
    for row in effort_to_first(group.frame).rows(named=True):
        cell = cells[row["cell"]]
        if row["reached"] is None:
            continue
        values: dict[str, Value] = {
            "model": cell["model_label"],
            "task": cell["task_label"],
            "harness": cell["harness"],
            "goal": row["goal"].replace("_", "-"),
        }
        values |= {name: row[name] for name in ("reached", "trajectories", "median_turn")}
        for name in MEANS:
            values |= {f"median_{name}": row[f"median_{name}"], f"per_success_{name}": row[f"per_success_{name}"]}
        rows.append(Line(values=values))
    means = [
        Column.of(f"{figure}_{name}", f"{title}, {words}", format, metric, unit=unit)
        for name, (title, format, unit) in FORMATS.items()
        for figure, metric, words in (("median", "effort", "median"), ("per_success", "effort_per_success", "per success"))
    ]
    return Table(
        kind="effort",
        title="What it takes to the first success",
        facts=group.facts,
        columns=(
            Column(key="model", title="model"),
            Column(key="task", title="task"),
            Column(key="harness", title="harness"),
            Column(key="goal", title="first"),
            Column(key="reached", title="reached", format="count"),
            Column(key="trajectories", title="of", format="count"),
            Column.of("median_turn", "turn, median", "number", "effort"),
            *means,
        ),
        rows=tuple(rows),
        notes=notes_of(group.frame),
    )
