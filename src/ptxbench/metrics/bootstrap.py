"""Bootstrap confidence intervals over trajectories: these are drawn again, since the turns of one depend on each other.

95 % percentile intervals (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13). Equal input gives equal output, in
any order of trajectories: where every trajectory of a cell has equally many turns, the bootstrap's distribution is computed
exactly, as infinitely many draws would give it; elsewhere, and for medians, ``RESAMPLES`` draws come from one seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

RESAMPLES = 2000
SEED = 0
LEVELS = (0.025, 0.975)
ROUNDING = 1e-9
"""What sums of probabilities may be off by."""
AT_ONCE = 1 << 20
"""Numbers in memory at the same time, roughly."""


def rate_interval(successes: Sequence[int], turns: Sequence[int]) -> tuple[float, float] | None:
    """Return the interval of ``sum(successes) / sum(turns)`` over whole trajectories; each position is one trajectory.

    None for fewer than two trajectories with turns, from which no spread can be seen.
    """
    import numpy as np

    pairs = [(t, s) for s, t in zip(successes, turns, strict=True) if t > 0]
    if len(pairs) < 2:
        return None
    table = np.asarray([pairs], dtype=np.int64)
    low, high = rate_intervals(table[:, :, 1], table[:, :, 0])
    return float(low[0]), float(high[0])


def rate_intervals(successes: Integers, turns: Integers) -> tuple[Floats, Floats]:
    """Return the lower and upper ends for many cells: both arrays are (cells, trajectories), all ``turns`` above 0."""
    import numpy as np

    low, high = np.empty(len(turns)), np.empty(len(turns))
    even = (turns == turns[:, :1]).all(axis=1)
    if even.any():
        low[even], high[even] = _of_sums(successes[even]) / (turns[even, 0] * turns.shape[1])
    for cell in np.flatnonzero(~even):
        low[cell], high[cell] = _of_ratios(successes[cell], turns[cell])
    return low, high


def median_intervals(values: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the medians of many cells' trajectories: ``values`` is (cells, trajectories)."""
    import numpy as np

    below, above, weights = _middle_ranks(values.shape[1])
    low, high = np.empty(len(values)), np.empty(len(values))
    step = max(1, AT_ONCE // len(weights))
    for start in range(0, len(values), step):
        part = np.sort(values[start : start + step], axis=1)
        medians = (part[:, below] + part[:, above]) / 2
        order = np.argsort(medians, axis=1)
        reached = np.cumsum(weights[order], axis=1)
        for end, level in zip((low, high), LEVELS, strict=True):
            place = np.argmax(reached >= level * RESAMPLES, axis=1)[:, None]
            end[start : start + step] = np.take_along_axis(medians, np.take_along_axis(order, place, 1), 1)[:, 0]
    return low, high


def _of_sums(successes: Integers) -> Integers:
    """Return both ends of the sum of as many draws as there are trajectories, for each cell: (2, cells).

    The sum's distribution is the one of a single draw convolved with itself, which is a power of its Fourier transform.
    """
    import numpy as np

    trajectories = successes.shape[1]
    most = int(successes.max())
    counts = np.stack([(successes == count).sum(axis=1) for count in range(most + 1)], axis=1)
    distinct, of = _distinct(counts, trajectories)
    length = 1 << (most * trajectories).bit_length()
    ends = np.empty((2, len(distinct)), dtype=np.int64)
    step = max(1, AT_ONCE // length)
    for start in range(0, len(distinct), step):
        part = distinct[start : start + step]
        sums = np.fft.irfft(np.fft.rfft(part / trajectories, length) ** trajectories, length)
        reached = np.cumsum(sums, axis=1)
        for end, level in zip(ends, LEVELS, strict=True):
            end[start : start + step] = np.argmax(reached >= level - ROUNDING, axis=1)
    return ends[:, of]


def _distinct(counts: Integers, trajectories: int) -> tuple[Integers, Integers]:
    """Return the rows that differ, and which of them each row is: many cells have equal trajectories in another order.

    Rows are told apart as numbers to the base of ``trajectories + 1``; where these are too large, all rows are returned.
    """
    import numpy as np

    digits = [(trajectories + 1) ** place for place in range(counts.shape[1])]
    if digits[-1] * (trajectories + 1) >= 1 << 63:
        return counts, np.arange(len(counts))
    _, first, of = np.unique(counts @ np.array(digits, dtype=np.int64), return_index=True, return_inverse=True)
    return counts[first], of


def _of_ratios(successes: Integers, turns: Integers) -> tuple[float, float]:
    """Return both ends for one cell whose trajectories have unequal numbers of turns.

    Trajectories with equal counts are one kind, of which a draw takes a multinomial number: the same distribution as drawing
    each trajectory, in memory that does not grow with them.
    """
    import numpy as np

    kinds, counts = np.unique(np.stack([turns, successes], axis=1), axis=0, return_counts=True)
    drawn = np.random.default_rng(SEED).multinomial(len(turns), counts / len(turns), size=RESAMPLES) @ kinds
    low, high = np.quantile(drawn[:, 1] / drawn[:, 0], LEVELS, method="inverted_cdf")
    return float(low), float(high)


def _middle_ranks(n: int) -> tuple[Integers, Integers, Integers]:
    """Return the ranks (from 0) of the two middle values of n draws from n, and how many of ``RESAMPLES`` have these.

    Drawing a rank is floor(n U) of a uniform U, so the middle ranks are those of uniform order statistics, whose distributions are
    known: U_(m) ~ Beta(m, n - m + 1), and those above U_(m) are uniform again. The two are one when n is odd.
    """
    import numpy as np

    rng = np.random.default_rng([SEED, n])
    m = (n + 1) // 2
    lower = rng.beta(m, n - m + 1, size=RESAMPLES)
    upper = lower if n % 2 else lower + (1 - lower) * rng.beta(1, n - m, size=RESAMPLES)
    ranks = np.minimum((n * np.stack([lower, upper], axis=1)).astype(np.int64), n - 1)
    pairs, counts = np.unique(ranks, axis=0, return_counts=True)
    return pairs[:, 0], pairs[:, 1], counts
