"""Figures of cells at turn limits, as the pairs and columns that several tables have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.intervals import intervals_by_limit
from ptxbench.metrics.limits import LIMITS
from ptxbench.report.table import Column, Format, Pair

FORMS: dict[str, tuple[str, Format]] = {
    "turn_correctness": ("correct turns", "percent"),
    "best_speedup": ("best speedup", "speedup"),
    "median_speedup": ("typical speedup", "speedup"),
}
"""Titles and formats of figures that come with and without target instructions."""


class AtLimits:
    """The figures of a frame's cells at turn limits."""

    def __init__(self, frame: TurnFrame, limits: Sequence[int] = LIMITS) -> None:
        self.limits = tuple(limits)
        self._by_cell: dict[int, dict[int, dict[str, Any]]] = {}
        for row in by_limit(frame, limits).rows(named=True):
            self._by_cell.setdefault(row["cell"], {})[row["k"]] = row
        self._intervals: dict[tuple[int, int, str], tuple[float, float]] = {
            (row["cell"], row["k"], row["figure"]): (row["low"], row["high"])
            for row in intervals_by_limit(frame, limits).rows(named=True)
            if row["low"] is not None
        }

    def pair(self, cell: int, metric: str, limits: Sequence[int] | None = None) -> Pair:
        """Return a figure of a cell and its target form."""
        at = tuple(limits or self.limits)
        rows = [self._by_cell[cell][k] for k in at]
        is_rate = metric == "turn_correctness"
        return Pair(
            target=tuple(row[f"target_{metric}"] for row in rows),
            unrestricted=tuple(row[metric] for row in rows),
            undecided=tuple(row["undecided"] for row in rows) if is_rate else (),
            unproven=tuple(row["unknown_proofs"] for row in rows) if is_rate else (),
            target_ci95=tuple(self._intervals.get((cell, k, f"target_{metric}")) for k in at) if is_rate else (),
            ci95=tuple(self._intervals.get((cell, k, metric)) for k in at) if is_rate else (),
        )

    def count(self, cell: int, name: str) -> int:
        """Return a count of a cell at the last limit."""
        return int(self._by_cell[cell][self.limits[-1]][name])


def column(key: str, metric: str, title: str | None = None, limits: Sequence[int] = LIMITS) -> Column:
    """Return the column of a figure and its target form."""
    name, format = FORMS[metric]
    return Column.of(key, title or name, format, metric, f"target_{metric}", limits=tuple(limits) if len(limits) > 1 else ())


def of_variant(frame: TurnFrame, variant: str | None) -> TurnFrame:
    """Return a frame with the turns of one prompt variant only."""
    return TurnFrame(frame.cells, frame.turns.filter(pl.col("variant").eq_missing(pl.lit(variant, pl.String()))))


def notes_of(frame: TurnFrame) -> tuple[str, ...]:
    """Return what a reader must know of these turns: what is not decided, not proven, not there."""
    counted = frame.turns.select(
        pl.col("unproven").sum(),
        (pl.col("outcome") == "undecided").sum().alias("undecided"),
        (pl.col("outcome") == "not_reached").sum().alias("not_reached"),
        pl.len().alias("held"),
    ).row(0, named=True)
    planned = int(frame.cells.get_column("n_planned").sum())
    lines = []
    if counted["undecided"]:
        lines.append(f"{_turns(counted['undecided'])} not decided where the run was made: in N; a rate with ≥ counts none of them.")
    if counted["unproven"]:
        lines.append(
            f"{_turns(counted['unproven'])} correct, proof unknown: in N, and in no target figure, which they could raise (≥)."
        )
    if counted["not_reached"]:
        lines.append(f"{_turns(counted['not_reached'])} not reached (full context): in N, not correct.")
    if counted["held"] < planned:
        lines.append(f"Incomplete: {counted['held']} of {planned} planned turns.")
    return tuple(lines)


def turns_that_could_raise(frame: TurnFrame) -> dict[int, tuple[int, int]]:
    """Return for each cell how many of all its turns are undecided, and how many correct ones are unproven."""
    undecided = (pl.col("outcome") == "undecided").sum().alias("undecided")
    rows = frame.turns.group_by("cell").agg(undecided, pl.col("unproven").sum()).rows()
    return {cell: (undecided, unproven) for cell, undecided, unproven in rows}


def notes_on_curves(frame: TurnFrame) -> tuple[str, ...]:
    """Return what a reader must know of Fast_p beside ``notes_of``: which turns it is of, when that differs from those of rates."""
    longest = frame.turns.select(pl.col("turn").max()).item()
    if longest is None or longest < LIMITS[-1]:
        return ()
    return (f"Fast_p is of all turns, up to {longest + 1} of a trajectory; rates are of the first {LIMITS[-1]} at most.",)


def _turns(count: int) -> str:
    return f"{count} turn{'' if count == 1 else 's'}"
