"""95 % intervals of rates at turn limits, which published tables do not have."""

from __future__ import annotations

from ptxbench.metrics.intervals import intervals_by_limit
from ptxbench.metrics.limits import LIMITS
from ptxbench.report.groups import Group, comparable
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Pair, Table, Value
from ptxbench.report.tables.at_limits import AtLimits, notes_of

ENDS: tuple[tuple[str, str], ...] = (("low", "from"), ("high", "to"))


def intervals(sources: Sources) -> list[Table]:
    """Return one row per cell: correct turns and the ends of their interval at each limit."""
    return [_of_group(group) for group in comparable(sources.frame, ("checkpoint",))]


def _of_group(group: Group) -> Table:
    at = AtLimits(group.frame)
    ends = {(row["cell"], row["k"], row["figure"]): row for row in intervals_by_limit(group.frame).rows(named=True)}
    rows = []
    for cell in group.cells:
        values: dict[str, Value] = {"model": cell["model_label"], "task": cell["task_label"]}
        values["turn_correctness"] = at.pair(cell["cell"], "turn_correctness")
        for end, _ in ENDS:
            target, unrestricted = (
                tuple(ends.get((cell["cell"], k, figure), {}).get(end) for k in LIMITS)
                for figure in ("target_turn_correctness", "turn_correctness")
            )
            values[end] = Pair(target=target, unrestricted=unrestricted)
        rows.append(Line(values=values))
    metrics = ("turn_correctness", "target_turn_correctness")
    return Table(
        kind="intervals",
        title="Correct turns and their 95 % intervals",
        facts=group.facts,
        columns=(
            Column(key="model", title="model"),
            Column(key="task", title="task"),
            Column.of("turn_correctness", "correct turns", "percent", *metrics, limits=LIMITS),
            *(Column.of(end, f"interval {word}", "percent", *metrics, "ci95", limits=LIMITS) for end, word in ENDS),
        ),
        rows=tuple(rows),
        notes=notes_of(group.frame),
    )
