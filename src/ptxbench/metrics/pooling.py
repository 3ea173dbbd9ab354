"""Pooling cells on request: over runs, tasks and workloads only, and never over what makes turns incomparable."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import polars as pl

from ptxbench.core.errors import UsageError
from ptxbench.metrics.frame import FLAT_COLUMNS, KEY, TurnFrame
from ptxbench.metrics.rows import MIXED_VERSIONS, STOP_RULE, Plan
from ptxbench.schema import CellKey

POOLABLE = ("run", "task", "workload")
"""Columns of ``KEY`` over which turns may be pooled (protocol section 9); the paper pools its GQA workloads."""

MEASURED = ("device_name", "baseline", "proof_method")
"""What must be equal where it was measured: a cell in which nothing was timed has no baseline, and fits any."""

COMPARABLE = (*MEASURED, "settings")
"""What must be equal beside the rest of ``KEY``."""


def pooled(frame: TurnFrame, over: Collection[str]) -> TurnFrame:
    """Return the frame with one cell for all that differ in columns of ``over`` alone; the column then names them all.

    Raises ``UsageError`` for a column that may not be pooled over, for cells that differ in what makes turns comparable, and for
    those of runs that are comparable with no other: they stopped early, or mix versions.
    """
    refused = sorted(set(over) - set(POOLABLE))
    if refused:
        raise UsageError(f"turns may not be pooled over {', '.join(refused)}", next_step=f"pool over {', '.join(POOLABLE)}")
    same = [name for name in KEY if name not in over]
    groups = frame.cells.group_by(same, maintain_order=True)
    _refuse_caveats(groups.agg("settings"))
    values = groups.agg(pl.col(MEASURED).drop_nulls().n_unique(), pl.col("settings").n_unique())
    apart = values.filter(pl.any_horizontal(pl.col(COMPARABLE) > 1))
    if apart.height:
        differing = [name for name in COMPARABLE if (apart.get_column(name) > 1).any()]
        raise UsageError(f"{apart.height} groups of cells differ in {', '.join(differing)} and may not be pooled")
    names = [pl.col(name).unique().sort().str.join(" + ").alias(f"all_{name}") for name in over]
    totals = groups.agg(pl.col("cell"), pl.col("n_planned").sum(), pl.col(COMPARABLE).drop_nulls().first(), *names)
    renamed = totals.with_columns(pl.col(f"all_{name}").alias(name) for name in over).select(*KEY, "cell", "n_planned", *COMPARABLE)
    label = pl.concat_str([pl.col(name) for name in POOLABLE if name in over] + [pl.col("trajectory")], separator="/")
    turns = frame.cells.select("cell", *over).join(frame.turns, on="cell", how="inner").with_columns(label.alias("trajectory"))
    flat = turns.drop(over).join(renamed.select("cell", *KEY).explode("cell"), on="cell", how="inner")
    return TurnFrame.from_flat(flat.select(*FLAT_COLUMNS), {_key(row): _plan(row) for row in renamed.to_dicts()})


def _refuse_caveats(groups: pl.DataFrame) -> None:
    """Raise ``UsageError`` where several cells would be pooled of which one is comparable with no other (protocol section 7)."""
    found = {name for texts in groups.get_column("settings") if len(texts) > 1 for text in texts for name in json.loads(text)}
    caveats = [name for name in (STOP_RULE, MIXED_VERSIONS) if name in found]
    if caveats:
        raise UsageError(f"turns of runs with {' and '.join(caveats)} are not comparable and may not be pooled")


def _key(row: dict[str, Any]) -> CellKey:
    return CellKey.model_validate({name: row[name] for name in KEY})


def _plan(row: dict[str, Any]) -> Plan:
    """Return a plan of as many turns as the pooled cells' plans have together, under their common conditions."""
    common = {name: row[name] for name in MEASURED} | {"settings": json.loads(row["settings"])}
    return Plan(variants=(None,), trajectories=1, turns=row["n_planned"], **common)
