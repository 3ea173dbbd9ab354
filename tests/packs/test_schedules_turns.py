"""The turns of two consumers through named barriers: they alternate, nobody waits for ever, and no arrival is left over."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest


class Barriers:
    """Two named barriers of 256 threads: one warpgroup syncs, the other arrives."""

    def __init__(self) -> None:
        self.arrived = [0, 0]
        self.synced = [0, 0]

    def arrive(self, barrier: int) -> None:
        self.arrived[barrier] += 1
        assert self.arrived[barrier] - self.synced[barrier] <= 1, "128 threads arrive twice on a barrier that counts them once"

    def may_pass(self, barrier: int) -> bool:
        return self.arrived[barrier] > self.synced[barrier]


def consumer(number: int, tiles: int, barriers: Barriers, log: list[int], *, last_gives: bool, first_gift: bool) -> Iterator[None]:
    """Turns of a consumer as the page says; it stands still at each ``yield``, and before a turn until it may take it."""

    def take() -> Iterator[None]:
        while not barriers.may_pass(number):
            yield
        barriers.synced[number] += 1
        log.append(number)
        yield

    if number == 1 and first_gift:
        barriers.arrive(0)
    for _ in range(tiles):  # the first scores, then P V(j - 1) and the scores of j
        yield from take()
        barriers.arrive(1 - number)
        yield  # softmax
    yield from take()  # the last P V
    if number == 0 or last_gives:
        barriers.arrive(0 if number else 1)


def play(tiles: int, seed: int, *, last_gives: bool = False, first_gift: bool = True) -> tuple[list[int], Barriers]:
    barriers, log, generator = Barriers(), [], random.Random(seed)
    actors = [consumer(n, tiles, barriers, log, last_gives=last_gives, first_gift=first_gift) for n in range(2)]
    for _ in range(200 * (tiles + 1)):
        if not actors:
            return log, barriers
        actor = generator.choice(actors)
        try:
            next(actor)
        except StopIteration:
            actors.remove(actor)
    raise TimeoutError("a consumer waits for ever")


@pytest.mark.parametrize("tiles", [1, 2, 3, 4, 7, 32])
def test_turns_alternate_and_every_arrival_is_taken(tiles):
    for seed in range(50):
        log, barriers = play(tiles, seed)
        assert log == [0, 1] * (tiles + 1)
        assert barriers.arrived == barriers.synced == [tiles + 1, tiles + 1]


def test_a_last_turn_given_away_is_left_over_and_without_the_first_nobody_begins():
    _, barriers = play(3, 0, last_gives=True)
    assert barriers.arrived[0] == barriers.synced[0] + 1
    with pytest.raises(TimeoutError):
        play(3, 0, first_gift=False)
