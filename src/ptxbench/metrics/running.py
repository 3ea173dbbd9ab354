"""What a trajectory has come to by each of its turns; turns are in the order of a frame (``TurnFrame.turns``)."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray


def spent_so_far(turns: pl.DataFrame, column: str) -> pl.Series:
    """Return the sum of a column of whole numbers over a trajectory's turns up to each; null from the first null on."""
    values = turns.get_column(column)
    sums = _running(turns, values.fill_null(0).to_numpy())
    unknown = _running(turns, values.is_null().cast(pl.Int64).to_numpy()) > 0
    return pl.select(pl.when(~pl.Series(unknown)).then(pl.Series(sums))).to_series().alias(column)


def none_before(turns: pl.DataFrame, hit: pl.Series) -> pl.Series:
    """Return whether no earlier turn of the trajectory is a hit: what leads to the first, with it, or all where there is none."""
    hits = hit.cast(pl.Int64).to_numpy()
    return pl.Series(_running(turns, hits) - hits == 0)


def _running(turns: pl.DataFrame, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return cumulative sums that begin again with each trajectory."""
    path = turns.get_column("path").to_numpy()
    begins = np.flatnonzero(np.append([True] * min(1, len(path)), path[1:] != path[:-1]))
    sums = np.cumsum(values)
    before = np.concatenate([[0], sums])[begins]
    running: NDArray[np.int64] = sums - np.repeat(before, np.diff(np.append(begins, len(path))))
    return running
