"""Claimed times are held against the judge's clocks: lies show, however they are spread; noise accuses nobody."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ptxbench.evaluate.clock import ClockCheck
from ptxbench.evaluate.sandbox.child import Answer

ASKING_US = 90.0


def answer(claimed_us: Sequence[float], took_us: float, *, waited_us: float = 0.0, idle_us: float | None = None) -> Answer:
    """Make an answer of a process that computed for ``took_us`` and stood in a queue for ``waited_us``."""
    busy = int((ASKING_US + took_us) * 1000)
    idle = None if idle_us is None else int(idle_us * 1000)
    return Answer(tuple(int(one * 1000) for one in claimed_us), busy + int(waited_us * 1000), None, busy, idle)


def check(
    claimed_us: Sequence[float], real_us: float, *, batch_claims_us: Sequence[float] = (), noise_us: float = 0.0
) -> ClockCheck:
    """Make the answers of a candidate whose calls take ``real_us``; what it claims is taken in turn."""
    noise = random.Random(3)
    clock = ClockCheck([answer([], 0, waited_us=noise.uniform(0, noise_us)) for _ in range(8)])
    for number in range(60):
        claimed = claimed_us[number % len(claimed_us)]
        clock.call(answer([claimed], real_us, waited_us=noise.uniform(0, noise_us)))
    for number in range(2):
        claimed = claimed_us[number % len(claimed_us)]
        clock.call(answer([claimed], real_us, waited_us=noise.uniform(0, noise_us)), unseen=True)
    batches = batch_claims_us or claimed_us
    for number in range(12):
        claims = [batches[number % len(batches)]] * 8
        clock.batch(answer(claims, 8 * real_us, waited_us=noise.uniform(0, noise_us)))
    return clock


def test_honest_claims_agree_under_heavy_noise() -> None:
    for real in (5.0, 100.0, 5000.0):
        assert check([real], real, noise_us=8 * real + 2000).judge(real) == ([], [])


def test_wall_time_alone_accuses_no_honest_candidate_on_a_busy_machine() -> None:
    for real in (5.0, 100.0, 5000.0):
        clock = check([real], real, noise_us=real)
        clock.asking = [Answer(one.claimed_ns, one.wall_ns, None) for one in clock.asking]
        assert not clock.judge(real)[0]


def test_a_tenth_of_the_truth_is_evidence() -> None:
    broken, flags = check([100.0], 1000.0).judge(100.0)
    assert [one.evidence for one in broken] == [True] * 2
    assert {one.code for one in flags} == {"clock_disagrees"}
    assert not check([100.0], 690.0).judge(100.0)[0], "up to five times and 200 us may be a disturbance"


def test_one_honest_answer_in_three_does_not_hide_the_others() -> None:
    broken, flags = check([100.0, 100.0, 1000.0], 1000.0, batch_claims_us=[1000.0]).judge(100.0)
    assert broken
    assert flags


def test_a_lie_in_batches_only_is_evidence() -> None:
    assert check([400.0], 400.0, batch_claims_us=[10.0]).judge(10.0)[0]


def test_waiting_for_the_processor_is_no_work() -> None:
    clock = check([100.0], 100.0)
    clock.call(answer([100.0], 100.0, waited_us=5000.0), unseen=True)
    assert clock.judge(100.0) == ([], [])


def test_half_the_truth_is_a_flag() -> None:
    broken, flags = check([600.0], 1000.0).judge(600.0)
    assert not broken
    assert flags


def test_batches_that_are_much_slower_than_single_calls_are_a_flag_whatever_they_claim() -> None:
    assert check([50.0], 50.0).judge(50.0) == ([], [])
    slow = check([50.0], 50.0)
    slow.batch_us = [200.0] * 12
    broken, flags = slow.judge(50.0)
    assert not broken
    assert "in batches" in flags[0].text


def test_no_time_at_all_is_evidence() -> None:
    assert check([0.0], 1.0).judge(0.0)[0]


def test_results_that_are_kept_show_by_calls_on_new_inputs_whatever_they_claim() -> None:
    clock = check([30.0], 30.0)
    clock.unseen_us.clear()
    for _ in range(2):
        clock.call(answer([30.0], 1300.0), unseen=True)
    broken, flags = clock.judge(30.0)
    assert ["results are kept" in one.text for one in broken] == [True]
    assert [one.code for one in flags] == ["clock_disagrees"]


def test_calls_on_new_inputs_that_are_somewhat_slower_make_the_latency_distrusted() -> None:
    clock = check([100.0], 100.0)
    clock.unseen_us.clear()
    for took in (260.0, 400.0):
        clock.call(answer([took], took), unseen=True)
    broken, flags = clock.judge(100.0)
    assert not broken
    assert [one.code for one in flags] == ["clock_disagrees"]


def test_one_slow_call_on_new_inputs_accuses_nobody() -> None:
    clock = check([30.0], 30.0)
    for took in (1300.0, 31.0, 900.0):
        clock.call(answer([took], took), unseen=True)
    assert clock.judge(30.0) == ([], [])


def test_processor_time_is_shared_by_the_cores_that_the_process_has() -> None:
    seen = {}
    for cores in (1, 2):
        clock = ClockCheck([answer([], 0)], cores)
        clock.call(Answer((100_000,), 900_000, None, 380_000))
        seen[cores] = clock.excess_us(100.0)
    assert seen == {1: 190.0, 2: 0.0}


def test_work_between_calls_is_a_flag() -> None:
    clock = check([100.0], 100.0)
    for _ in range(60):
        clock.call(answer([100.0], 100.0, idle_us=400.0))
    broken, flags = clock.judge(100.0)
    assert not broken
    assert [one.code for one in flags] == ["works_between_calls"]


def test_one_quick_call_clears_all_the_slow_ones() -> None:
    clock = ClockCheck([answer([], 0)])
    for took in (1000.0, 900.0):
        clock.call(answer([100.0], took))
    assert clock.judge(100.0)[0]
    clock.call(answer([100.0], 100.0), unseen=True)
    assert clock.judge(100.0) == ([], [])
