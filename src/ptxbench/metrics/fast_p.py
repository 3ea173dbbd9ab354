"""Fast_p: the share of turns that are correct and faster than p times the reference, as a function of p."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from ptxbench.metrics.rows import Curves, Points

UNKNOWN = Curves(mean=None, min=None, max=None)
"""The curve of a cell in which nothing could be decided."""


def fast_p(speedups: Mapping[str | None, Sequence[float]], n: Mapping[str | None, int]) -> Curves:
    """Return the curves from the speedups of qualifying turns and the N of each prompt variant.

    ``Fast_p = |{i : s_i > p}| / N``, strictly above p, so a curve falls exactly at its speedups. Without named variants there
    is no band.
    """
    ordered = {variant: sorted(speedups.get(variant, ())) for variant, count in n.items() if count > 0}
    if not ordered:
        return UNKNOWN
    thresholds = sorted({0.0, *(s for values in ordered.values() for s in values if s > 0.0)})
    fractions = [[(len(values) - bisect_right(values, p)) / n[variant] for variant, values in ordered.items()] for p in thresholds]
    mean = tuple((p, sum(sorted(each)) / len(each)) for p, each in zip(thresholds, fractions, strict=True))
    if None in ordered:
        return Curves(mean=mean, min=None, max=None)
    return Curves(mean=mean, min=_points(thresholds, map(min, fractions)), max=_points(thresholds, map(max, fractions)))


def value_at(points: Points, p: float) -> float:
    """Return a step curve's value at p >= 0."""
    index = bisect_right([threshold for threshold, _ in points], p) - 1
    return points[index][1]


def _points(thresholds: Sequence[float], values: map[float]) -> Points:
    return tuple(zip(thresholds, values, strict=True))
