"""What is reached within a number of tokens, so that harnesses of unequal appetite can be compared at equal expense."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.running import spent_so_far
from ptxbench.metrics.undecided import decided


def at_budgets(frame: TurnFrame, budgets: Sequence[int], tokens: str = "total_tokens") -> pl.DataFrame:
    """Return one row per cell and ``budget`` of tokens (``tokens``: a column of turns) that each trajectory may use.

    A turn is inside when all tokens of its trajectory, its own included, are at most the budget. ``trajectories_correct`` and
    ``trajectories_qualified`` of ``trajectories`` have such a turn inside; ``success`` and ``target_success`` are their shares.
    ``median_best_speedup`` and ``median_target_best_speedup`` are over all trajectories, 0 for those without one. From the first
    turn whose tokens are unknown, a trajectory is outside every budget: it counts among ``tokens_unknown`` as well, and shares are
    lower bounds. Target figures are null where an architecture has no target instructions, and all where nothing could be
    decided or no turn's tokens are known.
    """
    spent = frame.turns.with_columns(spent_so_far(frame.turns, tokens).alias("spent")).lazy()
    steps = [_at(frame, spent, budget) for budget in budgets]
    return pl.concat(steps).sort("cell", "budget") if steps else _at(frame, spent, 0).clear()


def budget_steps(frame: TurnFrame, most: int = 200, tokens: str = "total_tokens") -> list[int]:
    """Return budgets at which an outcome can change, for a curve: at most ``most`` of them, spread evenly over their ranks."""
    reached = spent_so_far(frame.turns, tokens).filter(frame.turns.get_column("correct")).drop_nulls().unique().sort()
    if reached.len() <= most:
        return reached.to_list()
    return reached.gather([round(index * (reached.len() - 1) / (most - 1)) for index in range(most)]).unique().sort().to_list()


def _at(frame: TurnFrame, spent: pl.LazyFrame, budget: int) -> pl.DataFrame:
    inside = (pl.col("spent") <= budget).fill_null(False)
    paths = spent.group_by("path").agg(
        pl.col("cell").first(),
        (inside & pl.col("correct")).any().alias("correct"),
        (inside & pl.col("qualified")).any().alias("qualified"),
        pl.when(inside).then("speedup").max().fill_null(0.0).alias("best"),
        pl.when(inside & pl.col("qualified")).then("speedup").max().fill_null(0.0).alias("target_best"),
        pl.col("spent").is_null().any().alias("unknown"),
        pl.col("spent").is_not_null().any().alias("told"),
    )
    known, target = pl.col("known") & pl.col("told"), pl.col("target")
    count = pl.col("trajectories")
    return (
        paths.group_by("cell")
        .agg(
            pl.len().cast(pl.Int64).alias("trajectories"),
            pl.col("unknown").sum().cast(pl.Int64).alias("tokens_unknown"),
            pl.col("told").any(),
            pl.col("correct").sum().cast(pl.Int64).alias("trajectories_correct"),
            pl.col("qualified").sum().cast(pl.Int64).alias("trajectories_qualified"),
            pl.col("best").median().alias("median_best_speedup"),
            pl.col("target_best").median().alias("median_target_best_speedup"),
        )
        .join(frame.cells.lazy().select("cell", "target"), on="cell", how="left")
        .join(decided(frame.turns).lazy().with_columns(known=True), on="cell", how="left")
        .with_columns(
            pl.lit(budget, pl.Int64).alias("budget"),
            pl.when(known).then(pl.col("trajectories_correct") / count).alias("success"),
            pl.when(known & target).then(pl.col("trajectories_qualified") / count).alias("target_success"),
            pl.when(known).then("median_best_speedup").alias("median_best_speedup"),
            pl.when(known & target).then("median_target_best_speedup").alias("median_target_best_speedup"),
        )
        .select(
            *("cell", "budget", "trajectories", "tokens_unknown", "trajectories_correct", "trajectories_qualified"),
            *("success", "target_success", "median_best_speedup", "median_target_best_speedup"),
        )
        .collect()
    )
