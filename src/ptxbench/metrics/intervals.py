"""Confidence intervals of a frame's figures: 95 %, by bootstrap over trajectories (``bootstrap``).

Cells with fewer than two trajectories have none: from one, no spread can be seen. Largest speedups have none either: the
bootstrap of a maximum says little (it never draws more than was seen). The spread between prompt variants is in no interval:
it is the band of the curves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from ptxbench.metrics.bootstrap import median_intervals, rate_intervals
from ptxbench.metrics.curves import HIT, Hits
from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.limits import LIMITS
from ptxbench.metrics.undecided import decided

ENDS = {"low": pl.Float64(), "high": pl.Float64()}

ASK_FOR_TARGET = ("target_turn_correctness", "target_success", "fast_p_inst")
"""Figures that cells without target instructions do not have."""


def intervals_by_limit(frame: TurnFrame, limits: Sequence[int] = LIMITS) -> pl.DataFrame:
    """Return ``low`` and ``high`` of every rate of ``by_limit``: one row per cell, limit ``k`` and ``figure``.

    Figures: ``turn_correctness`` and ``target_turn_correctness``, and the shares of trajectories with a success below k, which
    are ``success``, ``target_success`` and ``tagged_success``.
    """
    parts = []
    table = frame.turns.select("cell", "path", "turn", "outcome", "correct", "qualified", "tagged")
    for k in limits:
        paths = _decided(table.filter(pl.col("turn") < k), pl.col("correct", "qualified", "tagged").sum())
        reached = [(pl.col(name) > 0).cast(pl.Int64).alias(f"any_{name}") for name in ("correct", "qualified", "tagged")]
        paths = paths.with_columns(*reached, pl.lit(1, pl.Int64).alias("one"))
        figures = {
            "turn_correctness": ("correct", "n"),
            "target_turn_correctness": ("qualified", "n"),
            "success": ("any_correct", "one"),
            "target_success": ("any_qualified", "one"),
            "tagged_success": ("any_tagged", "one"),
        }
        parts.append(_rates(frame, paths, figures).with_columns(pl.lit(k, pl.Int32).alias("k")))
    return pl.concat(parts).select("cell", "k", "figure", *ENDS).sort("cell", "k", "figure")


def fast_p_intervals(frame: TurnFrame, thresholds: Sequence[float], hits: Hits = "fast_p") -> pl.DataFrame:
    """Return ``low`` and ``high`` of the share of a cell's turns above each p: one row per cell and ``p``.

    The share pools prompt variants; it is the curve's ``mean`` where variants have equally many turns.
    """
    hit = pl.col(HIT[hits])
    parts = []
    for p in thresholds:
        fast = (hit & (pl.col("speedup") > p)).fill_null(False).sum().alias("fast")
        found = _rates(frame, _decided(frame.turns, fast), {hits: ("fast", "n")})
        parts.append(found.select("cell", pl.lit(float(p)).alias("p"), *ENDS))
    return pl.concat(parts).sort("cell", "p")


def median_best_intervals(frame: TurnFrame, paths: pl.DataFrame) -> pl.DataFrame:
    """Return ``low`` and ``high`` of the medians of ``trajectory_medians``: one row per cell and ``figure``.

    ``paths`` is what ``trajectories`` returned. Figures: ``median_best_speedup``, ``median_target_best_speedup`` and
    ``median_total_tokens``, each over the trajectories that know it.
    """
    parts = []
    for name in ("best_speedup", "target_best_speedup", "total_tokens"):
        known = paths.filter(pl.col(name).is_not_null()).select("cell", pl.col(name).cast(pl.Float64))
        for cells, part in _equally_many(known):
            low, high = median_intervals(part.get_column(name).to_numpy().reshape(len(cells), -1))
            parts.append(
                pl.DataFrame({"cell": cells, "low": low, "high": high}).with_columns(pl.lit(f"median_{name}").alias("figure"))
            )
    empty = pl.DataFrame(schema={"cell": pl.UInt32(), **ENDS, "figure": pl.String()})
    return pl.concat([empty, *parts]).select("cell", "figure", *ENDS).sort("cell", "figure")


def _decided(turns: pl.DataFrame, *sums: pl.Expr) -> pl.DataFrame:
    """Return ``n`` and sums for each trajectory of the cells in which something was decided."""
    paths = (
        turns.lazy()
        .group_by("path")
        .agg(pl.col("cell").first(), pl.len().cast(pl.Int64).alias("n"), *(each.cast(pl.Int64) for each in sums))
    )
    return paths.join(decided(turns).lazy(), on="cell", how="semi").sort("path").collect()


def _rates(frame: TurnFrame, paths: pl.DataFrame, figures: Mapping[str, tuple[str, str]]) -> pl.DataFrame:
    parts = [pl.DataFrame(schema={"cell": pl.UInt32(), **ENDS, "figure": pl.String()})]
    for cells, part in _equally_many(paths):
        for figure, (successes, turns) in figures.items():
            shape = (len(cells), -1)
            low, high = rate_intervals(
                part.get_column(successes).to_numpy().reshape(shape), part.get_column(turns).to_numpy().reshape(shape)
            )
            ends = pl.DataFrame({"cell": cells, "low": low, "high": high})
            parts.append(ends.with_columns(pl.lit(figure).alias("figure")))
    without = frame.cells.filter(~pl.col("target")).get_column("cell")
    return pl.concat(parts).filter(~(pl.col("figure").is_in(ASK_FOR_TARGET) & pl.col("cell").is_in(without.implode())))


def _equally_many(paths: pl.DataFrame) -> Iterator[tuple[pl.Series, pl.DataFrame]]:
    """Return the cells in groups of equally many trajectories (at least two), each with its rows, cell by cell."""
    sized = paths.with_columns(pl.len().over("cell").alias("trajectories")).filter(pl.col("trajectories") > 1)
    for part in sized.partition_by("trajectories", maintain_order=True):
        part = part.sort("cell", maintain_order=True)
        yield part.get_column("cell").unique(maintain_order=True), part
