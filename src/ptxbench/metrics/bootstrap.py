"""Confidence intervals of turn rates: trajectories are drawn again, since the turns of one depend on each other."""

from __future__ import annotations

from collections.abc import Sequence

RESAMPLES = 2000
SEED = 0


def rate_interval(successes: Sequence[int], turns: Sequence[int]) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of ``sum(successes) / sum(turns)`` over whole trajectories.

    Each position is one trajectory. Equal input gives equal output. None for fewer than two trajectories, from which no
    spread can be seen.
    """
    import numpy as np

    pairs = sorted((t, s) for s, t in zip(successes, turns, strict=True) if t > 0)
    if len(pairs) < 2:
        return None
    table = np.asarray(pairs, dtype=np.int64)
    draws = np.random.default_rng(SEED).integers(0, len(pairs), size=(RESAMPLES, len(pairs)))
    sampled = table[draws].sum(axis=1)
    low, high = np.quantile(sampled[:, 1] / sampled[:, 0], [0.025, 0.975])
    return float(low), float(high)
