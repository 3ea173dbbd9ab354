"""How the trajectories of two sides are drawn again, and how they change sides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxbench.metrics.bootstrap import RESAMPLES
from ptxbench.metrics.tallies import Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

AT_ONCE = 1 << 20
"""Weights in memory at the same time, roughly."""

LEVEL = 0.05
"""How often a verdict may be wrong where there is no difference."""


@dataclass(frozen=True)
class Exchange:
    """Two sides of trajectories, each sorted; those of equal variant and name are pairs.

    ``pool`` holds the trajectories of both, sorted; ``strata`` are positions in it among which trajectories change sides, with
    how many of each go to the first side.
    """

    first: tuple[Tally, ...]
    second: tuple[Tally, ...]
    pool: tuple[Tally, ...]
    pairs: int
    strata: tuple[tuple[tuple[int, ...], int], ...]

    @classmethod
    def of(cls, first: tuple[Tally, ...], second: tuple[Tally, ...]) -> Exchange:
        """Return the exchange of two sides: within pairs, or within variants where pairs alone could never tell anything."""
        entries = {(t.variant, t.name, side): t for side, each in enumerate((first, second)) for t in each}
        places = sorted(entries)
        pairs = [(at, at + 1) for at in range(len(places) - 1) if places[at][:2] == places[at + 1][:2]]
        paired = {at for pair in pairs for at in pair}
        sides = [side for _, _, side in places]
        variants = [variant for variant, _, _ in places]
        within = _by_variant([at for at in range(len(places)) if at not in paired], variants, sides)
        strata = [(pair, 1) for pair in pairs] + within
        if not tells(_ways(strata)):
            strata = _by_variant(range(len(places)), variants, sides)
        return cls(first, second, tuple(entries[place] for place in places), len(pairs), tuple(strata))

    @property
    def ways(self) -> int:
        """In how many ways trajectories can change sides."""
        return _ways(self.strata)

    def resampled(self, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
        """Yield weights of the first and the second side's trajectories, ``RESAMPLES`` rows in all."""
        import numpy as np

        names = [{(tally.variant, tally.name): at for at, tally in enumerate(side)} for side in (self.first, self.second)]
        both = sorted(names[0].keys() & names[1].keys())
        places = [[side[name] for name in both] for side in names]
        alone = [sorted(set(side.values()).difference(pairs)) for side, pairs in zip(names, places, strict=True)]
        for rows in self._rows():
            weights = [np.zeros((rows, len(side))) for side in names]
            together = _drawn(rng, len(both), rows)
            for side in (0, 1):
                weights[side][:, places[side]] = together
                weights[side][:, alone[side]] = _drawn(rng, len(alone[side]), rows)
            yield weights[0], weights[1]

    def exchanged(self, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
        """Yield weights (0 or 1) over ``pool`` of two sides of the same sizes, ``RESAMPLES`` rows in all."""
        import numpy as np

        for rows in self._rows():
            ours = np.zeros((rows, len(self.pool)))
            for places, count in self.strata:
                ranks = rng.permuted(np.tile(np.arange(len(places)), (rows, 1)), axis=1)
                ours[:, list(places)] = ranks < count
            yield ours, 1.0 - ours

    def _rows(self) -> Iterator[int]:
        step = max(1, AT_ONCE // len(self.pool))
        for start in range(0, RESAMPLES, step):
            yield min(step, RESAMPLES - start)


def tells(ways: int) -> bool:
    """Whether a difference could stand out among so many ways to change sides, the one that is seen and its mirror being two."""
    return 2 / ways <= LEVEL


def _by_variant(places: Sequence[int], variants: Sequence[str], sides: Sequence[int]) -> list[tuple[tuple[int, ...], int]]:
    """Return strata of the variants that both sides have, and one of all the others, whose trajectories have no like."""
    pairs = set(zip(variants, sides, strict=True))
    shared = {variant for variant, side in pairs if (variant, 1 - side) in pairs}
    strata: dict[str | None, list[int]] = {}
    for at in places:
        strata.setdefault(variants[at] if variants[at] in shared else None, []).append(at)
    return [(tuple(members), sum(sides[at] == 0 for at in members)) for members in strata.values()]


def _ways(strata: Sequence[tuple[tuple[int, ...], int]]) -> int:
    return math.prod(math.comb(len(places), count) for places, count in strata)


def _drawn(rng: np.random.Generator, n: int, rows: int) -> Integers:
    """Return how often each of n is drawn in n draws."""
    import numpy as np

    return rng.multinomial(n, np.full(n, 1 / n), size=rows) if n else np.zeros((rows, 0), dtype=np.int64)
