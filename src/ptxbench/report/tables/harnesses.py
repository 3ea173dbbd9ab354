"""Harness comparison: what a trajectory's best kernel reaches, and what it takes in tokens (the paper's Table 3)."""

from __future__ import annotations

import polars as pl

from ptxbench.metrics.trajectories import token_multiples, trajectories, trajectory_medians
from ptxbench.report.groups import Group, comparable
from ptxbench.report.reference import Published
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Pair, Table
from ptxbench.report.tables.at_limits import AtLimits, notes_of
from ptxbench.report.tables.side_by_side import is_compared

BASE = "mini"
"""The harness that token multiples are over: multi-turn refinement."""


def harnesses(sources: Sources) -> list[Table]:
    """Return one row per workload and harness: medians over trajectories. Cells of one harness alone make a table as well."""
    return [_of_group(group) for group in comparable(sources.frame, ("harness",))]


def _of_group(group: Group) -> Table:
    medians = {row["cell"]: row for row in trajectory_medians(trajectories(group.frame)).rows(named=True)}
    compared = is_compared(group, ["harness"])
    multiples = _multiples(group) if compared else {}
    at = AtLimits(group.frame)
    rows = []
    for cell in sorted(
        group.cells, key=lambda cell: (cell["task_label"], cell["model_label"], cell["harness"] != BASE, cell["harness"])
    ):
        row = medians.get(cell["cell"], {})
        best = Pair(
            target=(row.get("median_target_best_speedup"),),
            unrestricted=(row.get("median_best_speedup"),),
            unproven=(at.count(cell["cell"], "unknown_proofs"),),
        )
        values = {
            "task": cell["task_label"],
            "model": cell["model_label"],
            "harness": cell["harness"],
            "trajectories": row.get("trajectories", 0),
            "median_best_speedup": best,
            "median_total_tokens": row.get("median_total_tokens"),
            "token_multiple": multiples.get(cell["cell"]),
        }
        rows.append(Line(values=values))
    only = () if compared else ("One harness only: nothing to take a multiple of.",)
    beside = Published(group)
    published = beside.token_multiples(group.facts["language"])
    return Table(
        kind="harnesses",
        title="Harnesses: the best kernel of a trajectory, and its tokens",
        facts=group.facts,
        columns=(
            Column(key="task", title="task"),
            Column(key="model", title="model"),
            Column(key="harness", title="harness"),
            Column(key="trajectories", title="trajectories", format="count"),
            Column.of("median_best_speedup", "median best speedup", "speedup", "median_best_speedup", "median_target_best_speedup"),
            Column.of("median_total_tokens", "median tokens", "count", unit="tokens a trajectory"),
            Column.of("token_multiple", f"tokens over {BASE}", "ratio", "token_multiple"),
        ),
        rows=tuple(rows),
        published=published,
        notes=(*notes_of(group.frame), *only, *beside.notes("", bool(published))),
    )


def _multiples(group: Group) -> dict[int, float | None]:
    """Return each cell's token multiple; nothing where several runs of the base stand beside each other on a workload."""
    base = group.frame.cells.filter(pl.col("harness") == BASE)
    if base.select("model", "checkpoint", "task", "workload").is_duplicated().any():
        return {}
    return dict(token_multiples(group.frame, pl.col("harness") == BASE).select("cell", "multiple").rows())
