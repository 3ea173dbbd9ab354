"""The barrier of the whole grid in every order of its steps: the pack's, by tickets, and one that looks at the round too late."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from ptxbench.packs.loading import load
from ptxbench.packs.parsing import without_comments

State = tuple[int, int, tuple[tuple[int, str, int], ...]]
"""The counter, the sense, and of each block: which round it is in, what it does next, and what it remembers."""


def by_ticket(counter: int, sense: int, step: str, kept: int, blocks: int) -> Iterator[tuple[int, int, str, int]]:
    """Yield what a block of the pack's barrier may do: draw a ticket, then wait for the end of the round that it is of."""
    if step == "arrive":
        yield counter + 1, sense, "wait", counter - counter % blocks
    elif counter - kept >= blocks:
        yield counter, sense, "pass", 0


def by_late_sense(counter: int, sense: int, step: str, kept: int, blocks: int) -> Iterator[tuple[int, int, str, int]]:
    """Yield what a block may do that reads the sense only after it has arrived: the last one may have turned it before."""
    if step == "arrive":
        last = counter + 1 == blocks
        yield (0, sense ^ 1, "pass", 0) if last else (counter + 1, sense, "look", 0)
    elif step == "look":
        yield counter, sense, "wait", sense
    elif sense != kept:
        yield counter, sense, "pass", 0


def unwaiting(counter: int, sense: int, step: str, kept: int, blocks: int) -> Iterator[tuple[int, int, str, int]]:
    """Yield that a block goes on at once, as with a barrier of each block alone."""
    yield counter + 1, sense, "pass", 0


Barrier = Callable[[int, int, str, int, int], Iterator[tuple[int, int, str, int]]]


def explored(barrier: Barrier, blocks: int, rounds: int) -> tuple[int, int, int]:
    """Return how many states there are, and in how many a block has passed early, or nothing can go on before all are through."""
    start: State = (0, 0, tuple((0, "arrive", 0) for _ in range(blocks)))
    seen, waiting, early, stuck = {start}, [start], 0, 0
    while waiting:
        counter, sense, each = waiting.pop()
        following: list[State] = []
        for at, (done, step, kept) in enumerate(each):
            moves = barrier(counter, sense, step, kept, blocks) if done < rounds else ()
            for moved_counter, moved_sense, next_step, remembered in moves:
                passed = next_step == "pass"
                one = (done + passed, "arrive" if passed else next_step, remembered)
                following.append((moved_counter, moved_sense, (*each[:at], one, *each[at + 1 :])))
        # A block that has passed round r is early if another has not yet arrived in it.
        early += any(done > other and step == "arrive" for done, _, _ in each for other, step, _ in each)
        stuck += not following and any(done < rounds for done, _, _ in each)
        waiting += [state for state in following if state not in seen]
        seen |= set(following)
    return len(seen), early, stuck


@pytest.mark.parametrize(("blocks", "rounds"), [(1, 3), (2, 4), (3, 4), (4, 3)])
def test_blocks_that_draw_tickets_never_pass_early_and_never_hang(blocks, rounds):
    states, early, stuck = explored(by_ticket, blocks, rounds)
    assert states > blocks * rounds and (early, stuck) == (0, 0)


def test_a_block_that_reads_the_round_after_its_arrival_can_hang():
    """What a published pack had, and what the contract says of it."""
    assert explored(by_late_sense, 2, 2)[2] > 0


def test_without_a_wait_blocks_pass_early():
    assert explored(unwaiting, 2, 2)[1] > 0


STEPS = r"__syncthreads|atom\.acq_rel\.gpu|ld\.acquire\.gpu|while \(drawn - \(ticket - ticket % blocks\) < blocks\)"


def test_the_header_draws_and_waits_as_the_model_does():
    code = without_comments(load().fragment("include/ptxk/sm90/grid").text)
    steps = [step.partition(" ")[0] for step in re.findall(STEPS, code)]
    assert steps == ["__syncthreads", "atom.acq_rel.gpu", "ld.acquire.gpu", "while", "__syncthreads"]
