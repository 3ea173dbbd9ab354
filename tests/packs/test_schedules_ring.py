"""The ring of stages between a producer and consumers, alone and in a cluster: played in many orders against its barriers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import pytest

Step = Iterator[Callable[[], bool]]
"""An actor: it yields what it waits for, and goes on once that is true."""


class Stuck(Exception):
    """Nobody can go on."""


class Broken(Exception):
    """Data were overwritten or not there."""


@dataclass
class Barrier:
    """An mbarrier: a phase completes when arrivals and bytes are both at zero."""

    arrivals: int
    phase: int = 0
    pending: int = field(init=False)
    bytes: int = 0

    def __post_init__(self):
        self.pending = self.arrivals

    def done(self, parity: int) -> bool:
        """Whether the phase of that parity has completed: on a fresh barrier, parity 1."""
        return self.phase % 2 != parity

    def change(self, arrivals: int, bytes: int) -> None:
        self.pending -= arrivals
        self.bytes += bytes
        if self.pending < 0:
            raise Broken("more arrivals than the barrier counts")
        if self.pending == 0 and self.bytes == 0:
            self.phase += 1
            self.pending = self.arrivals


@dataclass
class Cta:
    """One CTA's stages: what lies in each part of each, and how many consumers still want it."""

    full: list[Barrier]
    empty: list[Barrier]
    own: list[int]
    shared: list[list[int]]
    reading: list[int]


@dataclass(frozen=True)
class Rules:
    """What the page says, and what a mistake would be."""

    stages: int
    tiles: int
    cluster: int = 1
    consumers: int = 2
    shares: bool = False
    """Each CTA multicasts its share; else the first the whole."""
    first_parity: int = 1
    """What the producer flips its parity with."""
    all_receivers: bool = True
    """Consumers arrive in every CTA, and empty barriers count them."""
    restart: int | None = None
    """After so many steps a consumer begins its ring anew: a mistake."""


def play(rules: Rules, choose: Callable[[int], int]) -> None:
    counted = rules.consumers * (rules.cluster if rules.all_receivers else 1)
    senders = rules.cluster if rules.shares else 1
    ctas = [
        Cta(
            [Barrier(1) for _ in range(rules.stages)],
            [Barrier(counted) for _ in range(rules.stages)],
            [-1] * rules.stages,
            [[-1] * senders for _ in range(rules.stages)],
            [0] * rules.stages,
        )
        for _ in range(rules.cluster)
    ]
    actors: list[Step] = []

    def landing(cta: Cta, stage: int, tile: int, sender: int | None) -> Step:
        """Bytes on their way: they land whenever the memory likes."""
        yield lambda: True
        if cta.reading[stage]:
            raise Broken(f"tile {tile} lands in a stage that is being read")
        expected = tile - rules.stages
        lying = cta.own[stage] if sender is None else cta.shared[stage][sender]
        if lying != (expected if expected >= 0 else -1):
            raise Broken(f"tile {tile} lands on {lying}")
        if sender is None:
            cta.own[stage] = tile
        else:
            cta.shared[stage][sender] = tile
        cta.full[stage].change(0, -1)

    def producer(rank: int) -> Step:
        cta, stage, parity = ctas[rank], 0, 0
        for tile in range(rules.tiles):
            yield partial(cta.empty[stage].done, parity ^ rules.first_parity)
            cta.full[stage].change(0, 1 + senders)  # all that lands here, whoever sends it: with the arrival, one step
            cta.full[stage].change(1, 0)
            ready.append(landing(cta, stage, tile, None))
            if rank < senders:
                for receiver in ctas:
                    ready.append(landing(receiver, stage, tile, rank))
            stage, parity = (stage + 1, parity) if stage + 1 < rules.stages else (0, parity ^ 1)

    def consumer(rank: int) -> Step:
        cta, stage, parity = ctas[rank], 0, 0
        for tile in range(rules.tiles):
            yield partial(cta.full[stage].done, parity)
            cta.reading[stage] += 1
            yield lambda: True
            if (cta.own[stage], *cta.shared[stage]) != (tile,) * (1 + senders):
                raise Broken(f"tile {tile} was to be there")
            cta.reading[stage] -= 1
            for receiver in ctas if rules.all_receivers else [cta]:
                yield lambda: True
                receiver.empty[stage].change(1, 0)
            stage, parity = (stage + 1, parity) if stage + 1 < rules.stages else (0, parity ^ 1)
            if tile + 1 == rules.restart:
                stage, parity = 0, 0

    ready: list[Step] = []
    for rank in range(rules.cluster):
        actors.append(producer(rank))
        actors += [consumer(rank) for _ in range(rules.consumers)]
    waiting = [(actor, next(actor)) for actor in actors]
    while waiting:
        waiting += [(actor, next(actor)) for actor in ready]
        ready.clear()
        able = [index for index, (_, condition) in enumerate(waiting) if condition()]
        if not able:
            raise Stuck
        actor, _ = waiting.pop(able[choose(len(able))])
        following = next(actor, None)
        if following is not None:
            waiting.append((actor, following))


def orders(seeds: int) -> Iterator[Callable[[int], int]]:
    """Yield ways to choose who goes on: the oldest waiting, the newest, and at random."""
    yield lambda count: 0
    yield lambda count: count - 1
    for seed in range(seeds):
        yield random.Random(seed).randrange


@pytest.mark.parametrize("stages", range(1, 9))
def test_the_ring_never_deadlocks_and_never_overwrites(stages):
    for tiles in range(1, 65):
        for choose in orders(1):
            play(Rules(stages, tiles), choose)


@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("cluster", [2, 4])
def test_a_stage_is_refilled_only_when_every_cta_of_the_cluster_has_read_it(cluster, shares):
    for stages, tiles in ((1, 1), (1, 5), (2, 7), (3, 9), (4, 17)):
        for choose in orders(6):
            play(Rules(stages, tiles, cluster, shares=shares), choose)


@pytest.mark.parametrize(
    ("rules", "fault"),
    [
        (Rules(4, 12, first_parity=0), Stuck),
        (Rules(2, 12, cluster=2, all_receivers=False), Broken),
        (Rules(2, 12, cluster=2, shares=True, all_receivers=False), Broken),
        (Rules(4, 12, restart=6), (Stuck, Broken)),
    ],
    ids=["the producer waits with the consumer's parity", "first for all", "shares", "a ring begun anew for each tile"],
)
def test_a_mistake_in_the_rules_is_seen(rules, fault):
    seen = []
    for choose in orders(40):
        try:
            play(rules, choose)
        except (Stuck, Broken) as found:
            seen.append(found)
    assert seen and all(isinstance(one, fault) for one in seen)
