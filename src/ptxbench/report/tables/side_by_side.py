"""Tables that set one part of the key side by side on each workload: languages, recipes, conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxbench.metrics.limits import LIMITS
from ptxbench.report.groups import Group, comparable
from ptxbench.report.reference import AT, Published, pair_of, place_of
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Table, Value
from ptxbench.report.tables.at_limits import AtLimits, column, notes_of


@dataclass(frozen=True)
class Comparison:
    """What a table compares."""

    kind: str
    title: str
    compares: tuple[str, ...]
    """Parts of the key that may differ within a table, beside those that name rows."""
    columns: tuple[tuple[str, str], ...]
    """Parts of the key that are columns, with their titles, between task and figures."""
    apart: tuple[str, ...]
    """Parts of the key of which cells must differ in one for there to be something to compare."""


def side_by_side(sources: Sources, comparison: Comparison) -> list[Table]:
    """Return a table for each group of comparable cells that has something to set side by side."""
    groups = comparable(sources.frame, comparison.compares)
    return [_of_group(group, comparison) for group in groups if is_compared(group, comparison.apart)]


def is_compared(group: Group, names: Sequence[str]) -> bool:
    """Whether the cells of a group differ in any of these parts of the key."""
    return group.frame.cells.select(names).unique().height > 1


def _of_group(group: Group, comparison: Comparison) -> Table:
    at = AtLimits(group.frame)
    names = [name for name, _ in comparison.columns]
    cells = sorted(group.cells, key=lambda cell: (cell["task_label"], *(cell[name] or "" for name in names), cell["cell"]))
    rows = []
    for cell in cells:
        values: dict[str, Value] = {"task": cell["task_label"], "model": cell["model_label"]}
        values |= {name: cell[name] or "none" for name in names}
        values |= {
            "n": at.count(cell["cell"], "n"),
            "turn_correctness": at.pair(cell["cell"], "turn_correctness"),
            "best_speedup": at.pair(cell["cell"], "best_speedup"),
            "median_speedup": at.pair(cell["cell"], "median_speedup", (AT,)),
        }
        rows.append(Line(values=values))
    beside = Published(group)
    published = _published(group, beside) if "language" in names else ()
    return Table(
        kind=comparison.kind,
        title=comparison.title,
        facts=group.facts,
        columns=(
            Column(key="task", title="task"),
            Column(key="model", title="model"),
            *(Column(key=name, title=title) for name, title in comparison.columns),
            Column(key="n", title="N", format="count", unit="turns"),
            column("turn_correctness", "turn_correctness"),
            column("best_speedup", "best_speedup"),
            column("median_speedup", "median_speedup", limits=(AT,)),
        ),
        rows=tuple(rows),
        published=published,
        notes=(*notes_of(group.frame), *beside.notes("best_speedup" if published else "", bool(published))),
    )


def _published(group: Group, beside: Published) -> tuple[Line, ...]:
    """Return what was published of the group's tasks in each of its languages."""
    lines = []
    for task, language in group.frame.cells.select("task", "language").unique().sort("task", "language").rows():
        for one in beside.of("best_speedup", task, language):
            values: dict[str, Value] = {"task": task, "model": one.model, "language": language}
            lines.append(Line(values=values | {"best_speedup": pair_of(one, LIMITS)}, source=place_of(one)))
    return tuple(lines)


BY_LANGUAGE = ("language", "pack")
"""What changes with the language: each has a pack of its own. Arm and condition do not."""

LANGUAGES = Comparison("languages", "CUDA-PTX beside other languages", BY_LANGUAGE, (("language", "language"),), ("language",))
RECIPES = Comparison("recipes", "Recipes", ("checkpoint",), (), ("model", "checkpoint"))
CONDITIONS = Comparison(
    "conditions", "Guidance and retrieval", ("condition", "checkpoint"), (("condition", "condition"),), ("condition",)
)


def languages(sources: Sources) -> list[Table]:
    """Return correctness and speedups of languages on each workload (the paper's Figures 3, 8 and 13 in numbers)."""
    return side_by_side(sources, LANGUAGES)


def recipes(sources: Sources) -> list[Table]:
    """Return correctness and speedups of models and checkpoints, a workload at a time (the paper's Figures 4 to 6 in numbers)."""
    return side_by_side(sources, RECIPES)


def conditions(sources: Sources) -> list[Table]:
    """Return correctness and speedups under each condition (the paper's Tables 5 and 10)."""
    return side_by_side(sources, CONDITIONS)
