"""Differences between two cells, and whether they exceed noise.

Two questions are asked of each difference, and it exceeds noise when both say so:

- How far might it be off? Trajectories are drawn again with replacement (bootstrap; the turns of a trajectory depend on each
  other). Trajectories that both sides have, by variant and name, are drawn together, the others each on their own side. The
  interval holds the middle 95 % of the differences that come out.
- How often would chance alone make one as large? Trajectories change sides at random (permutation test): within pairs, or among
  all of a variant where there are fewer than six pairs. This one stays right where the interval does not: for few trajectories,
  and for a largest speedup, which one trajectory decides and of which a bootstrap never draws more than was seen.

Everything is seeded and looks at the data alone: exchanging the sides turns the signs and changes nothing else.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from ptxbench.metrics.bootstrap import SEED
from ptxbench.metrics.exchanges import LEVEL, Exchange, tells
from ptxbench.metrics.measures import MEASURES, Measure, Metric
from ptxbench.metrics.tallies import CellTally, Tally
from ptxbench.schema import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Side = tuple[Tally, ...]

ROUNDING = 1e-9
"""Share of a difference by which equal ones may differ."""


class Difference(Record):
    """One metric of two sides. None stands for unknown; ``difference`` is second less first."""

    metric: Metric
    first: float | None
    second: float | None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the difference, by bootstrap."""
    other_side: float | None = Field(default=None, ge=0, le=1)
    """Share of resamples in which the difference is zero or has the other sign; None where it is zero itself."""
    by_chance: float | None = Field(default=None, ge=0, le=1)
    """Share of exchanges of trajectories between the sides that make a difference at least as large."""
    exceeds_noise: bool | None = None
    """None where it cannot be told: a side is unknown, or there are too few trajectories for any difference to stand out."""
    trajectories: tuple[int, int]
    """How many each side has that know the metric."""
    pairs: int
    """How many of them both sides have."""


@dataclass(frozen=True)
class Judged:
    """A difference with what it is judged by, so that differences of several cells can be put together."""

    found: Difference
    resampled: Floats | None = None
    exchanged: Floats | None = None
    ways: int = 1
    """In how many ways trajectories can change sides."""

    def turned(self) -> Judged:
        """Return the same with the sides exchanged."""
        found = self.found
        signs = {"difference": _negative(found.difference), "low": _negative(found.high), "high": _negative(found.low)}
        sides = {"first": found.second, "second": found.first, "trajectories": found.trajectories[::-1]}
        draws = [None if each is None else -each for each in (self.resampled, self.exchanged)]
        return Judged(found.model_copy(update=signs | sides), draws[0], draws[1], self.ways)


def differences(first: CellTally, second: CellTally, *, seed: int = SEED, name: str = "") -> list[Judged]:
    """Return a difference for each of ``MEASURES``.

    ``name`` is that of the cells: cells of different names are drawn independently of each other.
    """
    asked: dict[tuple[Side, Side], list[Measure]] = {}
    for measure in MEASURES:
        asked.setdefault((measure.of(first), measure.of(second)), []).append(measure)
    stream = [seed, zlib.crc32(name.encode())]
    found = {each.found.metric: each for sides, measures in asked.items() for each in _in_order(measures, *sides, stream)}
    return [found[measure.metric] for measure in MEASURES]


def mean_difference(parts: Sequence[Judged]) -> Judged:
    """Return one metric's mean over cells, each counting the same. Cells that do not know it on both sides are left out."""
    import numpy as np

    known = [part for part in parts if part.found.difference is not None]
    sizes = [part.found.trajectories for part in known]
    found = Difference(
        metric=parts[0].found.metric,
        first=_mean(part.found.first for part in known),
        second=_mean(part.found.second for part in known),
        difference=_mean(part.found.difference for part in known),
        trajectories=(sum(ours for ours, _ in sizes), sum(theirs for _, theirs in sizes)),
        pairs=sum(part.found.pairs for part in known),
    )
    resampled = [part.resampled for part in known if part.resampled is not None]
    exchanged = [part.exchanged for part in known if part.exchanged is not None]
    if not known or len(resampled) < len(known) or len(exchanged) < len(known):
        return Judged(found)
    return _judged(found, np.mean(resampled, axis=0), np.mean(exchanged, axis=0), ways=math.prod(part.ways for part in known))


def _in_order(measures: Sequence[Measure], first: Side, second: Side, stream: Sequence[int]) -> list[Judged]:
    """Return the differences, computed with the sides in an order that their data alone decides."""
    if [tally.order for tally in second] < [tally.order for tally in first]:
        return [each.turned() for each in _compared(measures, second, first, stream)]
    return _compared(measures, first, second, stream)


def _compared(measures: Sequence[Measure], first: Side, second: Side, stream: Sequence[int]) -> list[Judged]:
    import numpy as np

    pairs = len({(t.variant, t.name) for t in first} & {(t.variant, t.name) for t in second})
    found = [_observed(measure, first, second, pairs) for measure in measures]
    if min(len(first), len(second)) < 2:
        return [Judged(each) for each in found]
    exchange = Exchange.of(first, second)
    pool = exchange.pool
    rng = np.random.default_rng([*stream, 0])
    resampled = _each(measures, (m.value(second, w2) - m.value(first, w1) for w1, w2 in exchange.resampled(rng) for m in measures))
    rng = np.random.default_rng([*stream, 1])
    exchanged = _each(measures, (m.value(pool, w2) - m.value(pool, w1) for w1, w2 in exchange.exchanged(rng) for m in measures))
    return [_judged(each, drawn, mixed, ways=exchange.ways) for each, drawn, mixed in zip(found, resampled, exchanged, strict=True)]


def _observed(measure: Measure, first: Side, second: Side, pairs: int) -> Difference:
    import numpy as np

    values = [float(measure.value(side, np.ones((1, len(side))))[0]) if side else None for side in (first, second)]
    difference = None if values[0] is None or values[1] is None else values[1] - values[0]
    return Difference(
        metric=measure.metric,
        first=values[0],
        second=values[1],
        difference=difference,
        trajectories=(len(first), len(second)),
        pairs=pairs,
    )


def _each(measures: Sequence[Measure], parts: Iterable[Floats]) -> list[Floats]:
    """Return one array for each measure of parts that come in turns."""
    import numpy as np

    listed = list(parts)
    return [np.concatenate(listed[at :: len(measures)]) for at in range(len(measures))]


def _judged(found: Difference, resampled: Floats, exchanged: Floats, *, ways: int) -> Judged:
    """Return the difference with its interval and its verdict."""
    import numpy as np

    difference = found.difference or 0.0
    ordered = np.sort(resampled)
    outside = int(LEVEL / 2 * len(ordered))
    # Order statistics as they are, so that exchanging the sides gives the same ends with turned signs.
    low, high = float(ordered[outside]), float(ordered[-1 - outside])
    as_large = int((np.abs(exchanged) >= abs(difference) * (1.0 - ROUNDING)).sum())
    by_chance = (as_large + 1) / (len(exchanged) + 1)
    other_side = float((resampled * math.copysign(1.0, difference) <= 0.0).mean()) if difference else None
    apart = (low > 0.0 or high < 0.0) and by_chance <= LEVEL
    verdict = {"low": low, "high": high, "other_side": other_side, "by_chance": by_chance}
    return Judged(found.model_copy(update=verdict | {"exceeds_noise": apart if tells(ways) else None}), resampled, exchanged, ways)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _negative(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
