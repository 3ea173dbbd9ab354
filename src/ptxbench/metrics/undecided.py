"""Where nothing could be decided (no GPU) a figure is unknown, which is not zero."""

from __future__ import annotations

import polars as pl

from ptxbench.metrics.frame import NOT_REACHED, UNDECIDED


def decided(turns: pl.DataFrame, by: str = "cell") -> pl.DataFrame:
    """Return the values of ``by`` of which something is known: a turn has an outcome, or none of its turns was reached."""
    evaluated = (pl.col("outcome") != NOT_REACHED).sum()
    known = (~pl.col("outcome").is_in([UNDECIDED, NOT_REACHED])).any()
    return turns.lazy().group_by(by).agg((known | (evaluated == 0)).alias("known")).filter("known").select(by).sort(by).collect()
