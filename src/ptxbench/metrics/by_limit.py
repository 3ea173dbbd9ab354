"""Every cell's numbers at turn limits: numerator and denominator use turns with an index below k only (protocol section 7)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ptxbench.metrics.frame import NOT_REACHED, UNDECIDED, TurnFrame
from ptxbench.metrics.limits import LIMITS

COUNTS = ("n", "correct", "qualified", "tagged", "unknown_proofs", "undecided", "not_reached")
"""Numbers of turns. ``n`` holds all others; ``unknown_proofs`` are correct turns, outside the numerator of target figures."""

SUCCESSES = ("trajectories", "trajectories_correct", "trajectories_qualified", "trajectories_tagged")
"""Numbers of trajectories: all, and those with such a turn below k. ``tagged`` is what published tables read from source."""

RATES = ("turn_correctness", "target_turn_correctness")
SPEEDUPS = ("best_speedup", "target_best_speedup", "median_speedup", "target_median_speedup")


def by_limit(frame: TurnFrame, limits: Sequence[int] = LIMITS) -> pl.DataFrame:
    """Return one row per cell and limit ``k``: ``COUNTS``, ``SUCCESSES``, rates, best and median speedups.

    ``turn_correctness`` = correct / n and ``target_turn_correctness`` = qualified / n pool prompt variants; both are null where
    nothing could be decided, and the target figures of cells without target instructions are null. Best and median speedups
    are null where no correct (qualified) turn has a trusted latency.
    """
    return pl.concat([_at(frame, k) for k in limits]).sort("cell", "k", maintain_order=True)


def _at(frame: TurnFrame, k: int) -> pl.DataFrame:
    target_speedup = pl.when("qualified").then("speedup").alias("target_speedup")
    inside = frame.turns.lazy().filter(pl.col("turn") < k).with_columns(target_speedup)
    outcomes = pl.col("outcome")
    turns = inside.group_by("cell").agg(
        pl.len().alias("n"),
        *(pl.col(name).sum() for name in ("correct", "qualified", "tagged")),
        pl.col("unproven").sum().alias("unknown_proofs"),
        (outcomes == UNDECIDED).sum().alias("undecided"),
        (outcomes == NOT_REACHED).sum().alias("not_reached"),
        pl.col("speedup").max().alias("best_speedup"),
        pl.col("target_speedup").max().alias("target_best_speedup"),
        pl.col("speedup").median().alias("median_speedup"),
        pl.col("target_speedup").median().alias("target_median_speedup"),
    )
    successes = (
        inside.group_by("path")
        .agg(
            pl.col("cell").first(),
            *(pl.col(name).any().alias(f"trajectories_{name}") for name in ("correct", "qualified", "tagged")),
        )
        .group_by("cell")
        .agg(pl.len().alias("trajectories"), *(pl.col(name).sum() for name in SUCCESSES[1:]))
    )
    counts = [pl.col(name).fill_null(0).cast(pl.Int64) for name in (*COUNTS, *SUCCESSES)]
    evaluated = pl.col("n") - pl.col("not_reached")
    decided = (pl.col("undecided") < evaluated) | ((evaluated == 0) & (pl.col("n") > 0))
    return (
        frame.cells.lazy()
        .select("cell", "target")
        .join(turns, on="cell", how="left")
        .join(successes, on="cell", how="left")
        .with_columns(*counts, pl.lit(k, pl.Int32).alias("k"))
        .with_columns(
            pl.when(decided).then(pl.col("correct") / pl.col("n")).alias("turn_correctness"),
            pl.when(decided & pl.col("target")).then(pl.col("qualified") / pl.col("n")).alias("target_turn_correctness"),
        )
        .select("cell", "k", *COUNTS, *SUCCESSES, *RATES, *SPEEDUPS)
        .collect()
    )
