"""Fast_p at a few thresholds: the curves in numbers."""

from __future__ import annotations

from ptxbench.metrics.curves import fast_p_at, fast_p_curves
from ptxbench.report.groups import Group, comparable
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Pair, Table
from ptxbench.report.tables.at_limits import notes_of, notes_on_curves, turns_that_could_raise

THRESHOLDS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


def fast_p(sources: Sources) -> list[Table]:
    """Return one row per cell, and a column for each threshold: the mean over prompt variants."""
    return [_of_group(group) for group in comparable(sources.frame, ("checkpoint",))]


def _of_group(group: Group) -> Table:
    every = {(row["cell"], row["p"]): row["mean"] for row in fast_p_at(fast_p_curves(group.frame), THRESHOLDS).rows(named=True)}
    inst = fast_p_at(fast_p_curves(group.frame, "fast_p_inst"), THRESHOLDS)
    target = {(row["cell"], row["p"]): row["mean"] for row in inst.rows(named=True)}
    unknown = turns_that_could_raise(group.frame)
    rows = []
    for cell in group.cells:
        undecided, unproven = unknown.get(cell["cell"], (0, 0))
        at = {}
        for p in THRESHOLDS:
            place = cell["cell"], p
            at[f"p={p:g}"] = Pair(
                target=(target.get(place),), unrestricted=(every.get(place),), undecided=(undecided,), unproven=(unproven,)
            )
        rows.append(Line(values={"model": cell["model_label"], "task": cell["task_label"], **at}))
    return Table(
        kind="fast_p",
        title="Fast_p",
        facts=group.facts,
        columns=(
            Column(key="model", title="model"),
            Column(key="task", title="task"),
            *(Column.of(f"p={p:g}", f"p = {p:g}", "percent", "fast_p", "fast_p_inst") for p in THRESHOLDS),
        ),
        rows=tuple(rows),
        notes=notes_of(group.frame) + notes_on_curves(group.frame),
    )
