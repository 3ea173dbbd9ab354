"""What a full run tells of the hardware under a correct kernel: counters within their budget, and the clock."""

import pytest

from ptxbench.agent.feedback import Best, evaluation_feedback
from ptxbench.agent.feedback.counters import stall_meanings
from ptxbench.agent.feedback.profile import CHARACTERS_PER_TOKEN, COUNTERS_BUDGET, budget_characters
from ptxbench.evaluate.tools.counters_report import metric_table
from ptxbench.schema import Clocks, Counters, Flag, Outcome


def test_counters_of_a_correct_kernel_are_as_recorded(recorded, telling, scripted):
    task, evaluation = telling.records(scripted, Outcome.CORRECT)
    evaluation = evaluation.model_copy(update={"counters": telling.COUNTERS})
    arguments = {"turn": 2, "turns": 8, "best": Best(turn=0, speedup=0.75), "task": task}
    text = evaluation_feedback(evaluation, telling.CANDIDATE, profile="full", **arguments)
    recorded.checked("correct-counters", text)
    assert telling.HOST not in text and "another_ncu" not in text
    paper = evaluation_feedback(evaluation, telling.CANDIDATE, profile="paper", **arguments)
    assert paper == (recorded.FOLDER / "correct-paper.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("throttle", "held_back"),
    [
        ((), ""),
        (
            ("software_power_cap", "software_thermal"),
            ", held back by: software power cap, software thermal",
        ),
    ],
)
def test_the_clock_is_told_to_full_runs_alone(telling, scripted, throttle, held_back):
    task, evaluation = telling.records(scripted, Outcome.CORRECT)
    clocks = Clocks(sm_mhz_before=1980, sm_mhz_after=1755, temperature_c=52, power_w=690.0, throttle=throttle)
    evaluation = evaluation.model_copy(update={"latency": scripted.make_latency().model_copy(update={"clocks": clocks})})
    said = {p: evaluation_feedback(evaluation, telling.CANDIDATE, profile=p, turn=2, turns=8, task=task) for p in ("full", "paper")}
    assert f"The SMs' clock after timing was 1755 MHz{held_back}.\n" in said["full"]
    assert "clock" not in said["paper"]


def test_the_clock_under_load_is_told_where_it_was_seen(telling, scripted):
    task, evaluation = telling.records(scripted, Outcome.CORRECT)
    clocks = Clocks(
        sm_mhz_before=1980,
        sm_mhz_after=1980,
        sm_mhz_timed=1590,
        temperature_c=52,
        power_w=690.0,
        throttle=("software_power_cap",),
    )
    evaluation = evaluation.model_copy(update={"latency": scripted.make_latency().model_copy(update={"clocks": clocks})})
    said = evaluation_feedback(evaluation, telling.CANDIDATE, profile="full", turn=2, turns=8, task=task)
    line = "During timing the SMs' clock was 1590 MHz in the median"
    assert f"{line}, held back by: software power cap.\n" in said and "1980" not in said


@pytest.mark.parametrize("counters", [Counters(why="ncu was not found"), None])
def test_that_nothing_was_counted_is_no_matter_of_the_kernels(recorded, telling, scripted, counters):
    task, evaluation = telling.records(scripted, Outcome.CORRECT)
    flag = Flag(code="counters_unknown", text="no hardware counters: ncu was not found")
    evaluation = evaluation.model_copy(update={"counters": counters, "flags": (*evaluation.flags, flag)})
    text = evaluation_feedback(
        evaluation, telling.CANDIDATE, profile="full", turn=2, turns=8, best=Best(turn=0, speedup=0.75), task=task
    )
    assert text == (recorded.FOLDER / "correct-full.md").read_text(encoding="utf-8")


def test_counters_keep_to_their_budget_and_are_the_last_to_go(telling, scripted):
    task, evaluation = telling.records(scripted, Outcome.CORRECT)
    kernel = telling.COUNTERS.kernels[0]
    many = Counters(kernels=tuple(kernel.model_copy(update={"kernel": f"kernel_{n}_{'x' * 150}"}) for n in range(16)))
    text = evaluation_feedback(
        evaluation.model_copy(update={"counters": many}), telling.CANDIDATE, profile="full", turn=0, turns=8, best=None, task=task
    )
    lines = [line for line in text.splitlines() if line.startswith("- kernel_")]
    assert 1 < len(lines) < 16 and sum(map(len, lines)) <= COUNTERS_BUDGET * CHARACTERS_PER_TOKEN
    assert f"- … {16 - len(lines)} more left out …" in text and len(text) <= budget_characters("correct") + 1


def test_every_stall_that_is_asked_for_is_told_in_words():
    table = metric_table()
    assert set(stall_meanings()) == set(table.stalls) - {table.issuing}
