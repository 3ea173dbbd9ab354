"""What is reached within a number of tokens (the paper's Figure 14 in numbers)."""

from __future__ import annotations

from ptxbench.metrics.budgets import at_budgets, budget_steps
from ptxbench.report.groups import Group, comparable
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Pair, Table
from ptxbench.report.tables.at_limits import notes_of

MOST = 8
"""Budgets in a table; the figure has more."""


def budgets(sources: Sources) -> list[Table]:
    """Return one row per cell and budget, of budgets at which something changes; none where tokens are unknown."""
    return [_of_group(group) for group in comparable(sources.frame, ("harness", "checkpoint"))]


def _of_group(group: Group) -> Table:
    steps = budget_steps(group.frame, MOST)
    cells = {cell["cell"]: cell for cell in group.cells}
    rows = []
    for row in at_budgets(group.frame, steps).rows(named=True):
        cell = cells[row["cell"]]
        best = Pair(target=(row["median_target_best_speedup"],), unrestricted=(row["median_best_speedup"],))
        values = {
            "task": cell["task_label"],
            "model": cell["model_label"],
            "harness": cell["harness"],
            "budget": row["budget"],
            "trajectories": row["trajectories"],
            "tokens_unknown": row["tokens_unknown"],
            "success": Pair(target=(row["target_success"],), unrestricted=(row["success"],)),
            "median_best_speedup": best,
        }
        rows.append(Line(values=values))
    return Table(
        kind="budgets",
        title="Within a budget of tokens",
        facts=group.facts,
        columns=(
            Column(key="task", title="task"),
            Column(key="model", title="model"),
            Column(key="harness", title="harness"),
            Column(key="budget", title="budget", format="count", unit="tokens a trajectory"),
            Column(key="trajectories", title="trajectories", format="count"),
            Column(key="tokens_unknown", title="tokens unknown", format="count"),
            Column.of("success", "success", "percent", "success", "target_success"),
            Column.of("median_best_speedup", "median best speedup", "speedup", "median_best_speedup", "median_target_best_speedup"),
        ),
        rows=tuple(rows),
        notes=notes_of(group.frame),
    )
