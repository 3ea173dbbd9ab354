"""Claimed times are held against the judge's clock: lies show, noise does not accuse."""

from __future__ import annotations

import random

from ptxbench.evaluate.clock import ClockCheck
from ptxbench.evaluate.sandbox.child import Answer


def answer(*claimed_us: float, beyond_us: float) -> Answer:
    claimed = tuple(int(one * 1000) for one in claimed_us)
    return Answer(claimed, sum(claimed) + int(beyond_us * 1000), None)


def check(claimed_us: float, real_us: float, *, batch_claim_us: float | None = None, noise_us: float = 0.0) -> ClockCheck:
    """Make the answers of a candidate whose calls take ``real_us`` and that claims ``claimed_us`` for single ones."""
    noise = random.Random(3)
    clock = ClockCheck()
    for _ in range(8):
        clock.ping(answer(beyond_us=90 + noise.uniform(0, noise_us)))
    for _ in range(60):
        clock.call(answer(claimed_us, beyond_us=90 + real_us - claimed_us + noise.uniform(0, noise_us)), novel=False)
    batch = claimed_us if batch_claim_us is None else batch_claim_us
    for _ in range(12):
        clock.batch(answer(*[batch] * 8, beyond_us=90 + 8 * (real_us - batch) + noise.uniform(0, noise_us)))
    return clock


def test_honest_claims_agree_under_heavy_noise() -> None:
    for real in (5.0, 100.0, 5000.0):
        broken, _ = check(real, real, noise_us=8 * real + 2000).judge(real)
        assert not broken


def test_honest_claims_are_not_flagged_on_a_quiet_machine() -> None:
    for real in (1.0, 100.0, 5000.0):
        assert check(real, real, noise_us=10).judge(real) == ([], [])


def test_a_tenth_of_the_truth_is_evidence() -> None:
    broken, flags = check(100.0, 1000.0).judge(100.0)
    assert [one.evidence for one in broken] == [True]
    assert [one.code for one in flags] == ["clock_disagrees"]


def test_a_lie_in_single_calls_only_is_seen_there() -> None:
    broken, _ = check(100.0, 1000.0, batch_claim_us=1000.0).judge(100.0)
    assert broken


def test_half_the_truth_is_a_flag() -> None:
    broken, flags = check(600.0, 1000.0).judge(600.0)
    assert not broken
    assert flags


def test_batches_that_are_much_slower_than_single_calls_are_a_flag() -> None:
    broken, flags = check(50.0, 50.0).judge(50.0)
    assert (broken, flags) == ([], [])
    slow = check(50.0, 50.0)
    slow.batch_claims_us = [200.0] * 12
    broken, flags = slow.judge(50.0)
    assert not broken
    assert "in batches" in flags[0].text


def test_no_time_at_all_is_evidence() -> None:
    assert check(0.0, 1.0).judge(0.0)[0]


def test_results_that_are_kept_show_by_calls_on_new_inputs() -> None:
    clock = check(30.0, 30.0)
    for _ in range(4):
        clock.call(answer(1300.0, beyond_us=90), novel=True)
    assert ["results are kept" in one.text for one in clock.judge(30.0)[0]] == [True]


def test_one_slow_call_on_new_inputs_accuses_nobody() -> None:
    clock = check(30.0, 30.0)
    for claimed in (1300.0, 31.0, 900.0):
        clock.call(answer(claimed, beyond_us=90), novel=True)
    assert clock.judge(30.0) == ([], [])
