"""Whole trajectories: the best of each, what it cost, and the medians by which harnesses are compared."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ptxbench.core.errors import UsageError
from ptxbench.metrics.frame import KEY, NOT_REACHED, TurnFrame
from ptxbench.metrics.undecided import decided

TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens", "total_tokens")
COSTS = (*TOKENS, "cost_usd", "gpu_seconds")
"""What a trajectory takes; null as soon as one of its turns does not say, since a part would pass for the whole."""


def trajectories(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per trajectory (``cell``, ``path``, ``trajectory``, ``variant``) with its best speedups and ``COSTS``.

    ``best_speedup`` and ``target_best_speedup`` are the largest trusted ones of its correct (qualified) turns, and 0 where there
    is none; null where nothing was decided, or no target instructions are asked for. ``n`` counts turns, not reached ones too.
    """
    best = {
        "best_speedup": pl.col("speedup").max().fill_null(0.0),
        "target_best_speedup": pl.when("qualified").then("speedup").max().fill_null(0.0),
    }
    reached = pl.col("outcome") != NOT_REACHED
    known = decided(frame.turns, "path").with_columns(pl.lit(True).alias("known"))
    table = (
        frame.turns.lazy()
        .group_by("path")
        .agg(
            pl.col("cell", "trajectory", "variant").first(),
            pl.len().cast(pl.Int64).alias("n"),
            *(pl.col(name).sum().cast(pl.Int64) for name in ("correct", "qualified", "tagged")),
            *(value.alias(name) for name, value in best.items()),
            *(pl.when((pl.col(name).is_null() & reached).any().not_()).then(pl.col(name).sum()).alias(name) for name in COSTS),
        )
        .join(known.lazy(), on="path", how="left")
        .join(frame.cells.lazy().select("cell", "target"), on="cell", how="left")
    )
    return (
        table.with_columns(
            pl.when("known").then("best_speedup").alias("best_speedup"),
            pl.when(pl.col("known") & pl.col("target")).then("target_best_speedup").alias("target_best_speedup"),
        )
        .sort("path")
        .select("cell", pl.exclude("cell", "known", "target"))
        .collect()
    )


def trajectory_medians(paths: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cell of a table of ``trajectories``: the medians over its trajectories.

    ``median_best_speedup``, ``median_target_best_speedup`` (a trajectory without success counts as 0) and ``median_`` of each of
    ``COSTS`` (over the trajectories that know it). ``trajectories`` of them there are; ``tokens_known`` know their total tokens.
    """
    medians = [pl.col(name).median().alias(f"median_{name}") for name in ("best_speedup", "target_best_speedup", *COSTS)]
    counts = [pl.len().cast(pl.Int64).alias("trajectories"), pl.col("total_tokens").count().cast(pl.Int64).alias("tokens_known")]
    return paths.lazy().group_by("cell").agg(*counts, *medians).sort("cell").collect()


def token_multiples(
    frame: TurnFrame, base: pl.Expr, *, besides: Sequence[str] = ("harness", "run"), tokens: str = "total_tokens"
) -> pl.DataFrame:
    """Return how many times the median tokens of its base each cell took: ``cell``, ``base``, ``multiple``.

    ``base`` is a predicate over ``frame.cells`` that picks the cells to compare with; a cell's base is the one that equals it in
    every column of ``KEY`` but ``besides``. ``multiple`` is a ratio of medians over trajectories, null where either is unknown.
    Raises ``UsageError`` when a cell has more than one base.
    """
    match = [name for name in KEY if name not in besides]
    median = trajectory_medians(trajectories(frame)).select("cell", pl.col(f"median_{tokens}").alias("median"))
    cells = frame.cells.select("cell", *match).join(median, on="cell", how="left")
    bases = frame.cells.filter(base).select("cell")
    of = cells.join(bases, on="cell", how="anti")
    against = cells.join(bases, on="cell", how="semi").rename({"cell": "base", "median": "base_median"})
    several = against.group_by(match).len().filter(pl.col("len") > 1)
    if several.height:
        tasks = ", ".join(sorted(set(several.get_column("task"))))
        raise UsageError(f"more than one base to compare with for {tasks}", next_step="name one run per workload as the base")
    ratio = pl.when(pl.col("base_median") > 0).then(pl.col("median") / pl.col("base_median"))
    return of.join(against, on=match, how="inner", nulls_equal=True).select("cell", "base", ratio.alias("multiple")).sort("cell")
