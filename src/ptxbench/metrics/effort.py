"""What it takes until the first correct, the first proven and the first gate-passing kernel: tokens, GPU seconds, money."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.running import first_turns, least, none_before, total

GOALS = ("correct", "proven", "gate_passing")
"""A kernel that is correct; whose target instructions executed as well; that is correct and passed the equivalence gate."""

MEANS = ("total_tokens", "gpu_seconds", "cost_usd")
"""What is spent on the way."""


def effort_of_trajectories(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per trajectory and ``goal``: ``first``, the turn that reached it (null where none did), and ``MEANS``.

    ``MEANS`` are what the trajectory spent up to and with that turn, or in all where no turn reached the goal; null where a turn
    of these does not say.
    """
    return pl.concat(_by_goal(frame)).sort("path", "goal")


def effort_to_first(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per cell and ``goal``: ``reached`` of ``trajectories``, and for each of ``MEANS`` two figures.

    ``reached`` is null where nothing was put to the goal: no turn of the cell through the gate, or no target instructions to prove.
    ``median_*`` is over the trajectories that reached the goal: what a success took. ``per_success_*`` is all that was spent
    before a trajectory's first success, by those that never had one too, over the number of successes: what to expect when one
    starts again until it works. Both are null without a success, and where what was spent is not known of one that counts.
    """
    asked = (
        frame.turns.lazy()
        .group_by("cell")
        .agg(pl.col("gate_passed").is_not_null().any().alias("gated"))
        .join(frame.cells.lazy().select("cell", "target"), on="cell")
    )
    put_to = pl.when(goal="proven").then("target").when(goal="gate_passing").then("gated").otherwise(True)
    return (
        pl.concat([_summary(paths) for paths in _by_goal(frame)])
        .lazy()
        .join(asked, on="cell")
        .with_columns(pl.when(put_to).then("reached").alias("reached"))
        .drop("gated", "target")
        .sort("cell", "goal")
        .collect()
    )


def _summary(paths: pl.DataFrame) -> pl.DataFrame:
    """Return one goal's rows of ``effort_to_first``."""
    hit = pl.col("first").is_not_null()
    taken = {name: f"taken_{name}" for name in MEANS}
    figures = []
    for name, to in taken.items():
        known = (pl.col(to).count() == pl.col("first").count()) & hit.any()
        figures.append(pl.when(known).then(pl.col(to).median()).alias(f"median_{name}"))
        complete = (pl.col(name).null_count() == 0) & hit.any()
        figures.append(pl.when(complete).then(pl.col(name).sum() / pl.col("first").count()).alias(f"per_success_{name}"))
    counts = [pl.len().cast(pl.Int64).alias("trajectories"), pl.col("first").count().cast(pl.Int64).alias("reached")]
    turn = pl.col("first").median().alias("median_turn")
    return (
        paths.lazy()
        .with_columns(pl.when(hit).then(name).alias(to) for name, to in taken.items())
        .group_by("cell")
        .agg(pl.col("goal").first(), *counts, turn, *figures)
        .collect()
    )


def _by_goal(frame: TurnFrame) -> list[pl.DataFrame]:
    """Return the rows of ``effort_of_trajectories``, a table for each of ``GOALS``."""
    turns = frame.turns
    begins = first_turns(turns)
    passed = turns.select((pl.col("correct") & pl.col("gate_passed")).fill_null(False)).to_series()
    hits = dict(zip(GOALS, (turns.get_column("correct"), turns.get_column("qualified"), passed), strict=True))
    places = turns.select("cell", "path")[begins].with_columns(pl.col("cell").set_sorted())
    return [places.with_columns(_until(turns, begins, goal, hit)) for goal, hit in hits.items()]


def _until(turns: pl.DataFrame, begins: NDArray[np.intp], goal: str, hit: pl.Series) -> list[pl.Series]:
    """Return a goal's columns of ``effort_of_trajectories``."""
    leads = none_before(turns, hit)
    index = pl.select(pl.when(hit).then(turns.get_column("turn"))).to_series()
    columns = [pl.Series("goal", [goal], pl.Enum(GOALS)).new_from_index(0, len(begins)), least(index, begins).alias("first")]
    return columns + [total(turns.get_column(name), leads, begins) for name in MEANS]
