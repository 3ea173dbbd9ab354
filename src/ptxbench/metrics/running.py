"""What a trajectory has come to by each of its turns, and in all; turns are in the order of a frame (``TurnFrame.turns``)."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray


def first_turns(turns: pl.DataFrame) -> NDArray[np.intp]:
    """Return the row at which each trajectory begins."""
    path = turns.get_column("path").to_numpy()
    return np.flatnonzero(np.append([True] * min(1, len(path)), path[1:] != path[:-1]))


def spent_so_far(turns: pl.DataFrame, column: str) -> pl.Series:
    """Return the sum of a column of whole numbers over a trajectory's turns up to each; null from the first null on."""
    values = turns.get_column(column)
    sums = _running(turns, values.fill_null(0).to_numpy())
    unknown = _running(turns, values.is_null().cast(pl.Int64).to_numpy()) > 0
    return _null_where(unknown, sums).alias(column)


def none_before(turns: pl.DataFrame, hit: pl.Series) -> NDArray[np.bool_]:
    """Return whether no earlier turn of the trajectory is a hit: what leads to the first, with it, or all where there is none."""
    hits = hit.cast(pl.Int64).to_numpy()
    lead: NDArray[np.bool_] = _running(turns, hits) == hits
    return lead


def total(values: pl.Series, counts: NDArray[np.bool_], begins: NDArray[np.intp]) -> pl.Series:
    """Return the sum over each trajectory's turns that count; null where one of these is."""
    unknown = np.logical_or.reduceat(values.is_null().to_numpy() & counts, begins) if len(begins) else np.empty(0, dtype=bool)
    return _null_where(unknown, np.add.reduceat(np.where(counts, values.fill_null(0).to_numpy(), 0), begins)).alias(values.name)


def least(values: pl.Series, begins: NDArray[np.intp]) -> pl.Series:
    """Return the least of each trajectory's values (whole numbers) that are not null; null where all are."""
    none = int(np.iinfo(np.int32).max)
    smallest = np.minimum.reduceat(values.fill_null(none).to_numpy(), begins)
    return _null_where(smallest == none, smallest).alias(values.name)


def _running(turns: pl.DataFrame, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return cumulative sums that begin again with each trajectory."""
    begins = first_turns(turns)
    sums = np.cumsum(values)
    before = np.concatenate([[0], sums])[begins]
    running: NDArray[np.int64] = sums - np.repeat(before, np.diff(np.append(begins, len(values))))
    return running


def _null_where(unknown: NDArray[np.bool_], values: NDArray[np.generic]) -> pl.Series:
    return pl.select(pl.when(~pl.Series(unknown)).then(pl.Series(values))).to_series()
