"""The multi-turn engine: rows, conversations, what is kept of them, and what a first request says."""

from collections import Counter

import pytest

from ptxbench.agent.engine.events import Answered, Asking, Evaluating, MeasuringReference, RunStarted, TrajectoryEnded, TurnFinished
from ptxbench.agent.engine.ledger import Ledger
from ptxbench.agent.engine.manifest import read_manifest
from ptxbench.agent.engine.run import device_of
from ptxbench.agent.models import Reply, Sampling
from ptxbench.core.errors import ModelError
from ptxbench.metrics import summarise
from ptxbench.report import load_runs, render
from ptxbench.schema import Baseline, Device, Outcome


def test_a_run_makes_one_row_per_turn(play, tmp_path, code, rows):
    replies = [code("outcome: compile_error"), "no code", code("outcome: wrong_value"), code("speedup: 1.5")]
    summary, evaluator, _, events = play(lambda t, n: replies[n], turns=4)
    assert (summary.planned_turns, summary.evaluated_turns, summary.new_turns, summary.finished, summary.exit_code) == (
        4,
        4,
        4,
        1,
        0,
    )
    made = rows(tmp_path / "run")
    assert [row.outcome for row in made] == [Outcome.COMPILE_ERROR, Outcome.NO_CODE, Outcome.WRONG_VALUE, Outcome.CORRECT]
    assert [row.turn for row in made] == [0, 1, 2, 3]
    assert made[3].speedup == 1.5 and made[3].candidate_us == 100.0
    assert all(row.key == made[0].key for row in made)
    assert (made[0].key.device, made[0].key.language, made[0].key.protocol, made[0].variant) == ("cpu", "cpp", "strict", "plain")
    assert made[1].hashes.source is None and made[1].seconds.keys() == {"model"}
    assert made[0].tokens.input == 10 and made[0].cost_usd == 0.25
    assert len(evaluator.calls) == 3 and evaluator.closed
    kinds = Counter(type(event) for event in events)
    assert (kinds[RunStarted], kinds[TurnFinished], kinds[TrajectoryEnded]) == (1, 4, 1)
    judged, without_code = (Asking, Answered, Evaluating, TurnFinished), (Asking, Answered, TurnFinished)
    assert [type(event) for event in events[1:-1]] == [*judged, *without_code, *judged, *judged]
    assert {(event.tokens.input, event.tokens.output) for event in events if isinstance(event, Answered)} == {(10, 5)}


def test_everything_is_in_the_store_by_hash(play, tmp_path, code, rows):
    replies = [code("outcome: wrong_value"), code("speedup: 2")]
    play(lambda t, n: replies[n])
    first, second = rows(tmp_path / "run")
    with Ledger(tmp_path / "run") as ledger:
        assert ledger.reply(first.hashes.reply).text == replies[0]
        assert ledger.candidate(first.hashes.source).hash == first.hashes.source
        assert ledger.evaluation(first.hashes.evaluation).outcome is Outcome.WRONG_VALUE
        sent = ledger.prompt(second.hashes.prompt)
    assert [message.role for message in sent] == ["system", "user", "assistant", "user"]
    assert sent[2].content == replies[0]
    assert sent[3].content.startswith("Reply 1 of 2: the code runs, but its results are wrong.")


@pytest.mark.parametrize(
    ("history", "roles"),
    [
        ("full", ["system", "user", "assistant", "user", "assistant", "user"]),
        ("latest", ["system", "user", "assistant", "user"]),
        ("single", ["system", "user"]),
    ],
)
def test_history_policies(play, history, roles, code):
    replies = [code("outcome: wrong_value", "one"), code("outcome: timeout", "two"), code("three")]
    _, _, model, _ = play(lambda t, n: replies[n], turns=3, history=history)
    sent = model.asked[2][2]
    assert [message.role for message in sent] == roles
    text = "\n".join(message.content for message in sent)
    assert ("// one" in text) is (history != "latest")
    assert "// two" in text and "did not finish in time" in text


def test_refused_and_cut_off_replies_hold_no_code(play, tmp_path, code, rows):
    answers = [Reply(text=code(), finish="length"), Reply(text=code(), finish="refusal"), ""]
    _, evaluator, _, _ = play(lambda t, n: answers[n], turns=3)
    made = rows(tmp_path / "run")
    assert [row.outcome for row in made] == [Outcome.NO_CODE] * 3
    assert [row.correct.reasons for row in made] == [("cut_off",), ("refusal",), ("empty_reply",)]
    assert evaluator.calls == []


def test_an_undecided_evaluation_is_a_turn_without_an_outcome(play, tmp_path, code, rows):
    summary, *_ = play(lambda t, n: code("outcome: undecided"))
    assert (summary.undecided_turns, summary.undecided_because, summary.exit_code) == (2, "this machine has no GPU", 4)
    assert [(row.outcome, row.undecided) for row in rows(tmp_path / "run")] == [(None, "this machine has no GPU")] * 2


def test_a_finished_run_asks_and_evaluates_nothing_again(play, code):
    first, _, _, _ = play(lambda t, n: code(f"{t} {n}"), trajectories=3)
    again, evaluator, model, _ = play(lambda t, n: code("other"), trajectories=3)
    assert (again.run, again.new_turns, again.evaluated_turns) == (first.run, 0, 6)
    assert model.asked == [] and evaluator.calls == []


def test_the_device_of_a_cell_is_known_before_its_first_turn(scripted):
    class OnGpu(scripted.ScriptedEvaluator):
        device = Device(name="NVIDIA H200", id="h200", driver="580")

    class Static(scripted.ScriptedEvaluator):
        backend = "static"

    gpu, cpu = scripted.make_task(arch="sm_90a"), scripted.make_task()
    assert device_of(OnGpu(), gpu) == "h200"
    assert device_of(scripted.ScriptedEvaluator(), cpu) == "cpu"
    assert device_of(Static(), cpu) is None and device_of(Static(), gpu) is None


def test_sampling_seeds_differ_by_trajectory_and_turn(play, code):
    _, _, model, _ = play(lambda t, n: code(), trajectories=2, sampling=Sampling(seed=7))
    assert {(trajectory, turn): seed for trajectory, turn, _, seed in model.asked} == {
        ("plain-0", 0): 7, ("plain-0", 1): 8, ("plain-1", 0): 1007, ("plain-1", 1): 1008,
    }  # fmt: skip


def test_a_distrusted_speedup_is_not_called_the_best(play, scripted, code):
    class TooFast(scripted.ScriptedEvaluator):
        async def evaluate(self, candidate, task, options):
            made = await super().evaluate(candidate, task, options)
            flag = scripted.Flag(code="under_roofline", text="faster than the device can be")
            return made.model_copy(update={"flags": (flag,)}) if "too fast" in candidate.sources[0].content else made

    replies = [code("speedup: 90", "too fast"), code("speedup: 2"), code("speedup: 1.5"), code()]
    _, _, model, _ = play(lambda t, n: replies[n], turns=4, evaluator=TooFast())
    told = [message.content for message in model.asked[3][2] if message.role == "user"]
    assert "Best so far" not in told[1]
    assert "Best so far: reply 2 with a speedup of 2." in told[3]
    assert "a speedup of 90" in told[1] and "under_roofline" in told[1]


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_number_that_json_cannot_say_does_not_end_a_run(play, scripted, tmp_path, value, code):
    class Infinite(scripted.ScriptedEvaluator):
        async def evaluate(self, candidate, task, options):
            made = await super().evaluate(candidate, task, options)
            return made.model_copy(update={"latency": scripted.make_latency(value), "seconds": {"compare": value}})

    summary, _, _, _ = play(lambda t, n: code(), evaluator=Infinite())
    assert summary.evaluated_turns == 2
    table = load_runs([tmp_path / "run"])
    made = summarise(table.turns, table.planned)
    for format in ("table", "json", "csv", "markdown"):
        assert "nan" not in render(made, format).lower() and "inf" not in render(made, format).lower()
    assert made[0].at["8"].best_speedup is None and made[0].at["8"].correct_turns == 2


def measuring(scripted, latencies: list[float]):
    """An evaluator that measures the reference, another latency each time that it is asked."""

    class Measuring(scripted.ScriptedEvaluator):
        device = Device(name="NVIDIA H200", id="h200", driver="580")

        async def baseline(self, task):
            return Baseline(device="h200", library="cuBLAS", version="13.1.0", latency_us=latencies.pop(0))

    return Measuring()


def test_the_first_request_names_what_the_reference_takes_and_a_run_that_goes_on_says_the_same(play, scripted, tmp_path, code):
    first = play(lambda t, n: code() if n == 0 else ModelError("down"), evaluator=measuring(scripted, [812.5]))[3]
    _, _, model, events = play(lambda t, n: code(), evaluator=measuring(scripted, []))
    assert isinstance(first[0], MeasuringReference) and not any(isinstance(event, MeasuringReference) for event in events)
    assert read_manifest(tmp_path / "run").cells[0].baseline == Baseline(
        device="h200", library="cuBLAS", version="13.1.0", latency_us=812.5
    )
    ((_, _, messages, _),) = [one for one in model.asked if one[:2] == ("plain-0", 1)]
    assert "cuBLAS 13.1.0 takes 812.5 us on this device" in messages[1].content


def test_the_published_profile_is_told_no_baseline_and_none_is_measured(play, scripted, tmp_path, code):
    play(lambda t, n: code(), feedback="paper", evaluator=measuring(scripted, []))
    assert read_manifest(tmp_path / "run").cells[0].baseline is None
