"""How a search goes, turn by turn: outcomes, correct kernels and reasoning tokens at each turn index."""

from __future__ import annotations

import polars as pl

from ptxbench.metrics.frame import TurnFrame


def outcomes_by_turn(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per cell, turn index and outcome that occurred: ``turns`` with it, and their ``share`` of that index's."""
    return (
        frame.turns.lazy()
        .group_by("cell", "turn", "outcome")
        .agg(pl.len().cast(pl.Int64).alias("turns"))
        .sort("cell", "turn", "outcome")
        .with_columns((pl.col("turns") / pl.col("turns").sum().over("cell", "turn")).alias("share"))
        .collect()
    )


def kernels_by_turn(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per cell and turn index: ``n`` turns, of which ``correct``, ``qualified`` and ``tagged``."""
    counts = [pl.col(name).sum().cast(pl.Int64) for name in ("correct", "qualified", "tagged")]
    return (
        frame.turns.lazy().group_by("cell", "turn").agg(pl.len().cast(pl.Int64).alias("n"), *counts).sort("cell", "turn").collect()
    )


def reasoning_by_turn(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per cell and turn index: the reasoning tokens of its turns, ``known`` of ``n``.

    ``mean``, ``median``, ``low`` and ``high`` (quartiles, linear between ranks) are over the turns whose provider named a count,
    and null where none did.
    """
    tokens = pl.col("reasoning_tokens")
    return (
        frame.turns.lazy()
        .group_by("cell", "turn")
        .agg(
            pl.len().cast(pl.Int64).alias("n"),
            tokens.count().cast(pl.Int64).alias("known"),
            tokens.mean().alias("mean"),
            tokens.median().alias("median"),
            tokens.quantile(0.25, "linear").alias("low"),
            tokens.quantile(0.75, "linear").alias("high"),
        )
        .sort("cell", "turn")
        .collect()
    )
