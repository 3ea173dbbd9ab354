"""How a search goes: outcomes, correct kernels and reasoning tokens at each turn (the paper's Figures 7 and 9 in numbers)."""

from __future__ import annotations

from collections import defaultdict

from ptxbench.metrics.by_turn import kernels_by_turn, outcomes_by_turn, reasoning_by_turn
from ptxbench.metrics.frame import OUTCOMES
from ptxbench.report.groups import Group, comparable
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Table, Value
from ptxbench.report.tables.at_limits import notes_of


def search(sources: Sources) -> list[Table]:
    """Return one row per cell and turn index."""
    return [_of_group(group) for group in comparable(sources.frame, ("checkpoint",))]


def _of_group(group: Group) -> Table:
    outcomes: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for row in outcomes_by_turn(group.frame).rows(named=True):
        outcomes[row["cell"], row["turn"]][row["outcome"]] = row["turns"]
    seen = [name for name in OUTCOMES if any(name in counted for counted in outcomes.values())]
    reasoning = {(row["cell"], row["turn"]): row for row in reasoning_by_turn(group.frame).rows(named=True)}
    cells = {cell["cell"]: cell for cell in group.cells}
    rows = []
    for row in kernels_by_turn(group.frame).rows(named=True):
        place = row["cell"], row["turn"]
        cell = cells[row["cell"]]
        values: dict[str, Value] = {"model": cell["model_label"], "task": cell["task_label"], "turn": row["turn"], "n": row["n"]}
        values |= {name: outcomes[place].get(name, 0) for name in seen}
        values["qualified"] = row["qualified"] if cell["target"] else None
        values |= {"reasoning_mean": reasoning[place]["mean"], "reasoning_median": reasoning[place]["median"]}
        rows.append(Line(values=values))
    return Table(
        kind="search",
        title="The search, turn by turn",
        facts=group.facts,
        columns=(
            Column(key="model", title="model"),
            Column(key="task", title="task"),
            Column(key="turn", title="turn", format="count"),
            Column(key="n", title="N", format="count", unit="turns"),
            *(Column.of(name, name.replace("_", " "), "count", "share", unit="turns") for name in seen),
            Column.of("qualified", "qualified", "count", "correct_by_turn", unit="turns"),
            Column.of("reasoning_mean", "reasoning tokens, mean", "number", "reasoning_tokens", unit="tokens"),
            Column.of("reasoning_median", "reasoning tokens, median", "number", "reasoning_tokens", unit="tokens"),
        ),
        rows=tuple(rows),
        notes=notes_of(group.frame),
    )
