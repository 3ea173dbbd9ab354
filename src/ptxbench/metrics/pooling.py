"""Pooling cells on request: over runs, tasks and workloads only, and never over what makes turns incomparable."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from ptxbench.core.errors import UsageError
from ptxbench.metrics.frame import FLAT_COLUMNS, KEY, TurnFrame

POOLABLE = ("run", "task", "workload")
"""Columns of ``KEY`` over which turns may be pooled (protocol section 9); the paper pools its GQA workloads."""

COMPARABLE = ("device_name", "baseline", "settings")
"""What must be equal beside the rest of ``KEY``."""


def pooled(frame: TurnFrame, over: Collection[str]) -> TurnFrame:
    """Return the frame with one cell for all that differ in columns of ``over`` alone; the column then names them all.

    Raises ``UsageError`` for a column that may not be pooled over, and for cells that differ in what makes turns comparable.
    """
    refused = sorted(set(over) - set(POOLABLE))
    if refused:
        raise UsageError(f"turns may not be pooled over {', '.join(refused)}", next_step=f"pool over {', '.join(POOLABLE)}")
    same = [name for name in KEY if name not in over]
    groups = frame.cells.group_by(same, maintain_order=True)
    apart = groups.agg(pl.col(COMPARABLE).n_unique()).filter(pl.any_horizontal(pl.col(COMPARABLE) > 1))
    if apart.height:
        differing = [name for name in COMPARABLE if (apart.get_column(name) > 1).any()]
        raise UsageError(f"{apart.height} groups of cells differ in {', '.join(differing)} and may not be pooled")
    names = [pl.col(name).unique().sort().str.join(" + ").alias(f"all_{name}") for name in over]
    totals = groups.agg(pl.col("cell"), pl.col("n_planned").sum(), *(pl.col(name).first() for name in COMPARABLE), *names)
    of_cell = totals.explode("cell").select("cell", *(f"all_{name}" for name in over))
    label = pl.concat_str([pl.col(name) for name in POOLABLE if name in over] + [pl.col("trajectory")], separator="/")
    flat = frame.cells.join(frame.turns, on="cell", how="inner").join(of_cell, on="cell", how="inner")
    flat = flat.with_columns(label.alias("trajectory")).with_columns(pl.col(f"all_{name}").alias(name) for name in over)
    made = TurnFrame.from_flat(flat.select(*FLAT_COLUMNS))
    known = totals.select(*same, *(pl.col(f"all_{name}").alias(name) for name in over), "n_planned", *COMPARABLE)
    cells = made.cells.select("cell", *KEY, "target").join(known, on=KEY, how="left", nulls_equal=True, maintain_order="left")
    return TurnFrame(cells.select(frame.cells.columns), made.turns)
