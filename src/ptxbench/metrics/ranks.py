"""Quantiles of whole numbers within many groups at once."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray


def in_order(groups: pl.Series, values: pl.Series) -> NDArray[np.int64]:
    """Return the values by group, and by value within each; both are whole numbers, ``groups`` none below 0.

    Group and value are packed into one number where they fit, since sorting one column is several times faster than two.
    """
    if values.is_empty():
        return np.empty(0, dtype=np.int64)
    least, most, last = (int(bound) for bound in (values.min(), values.max(), groups.max()))  # type: ignore[arg-type]
    span = most - least + 1
    if (last + 1) * span >= 1 << 63:
        return values.to_numpy()[np.lexsort((values.to_numpy(), groups.to_numpy()))].astype(np.int64)
    packed = (groups.cast(pl.Int64) * span + (values.cast(pl.Int64) - least)).sort().to_numpy()
    ordered: NDArray[np.int64] = packed % span + least
    return ordered


def quantile(ordered: NDArray[np.int64], sizes: NDArray[np.int64], level: float) -> pl.Series:
    """Return the quantile of each of the groups that stand one after another, linear between ranks; null for empty ones.

    ``ordered`` is what ``in_order`` returned, ``sizes`` the number of values of each group.
    """
    some = sizes > 0
    place = level * (sizes[some] - 1)
    under = (np.cumsum(sizes) - sizes)[some] + place.astype(np.int64)
    over = np.minimum(under + 1, len(ordered) - 1)
    found = np.full(len(sizes), np.nan)
    found[some] = ordered[under] + (ordered[over] - ordered[under]) * (place % 1)
    return pl.Series(found).fill_nan(None)
