"""How a search goes, turn by turn: outcomes, correct kernels and reasoning tokens at each turn index."""

from __future__ import annotations

import polars as pl

from ptxbench.metrics.frame import OUTCOMES, TurnFrame
from ptxbench.metrics.ranks import in_order, quantile

QUANTILES = {"median": 0.5, "low": 0.25, "high": 0.75}


def outcomes_by_turn(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per cell, turn index and outcome that occurred: ``turns`` with it, and their ``share`` of that index's."""
    place = _place(frame)
    code = (place * len(OUTCOMES) + pl.col("outcome").to_physical()).alias("code")
    return (
        frame.turns.lazy()
        .group_by(code)
        .agg(pl.col("cell", "turn", "outcome").first(), pl.len().cast(pl.Int64).alias("turns"))
        .sort("code")
        .select("cell", "turn", "outcome", "turns", (pl.col("turns") / pl.col("turns").sum().over(place)).alias("share"))
        .collect()
    )


def kernels_by_turn(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per cell and turn index: ``n`` turns, of which ``correct``, ``qualified`` and ``tagged``."""
    counts = [pl.col(name).sum().cast(pl.Int64) for name in ("correct", "qualified", "tagged")]
    every = [pl.col("cell", "turn").first(), pl.len().cast(pl.Int64).alias("n")]
    return frame.turns.lazy().group_by(_place(frame)).agg(*every, *counts).sort("place").drop("place").collect()


def reasoning_by_turn(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per cell and turn index: the reasoning tokens of its turns, ``known`` of ``n``.

    ``mean``, ``median``, ``low`` and ``high`` (quartiles, linear between ranks) are over the turns whose provider named a count,
    and null where none did.
    """
    tokens = pl.col("reasoning_tokens")
    place = _place(frame)
    counts = (
        frame.turns.lazy()
        .group_by(place)
        .agg(
            pl.col("cell", "turn").first(),
            pl.len().cast(pl.Int64).alias("n"),
            tokens.count().cast(pl.Int64).alias("known"),
            tokens.mean().alias("mean"),
        )
        .sort("place")
        .collect()
    )
    known = frame.turns.lazy().select(place, tokens).drop_nulls().collect()
    ordered = in_order(known.get_column("place"), known.get_column("reasoning_tokens"))
    sizes = counts.get_column("known").to_numpy()
    quantiles = [quantile(ordered, sizes, level).alias(name) for name, level in QUANTILES.items()]
    return counts.drop("place").with_columns(quantiles)


def _place(frame: TurnFrame) -> pl.Expr:
    """Return cell and turn index as one number, in their order: grouping by one column is faster."""
    width: int = frame.turns.select(pl.col("turn").max().fill_null(0).cast(pl.Int64) + 1).item()
    cell = pl.col("cell").cast(pl.Int64)
    return (cell * width + pl.col("turn")).alias("place")
