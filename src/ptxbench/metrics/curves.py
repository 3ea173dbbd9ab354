"""Fast_p curves of every cell: mean over prompt variants of each variant's fraction, and the variants' least and greatest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl

from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.undecided import decided

Hits = Literal["fast_p", "fast_p_inst"]
"""Which turns can be in the numerator: correct ones, or those whose target instructions executed as well."""


def fast_p_curves(frame: TurnFrame, hits: Hits = "fast_p") -> pl.DataFrame:
    """Return the step curves: one row per cell and ``p``, with the values of ``mean``, ``min`` and ``max`` from p to the next.

    ``Fast_p = |{i : C_i and s_i > p}| / N`` and ``Fast_p^Inst = |{i : C_i and I_i and s_i > p}| / N``, strictly above p, N of
    each variant's turns. A curve starts at p = 0 and falls exactly at its speedups. ``min`` and ``max`` are null where turns
    name no variant. Cells without a decided turn, and for ``fast_p_inst`` those without target instructions, have no rows.
    """
    variants = _variants(frame, hits)
    hit = pl.col("correct" if hits == "fast_p" else "qualified")
    fast = frame.turns.lazy().filter(hit & pl.col("speedup").is_not_null()).select("cell", "variant", p="speedup")
    counted = fast.join(variants.lazy().select("cell", "variant", "rank"), on=["cell", "variant"], nulls_equal=True)
    starts = variants.lazy().select("cell", pl.lit(0.0).alias("p"), pl.lit(None, pl.Int64).alias("rank")).unique()
    ranks = range(variants.get_column("rank").n_unique())
    at = [(pl.col("rank") == rank).sum().cast(pl.Int64).alias(f"at{rank}") for rank in ranks]
    above = [(pl.col(f"at{rank}").cum_sum().over("cell") - pl.col(f"at{rank}")).alias(f"above{rank}") for rank in ranks]
    # A variant that the cell does not have is null and counts in neither mean nor extremes.
    fractions = [pl.col(f"above{rank}") / pl.col(f"n{rank}") for rank in ranks]
    named = pl.col("named")
    return (
        pl.concat([counted.select("cell", "p", "rank"), starts])
        .group_by("cell", "p")
        .agg(at)
        .sort("cell", "p", descending=[False, True])
        .with_columns(above)
        .join(_by_rank(variants).lazy(), on="cell", how="left", maintain_order="left")
        .select(
            "cell",
            "p",
            pl.mean_horizontal(fractions).alias("mean"),
            pl.when(named).then(pl.min_horizontal(fractions)).alias("min"),
            pl.when(named).then(pl.max_horizontal(fractions)).alias("max"),
        )
        .sort("cell", "p")
        .collect()
    )


def fast_p_at(curves: pl.DataFrame, thresholds: Sequence[float]) -> pl.DataFrame:
    """Return the values of curves at thresholds p >= 0: one row per cell and p."""
    wanted = curves.select("cell").unique().join(pl.DataFrame({"p": sorted(map(float, thresholds))}), how="cross").sort("p", "cell")
    found = wanted.join_asof(curves.sort("p", "cell"), on="p", by="cell", check_sortedness=False)
    return found.sort("cell", "p").select(curves.columns)


def _variants(frame: TurnFrame, hits: Hits) -> pl.DataFrame:
    """Return N of every variant of the cells that have a curve, and the variant's rank among its cell's."""
    cells = decided(frame.turns)
    if hits == "fast_p_inst":
        cells = cells.join(frame.cells.filter("target").select("cell"), on="cell", how="semi")
    return (
        frame.turns.lazy()
        .group_by("cell", "variant")
        .agg(pl.len().cast(pl.Int64).alias("n"))
        .join(cells.lazy(), on="cell", how="semi")
        .sort("cell", "variant", nulls_last=True)
        .with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over("cell").alias("rank"))
        .collect()
    )


def _by_rank(variants: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cell: N of its variants side by side, and whether they all have names."""
    sizes = [
        pl.col("n").filter(pl.col("rank") == rank).first().alias(f"n{rank}")
        for rank in range(variants.get_column("rank").n_unique())
    ]
    return variants.group_by("cell").agg(*sizes, pl.col("variant").is_not_null().all().alias("named"))
