"""What two cells are compared by: rates, best speedups, Fast_p and tokens, as functions of weighted trajectories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ptxbench.metrics.limits import LIMITS
from ptxbench.metrics.tallies import THRESHOLD, CellTally, Tally
from ptxbench.schema import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Count = Callable[[Tally], int]
Statistic = Callable[[Sequence[Tally], "Floats"], "Floats"]
"""A figure of trajectories (sorted) for each row of weights: (rows, trajectories), how often each one is counted."""


class Metric(Record):
    """What is compared: ``k`` is a turn limit, ``p`` a threshold of Fast_p."""

    name: str
    k: int | None = None
    p: float | None = None


@dataclass(frozen=True)
class Measure:
    """A metric and how to compute it."""

    metric: Metric
    value: Statistic
    target: bool = False
    """Whether it asks for target instructions."""
    tokens: bool = False
    """Whether it asks for token counts, which may be known where nothing was decided."""

    def of(self, cell: CellTally) -> tuple[Tally, ...]:
        """Return the trajectories that know the metric: none where the cell does not."""
        if self.tokens:
            return tuple(tally for tally in cell.trajectories if tally.tokens is not None)
        return cell.trajectories if cell.known and (cell.proves or not self.target) else ()


def _ratio(counted: Count, n: Count) -> Statistic:
    def value(tallies: Sequence[Tally], weights: Floats) -> Floats:
        import numpy as np

        sums = weights @ np.array([[counted(tally), n(tally)] for tally in tallies], dtype=np.float64)
        return np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0)

    return value


def _mean_over_variants(counted: Count) -> Statistic:
    """Return the mean over variants of each one's fraction, as curves are (protocol section 7).

    A variant that a draw does not hold is left out of its mean.
    """
    fraction = _ratio(counted, lambda tally: tally.turns)

    def value(tallies: Sequence[Tally], weights: Floats) -> Floats:
        import numpy as np

        total, present = np.zeros(len(weights)), np.zeros(len(weights))
        start = 0
        for _, group in groupby(tallies, key=lambda tally: tally.variant):
            members = list(group)
            inside = weights[:, start : start + len(members)]
            start += len(members)
            total += fraction(members, inside)
            present += inside.any(axis=1)
        return total / np.maximum(present, 1)

    return value


def _largest(of: Callable[[Tally], float]) -> Statistic:
    def value(tallies: Sequence[Tally], weights: Floats) -> Floats:
        import numpy as np

        largest: Floats = np.where(weights > 0, np.array([of(tally) for tally in tallies]), 0.0).max(axis=1)
        return largest

    return value


def _best(index: int, *, target: bool) -> Callable[[Tally], float]:
    return lambda tally: (tally.target_best if target else tally.best)[index]


def _measures() -> Iterator[Measure]:
    last = LIMITS[-1]
    yield Measure(Metric(name="turn_correctness", k=last), _ratio(lambda t: t.correct, lambda t: t.n))
    yield Measure(Metric(name="target_turn_correctness", k=last), _ratio(lambda t: t.qualified, lambda t: t.n), target=True)
    for index, k in enumerate(LIMITS):
        for name, target in (("best_speedup", False), ("target_best_speedup", True)):
            yield Measure(Metric(name=name, k=k), _largest(_best(index, target=target)), target=target)
    yield Measure(Metric(name="fast_p", p=THRESHOLD), _mean_over_variants(lambda t: t.fast))
    yield Measure(Metric(name="fast_p_inst", p=THRESHOLD), _mean_over_variants(lambda t: t.target_fast), target=True)
    yield Measure(Metric(name="tokens"), _ratio(lambda t: t.tokens or 0, lambda _: 1), tokens=True)


MEASURES: tuple[Measure, ...] = tuple(_measures())
"""Rates at the last turn limit, best speedups at each (0 without one), Fast_p at ``THRESHOLD``, mean tokens of a trajectory."""
