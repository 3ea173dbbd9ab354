"""Confidence intervals of turn rates: trajectories are drawn again, since the turns of one depend on each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

RESAMPLES = 2000
SEED = 0


def rate_interval(successes: Sequence[int], turns: Sequence[int]) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of ``sum(successes) / sum(turns)`` over whole trajectories.

    Each position is one trajectory. Equal input gives equal output. None for fewer than two trajectories, from which no
    spread can be seen.
    """
    import numpy as np

    kinds = sorted(Counter((t, s) for s, t in zip(successes, turns, strict=True) if t > 0).items())
    trajectories = sum(count for _, count in kinds)
    if trajectories < 2:
        return None
    # Trajectories with equal counts are one kind, of which a draw takes a multinomial number: the same distribution as drawing
    # each trajectory, in memory that does not grow with them.
    table = np.asarray([kind for kind, _ in kinds], dtype=np.int64)
    shares = np.asarray([count / trajectories for _, count in kinds])
    drawn = np.random.default_rng(SEED).multinomial(trajectories, shares, size=RESAMPLES) @ table
    low, high = np.quantile(drawn[:, 1] / drawn[:, 0], [0.025, 0.975])
    return float(low), float(high)
