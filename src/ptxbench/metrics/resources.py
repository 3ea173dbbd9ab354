"""Registers, spills and occupancy against outcome, forward beside backward."""

from __future__ import annotations

import polars as pl

from ptxbench.metrics.frame import TurnFrame


def direction(task: pl.Expr) -> pl.Expr:
    """Return ``backward``, ``forward`` or null from tasks' names: of attention, the one computes gradients and the other not."""
    part = r"(^|_)({})(_|$)"
    backward = task.str.contains(part.format("bwd|backward"))
    forward = task.str.contains(part.format("fwd|forward|mha|gqa|mqa|mla"))
    return pl.when(backward).then(pl.lit("backward")).when(forward).then(pl.lit("forward"))


def resources_by_outcome(frame: TurnFrame) -> pl.DataFrame:
    """Return one row per cell and outcome of turns that were compiled: ``direction``, and what the kernels use.

    ``turns`` of them there are; ``registers_known``, ``spill_known`` and ``occupancy_known`` say of how many each figure speaks.
    ``median_registers`` and ``max_registers`` are per thread, ``spilling`` counts turns that spill any byte,
    ``median_occupancy_percent`` is the measured one.
    """
    registers, spill, occupancy = pl.col("registers"), pl.col("spill_bytes"), pl.col("occupancy_percent")
    known = pl.any_horizontal(registers.is_not_null(), spill.is_not_null(), occupancy.is_not_null())
    return (
        frame.turns.lazy()
        .filter(known)
        .group_by("cell", "outcome")
        .agg(
            pl.len().cast(pl.Int64).alias("turns"),
            registers.count().cast(pl.Int64).alias("registers_known"),
            registers.median().alias("median_registers"),
            registers.max().alias("max_registers"),
            spill.count().cast(pl.Int64).alias("spill_known"),
            (spill > 0).sum().cast(pl.Int64).alias("spilling"),
            spill.median().alias("median_spill_bytes"),
            spill.max().alias("max_spill_bytes"),
            occupancy.count().cast(pl.Int64).alias("occupancy_known"),
            occupancy.median().alias("median_occupancy_percent"),
        )
        .join(frame.cells.lazy().select("cell", direction(pl.col("task")).alias("direction")), on="cell", how="left")
        .sort("cell", "outcome")
        .collect()
    )
