"""Fast_p curves of every cell: mean over prompt variants of each variant's fraction, and the variants' least and greatest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.undecided import decided

Hits = Literal["fast_p", "fast_p_inst"]
"""Which turns can be in the numerator: correct ones, or those whose target instructions executed as well."""

HIT = {"fast_p": "correct", "fast_p_inst": "qualified"}
"""The column of turns that says so."""


def fast_p_curves(frame: TurnFrame, hits: Hits = "fast_p") -> pl.DataFrame:
    """Return the step curves: one row per cell and ``p``, with the values of ``mean``, ``min`` and ``max`` from p to the next.

    ``Fast_p = |{i : C_i and s_i > p}| / N`` and ``Fast_p^Inst = |{i : C_i and I_i and s_i > p}| / N``, strictly above p, N of
    each variant's turns. A curve starts at p = 0 and falls exactly at its speedups. ``min`` and ``max`` are null where turns
    name no variant. Cells without a decided turn, and for ``fast_p_inst`` those without target instructions, have no rows.
    """
    prompts = _prompts(frame, hits)
    fast = frame.turns.lazy().filter(pl.col(HIT[hits]) & pl.col("speedup").is_not_null()).select("prompt", p="speedup")
    starts = prompts.lazy().group_by("curve").agg(pl.lit(0.0).alias("p"), pl.lit(None, pl.UInt32).alias("rank"))
    points = (
        pl.concat([fast.join(prompts.lazy(), on="prompt").select("curve", "p", "rank"), starts])
        .sort("curve", "p")
        .with_columns(pl.col("rank").cast(pl.Int64).fill_null(-1))
        .collect()
    )
    curve, p, rank = (points.get_column(name).to_numpy() for name in ("curve", "p", "rank"))
    cells = prompts.unique("curve", keep="first", maintain_order=True)
    n = np.zeros((int(prompts.get_column("rank").n_unique()), cells.height), dtype=np.int64)
    n[prompts.get_column("rank").to_numpy(), prompts.get_column("curve").to_numpy()] = prompts.get_column("n").to_numpy()
    last = np.flatnonzero(np.append((curve[1:] != curve[:-1]) | (p[1:] != p[:-1]), [True] * min(1, len(p))))
    of = curve[last]
    fractions = _above(curve, rank, last, n.shape) / np.where(n > 0, n, np.nan)[:, of]
    named = cells.get_column("named").gather(of)
    mean = np.nansum(fractions, axis=0) / (n > 0).sum(axis=0)[of]
    found = pl.DataFrame({"cell": cells.get_column("cell").gather(of), "p": p[last], "mean": mean, **_extremes(fractions)})
    return found.with_columns(pl.when(named).then(name).alias(name) for name in ("min", "max"))


def fast_p_at(curves: pl.DataFrame, thresholds: Sequence[float]) -> pl.DataFrame:
    """Return the values of curves at thresholds p >= 0: one row per cell and p."""
    wanted = curves.select("cell").unique().join(pl.DataFrame({"p": sorted(map(float, thresholds))}), how="cross").sort("p", "cell")
    found = wanted.join_asof(curves.sort("p", "cell"), on="p", by="cell", check_sortedness=False)
    return found.sort("cell", "p").select(curves.columns)


def _prompts(frame: TurnFrame, hits: Hits) -> pl.DataFrame:
    """Return N of every prompt variant of the cells that have a curve.

    ``curve`` numbers these cells, ``rank`` a cell's variants; ``named`` says whether all of a cell's variants have names.
    """
    cells = decided(frame.turns)
    if hits == "fast_p_inst":
        cells = cells.join(frame.cells.filter("target").select("cell"), on="cell", how="semi", maintain_order="left")
    return (
        frame.turns.lazy()
        .group_by("prompt")
        .agg(pl.len().cast(pl.Int64).alias("n"), pl.col("cell", "variant").first())
        .join(cells.lazy().with_row_index("curve"), on="cell", how="inner")
        .sort("prompt")
        .with_columns(
            (pl.col("prompt") - pl.col("prompt").min().over("cell")).alias("rank"),
            pl.col("variant").is_not_null().all().over("cell").alias("named"),
        )
        .collect()
    )


def _above(curve: NDArray[np.uint32], rank: NDArray[np.int64], last: NDArray[np.intp], shape: tuple[int, int]) -> NDArray[np.int64]:
    """Return how many turns of each variant are faster than the points at ``last``, of points in order of curve and p."""
    begins = np.searchsorted(curve, np.arange(shape[1] + 1))
    above = np.empty((shape[0], len(last)), dtype=np.int64)
    for index in range(shape[0]):
        up_to = np.concatenate([[0], np.cumsum(rank == index)])
        above[index] = up_to[begins[curve[last] + 1]] - up_to[last + 1]
    return above


def _extremes(fractions: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the least and the greatest over the variants, without those that a cell does not have (NaN)."""
    if not fractions.size:
        return {"min": np.empty(0), "max": np.empty(0)}
    return {"min": np.fmin.reduce(fractions), "max": np.fmax.reduce(fractions)}
