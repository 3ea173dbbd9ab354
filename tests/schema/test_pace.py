"""The pace of a run: means over what is known, and of nothing else."""

from __future__ import annotations

import math

import pytest

from ptxbench.schema import CellKey, CorrectVerdict, Outcome, Pace, TokenCount, Turn, TurnHashes

KEY = CellKey(model="m", arch="cpu", device="cpu", task="t", workload="w", language="cpp", protocol="strict", run="r")


def turn(seconds: dict[str, float | None], output: int | None) -> Turn:
    return Turn(
        key=KEY,
        trajectory="plain-0",
        turn=0,
        outcome=Outcome.NO_CODE,
        undecided=None,
        blame=None,
        correct=CorrectVerdict(paper=False, strict=False, reasons=()),
        speedup=None,
        candidate_us=None,
        reference_us=None,
        proof=None,
        hashes=TurnHashes(prompt="p", reply="r", source=None, evaluation=None, task="t"),
        tokens=TokenCount(output=output),
        cost_usd=None,
        seconds=seconds,
    )


def test_judging_is_what_a_judge_did_and_a_reply_without_code_says_nothing_of_it():
    turns = [
        turn({"model": 10.0, "build": 30.0, "wait": 99.0, "compare": 1.5, "time": 0.5, "prove": None}, 100),
        turn({"model": 20.0}, 200),
        turn({"model": None, "compare": 4.0}, None),
    ]
    assert Pace.of(turns) == Pace(judge_s=3.0, model_s=15.0, reply_tokens=150.0)


def test_nothing_known_is_nothing_said():
    assert Pace.of([]) == Pace.of([turn({}, None)]) == Pace(judge_s=None, model_s=None, reply_tokens=None)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_what_is_no_number_is_in_no_mean(value):
    assert Pace.of([turn({"model": value, "compare": value}, 1), turn({"model": 2.0}, 3)]) == Pace(model_s=2.0, reply_tokens=2.0)
