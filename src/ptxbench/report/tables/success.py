"""Trajectories with a success by turn limit: the counts that the paper's repository publishes."""

from __future__ import annotations

from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.limits import LIMITS
from ptxbench.report.groups import Group, comparable
from ptxbench.report.reference import Published, pair_of, place_of
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Pair, Table, Value
from ptxbench.report.tables.at_limits import notes_of


def success(sources: Sources) -> list[Table]:
    """Return one row per cell: trajectories, and those with a correct, a qualified and a tagged turn below each limit."""
    return [_of_group(group) for group in comparable(sources.frame, ("checkpoint",))]


def _of_group(group: Group) -> Table:
    at = {(row["cell"], row["k"]): row for row in by_limit(group.frame).rows(named=True)}
    rows = []
    for cell in group.cells:
        each = [at[cell["cell"], k] for k in LIMITS]
        qualified = tuple(row["trajectories_qualified"] if cell["target"] else None for row in each)
        rows.append(
            Line(
                values={
                    "model": cell["model_label"],
                    "task": cell["task_label"],
                    "trajectories": each[-1]["trajectories"],
                    "trajectories_correct": Pair(
                        target=qualified,
                        unrestricted=tuple(row["trajectories_correct"] for row in each),
                        unproven=tuple(row["unknown_proofs"] for row in each),
                    ),
                    "trajectories_tagged": Pair(target=None, unrestricted=tuple(row["trajectories_tagged"] for row in each)),
                }
            )
        )
    beside = Published(group)
    published = _published(group, beside)
    return Table(
        kind="success",
        title="Trajectories with a success",
        facts=group.facts,
        columns=(
            Column(key="model", title="model"),
            Column(key="task", title="task"),
            Column(key="trajectories", title="trajectories", format="count"),
            Column.of(
                "trajectories_correct",
                "with a success",
                "count",
                "trajectories_correct",
                "trajectories_qualified",
                limits=LIMITS,
            ),
            Column.of("trajectories_tagged", "tagged in source", "count", "trajectories_tagged", limits=LIMITS),
        ),
        rows=tuple(rows),
        published=published,
        notes=(*notes_of(group.frame), *beside.notes("", bool(published))),
    )


def _published(group: Group, beside: Published) -> tuple[Line, ...]:
    """Return published counts of trajectories whose target instructions executed, by the rule of their source."""
    lines = []
    tasks = dict(sorted({cell["task_label"]: cell["task"] for cell in group.cells}.items()))
    for label, task in tasks.items():
        for one in beside.of("trajectories_correct", task, group.facts["language"]):
            values: dict[str, Value] = {"model": one.model, "task": label, "trajectories": one.of}
            lines.append(Line(values=values | {"trajectories_correct": pair_of(one, LIMITS)}, source=place_of(one)))
    return tuple(lines)
