"""A turn's line says in a few words why there is no verdict on values."""

from __future__ import annotations

import pytest

from ptxbench.agent.engine.events import TurnFinished
from ptxbench.agent.engine.places import Place
from ptxbench.cli.progress import MOST_CHARACTERS, event_line
from ptxbench.schema import Blame, CellKey, CorrectVerdict, Outcome, TokenCount, Turn, TurnHashes

KEY = CellKey(model="openai/m", arch="cpu", device="cpu", task="t", workload="w", language="cpp", protocol="strict", run="r")
PLACE = Place(task="t", workload="w", arch="cpu", variant="plain", number=0)


def line(outcome, *reasons):
    turn = Turn(
        key=KEY,
        variant="plain",
        trajectory="plain-0",
        turn=3,
        outcome=outcome,
        undecided=None,
        blame=Blame.CANDIDATE,
        correct=CorrectVerdict(paper=False, strict=False, reasons=reasons),
        speedup=None,
        candidate_us=None,
        reference_us=None,
        proof=None,
        hashes=TurnHashes(prompt="p", reply="r", source=None, evaluation=None, task="t"),
        tokens=TokenCount(),
        cost_usd=None,
        seconds={},
    )
    return event_line("", TurnFinished(PLACE, turn)).removeprefix("t plain-0 turn 3: ")


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("cut_off", "cut off"),
        ("refusal", "refused"),
        ("empty_reply", "empty"),
        ("empty_block", "empty code block"),
        ("only_other_labels", "no code block with the right label"),
        ("no_block", "no code block"),
    ],
)
def test_a_reply_without_code_says_why(reason, told):
    assert line(Outcome.NO_CODE, reason) == f"no_code ({told})"


@pytest.mark.parametrize("outcome", [Outcome.RUNTIME_ERROR, Outcome.LOAD_ERROR])
def test_a_failure_shows_the_first_line_of_its_message_without_paths(outcome):
    said = "load: undefined symbol in /secret/host/dir/library.so\nand much more"
    assert line(outcome, "strict policy: something else", said) == f"{outcome} (load: undefined symbol in library.so)"


def test_a_failures_message_is_bounded_and_cannot_write_to_the_terminal():
    told = line(Outcome.RUNTIME_ERROR, "compare: \x1b[2J\x07" + "x" * 5000)
    shown = told.removeprefix("runtime_error (").removesuffix(")")
    assert len(shown) == MOST_CHARACTERS and shown.startswith("compare: [2Jxx") and shown.isprintable()


def test_other_outcomes_stay_one_word():
    assert line(Outcome.WRONG_VALUE, "element rule: 7 elements of Y") == "wrong_value"
    assert line(Outcome.RUNTIME_ERROR) == "runtime_error"
