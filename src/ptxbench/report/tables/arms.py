"""Pack ablation: how much of a pack stands in the prompt, by prompt variant (the paper's Table 4)."""

from __future__ import annotations

from ptxbench.report.groups import Group, comparable
from ptxbench.report.reference import Published
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Table, Value
from ptxbench.report.tables.at_limits import AtLimits, column, notes_of, of_variant
from ptxbench.report.tables.side_by_side import is_compared

ORDER = ("parameters", "wrappers", "contracts", "representative")
"""Arms from little to much."""


NO_PACK = "no pack"
"""Stands for the arm of cells without a pack."""


def arms(sources: Sources) -> list[Table]:
    """Return one row per workload and arm: each prompt variant's correctness, pooled correctness and speedups."""
    return [_of_group(group) for group in comparable(sources.frame, ("arm", "pack")) if is_compared(group, ("arm", "pack"))]


def _of_group(group: Group) -> Table:
    pooled = AtLimits(group.frame)
    names = group.frame.turns.get_column("variant").unique().sort().to_list()
    variants = {name: AtLimits(of_variant(group.frame, name)) for name in names if name is not None}
    several = group.frame.cells.get_column("pack").drop_nulls().n_unique() > 1
    rows = []
    for cell in sorted(group.cells, key=_order):
        values: dict[str, Value] = {
            "task": cell["task_label"],
            "model": cell["model_label"],
            "arm": f"{cell['pack']}: {cell['arm']}" if several and cell["pack"] else cell["arm"] or NO_PACK,
            "n": pooled.count(cell["cell"], "n"),
            "turn_correctness": pooled.pair(cell["cell"], "turn_correctness"),
            "best_speedup": pooled.pair(cell["cell"], "best_speedup"),
            "median_speedup": pooled.pair(cell["cell"], "median_speedup", pooled.limits[-1:]),
        }
        for name, at in variants.items():
            if at.count(cell["cell"], "n"):
                values[f"turn_correctness of {name}"] = at.pair(cell["cell"], "turn_correctness", at.limits[-1:])
        rows.append(Line(values=values))
    last = pooled.limits[-1:]
    beside = Published(group)
    published = beside.arms(group.facts["language"], pooled.limits)
    return Table(
        kind="arms",
        title="Pack ablation: arms x prompt variants",
        facts=group.facts,
        columns=(
            Column(key="task", title="task"),
            Column(key="model", title="model"),
            Column(key="arm", title="arm"),
            Column(key="n", title="N", format="count", unit="turns"),
            column("turn_correctness", "turn_correctness", "correct turns, pooled"),
            *(column(f"turn_correctness of {name}", "turn_correctness", f"prompt {name}, ≤{last[0]}", last) for name in variants),
            column("best_speedup", "best_speedup"),
            column("median_speedup", "median_speedup", limits=last),
        ),
        rows=tuple(rows),
        published=published,
        notes=(*notes_of(group.frame), *beside.notes("", bool(published))),
    )


def rank_of(arm: str) -> int:
    """Return how much of a pack an arm is, among others; ``arm`` as tables name it."""
    name = arm.rpartition(": ")[2]
    return ORDER.index(name) if name in ORDER else -1 if name == NO_PACK else len(ORDER)


def _order(cell: dict[str, str | None]) -> tuple[str, str, int, str, str]:
    arm = cell["arm"] or NO_PACK
    return str(cell["task_label"]), str(cell["model_label"]), rank_of(arm), arm, cell["pack"] or ""
