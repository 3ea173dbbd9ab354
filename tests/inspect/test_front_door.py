"""``inspect eval ptxbench/primary``, as a user starts it, against a provider on loopback."""

import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed (make test-inspect)")
pytestmark = pytest.mark.inspect

from ptxbench.agent.engine.ledger import TurnStep, read_steps  # noqa: E402 - after the skip
from ptxbench.agent.engine.manifest import read_manifest  # noqa: E402
from ptxbench.report import load_runs  # noqa: E402

KEY = "sk-very-secret-0123456789"
OUTCOMES = ["no_code", "wrong_value", "correct"]


def rows(folder: Path, trajectory: str):
    steps = [step for step in read_steps(folder) if isinstance(step, TurnStep)]
    return sorted((step.row for step in steps if step.row.trajectory == trajectory), key=lambda row: row.turn)


def told(sample):
    return [event.data for event in sample.events if event.event == "info" and event.source == "ptxbench"]


def test_every_trajectory_is_a_sample_and_the_journal_holds_its_turns(played):
    place, provider, _ = played
    log = place.logs()[0]
    assert log.status == "success" and [(sample.epoch, sample.error) for sample in log.samples] == [(1, None), (2, None)]
    assert sorted(provider.requests) == [0, 0, 1, 1, 2, 2]
    for number in (0, 1):
        assert [row.outcome for row in rows(place.folder, f"plain-{number}")] == OUTCOMES


def test_the_log_holds_our_turns_as_events_between_the_models(played):
    place, _, _ = played
    log = place.logs()[0]
    for sample in log.samples:
        kinds = [event.event for event in sample.events if event.event == "model" or getattr(event, "source", "") == "ptxbench"]
        assert kinds == ["model", "info"] * 3
        assert [(turn["turn"], turn["outcome"], turn["from_journal"]) for turn in told(sample)] == [
            (number, outcome, False) for number, outcome in enumerate(OUTCOMES)
        ]


def test_the_log_holds_the_conversation_as_it_was_played(played):
    place, _, _ = played
    log = place.logs()[0]
    for sample in log.samples:
        assert [message.role for message in sample.messages] == ["system", "user", *["assistant", "user"] * 2, "assistant"]
        assert "def run(X, Y)" in sample.messages[-1].text and "softmax" in sample.messages[1].text
        assert sample.messages[2].content[0].reasoning == "He sent [key]."
        assert "def run(X, Y)" in sample.output.completion


def test_scores_and_hashes_in_the_log_are_those_of_the_journal(played):
    place, _, _ = played
    manifest = read_manifest(place.folder)
    log = place.logs()[0]
    for sample in log.samples:
        turns = rows(place.folder, f"plain-{sample.epoch - 1}")
        (score,) = sample.scores.values()
        assert score.value == {
            "best_speedup": turns[2].speedup,
            "correct_turns": 1,
            "target_turns": 0,
            "undecided_turns": 0,
            "turns": 3,
        }
        about = sample.metadata
        assert about["turn_hashes"] == [turn.hashes.model_dump(mode="json") for turn in turns]
        assert (about["run"], about["suite_hash"], about["task_hash"]) == (
            manifest.run,
            manifest.suite,
            manifest.cells[0].task_hash,
        )
        assert about["trajectory_ended"] == {"state": "finished", "reason": None}


def test_inspects_sampling_is_recorded_as_the_runs(played):
    place, _, _ = played
    manifest = read_manifest(place.folder)
    assert manifest.model == "inspect/openai-api/local/some-model"
    assert manifest.config["sampling"]["temperature"] == 0.5


def test_the_report_reads_the_run_as_any_other(played):
    place, _, _ = played
    table = load_runs([place.folder])
    assert len(table.turns) == 6 and {turn.key.harness for turn in table.turns} == {"mini"}


def test_nothing_is_written_outside_of_the_run_directory(played):
    place, _, _ = played
    outside = [path for path in place.root.rglob("*") if path.is_file() and place.folder not in path.parents]
    assert outside == []
    assert {path.name for path in place.folder.iterdir()} == {"run.json", "journal.jsonl", "store", "inspect"}


def test_the_key_is_in_no_file_and_on_no_terminal(played):
    place, _, printed = played
    seen = list(place.texts())
    assert [str(path) for path, text in seen if KEY in text] == []
    # What stands where the key was shows that these files were really looked into.
    assert {path.suffix for path, text in seen if "[key]" in text} >= {"", ".eval"}
    assert KEY not in printed


def test_a_second_call_asks_nothing_and_its_log_holds_all_turns(played):
    here, provider, _ = played
    asked = len(provider.requests)
    status, printed = here.play("--temperature", "0.5")
    assert status == 0, printed
    assert len(provider.requests) == asked == 6
    first, second = here.logs()[0], here.logs()[-1]
    assert first.location != second.location
    assert [sample.scores["trajectory_scores"].value for sample in first.samples] == [
        sample.scores["trajectory_scores"].value for sample in second.samples
    ]
    for sample in second.samples:
        assert [(turn["outcome"], turn["from_journal"]) for turn in told(sample)] == [(outcome, True) for outcome in OUTCOMES]
        assert len(sample.messages) == 7


def test_other_settings_are_refused_in_a_directory_that_was_made_otherwise(played):
    here, provider, _ = played
    asked = len(provider.requests)
    _, printed = here.play("--temperature", "0.6")
    assert "another config.sampling" in " ".join(printed.split()) and "-T out" in " ".join(printed.split())
    assert len(provider.requests) == asked and len(rows(here.folder, "plain-0")) == 3


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_an_evaluation_that_was_ended_goes_on_and_leaves_no_key(place, end):
    here, provider = place
    provider.hold_from = 2
    process = here.start(*here.arguments(trajectories=1))
    assert provider.held.wait(120)
    process.send_signal(end)
    process.communicate(timeout=60)
    assert provider.requests == [0, 1, 2]
    left = [path for path in here.root.rglob("*") if path.is_file()]
    assert [str(path) for path in left if KEY.encode() in path.read_bytes()] == []
    provider.hold_from = None
    provider.released.set()
    status, printed = here.play(trajectories=1)
    assert status == 0, printed
    assert provider.requests == [0, 1, 2, 2], printed
    assert [row.outcome for row in rows(here.folder, "plain-0")] == OUTCOMES


def test_a_providers_fault_costs_its_trajectory_and_the_next_call_goes_on(place):
    here, provider = place
    provider.refuse_from = 1
    _, printed = here.play()
    (log,) = here.logs()
    assert log.status == "error" and len(log.samples) == 2
    for sample in log.samples:
        assert "HTTP 401" in sample.error.message and "next: run the same command again" in sample.error.message
        assert told(sample)[0]["outcome"] == "no_code" and "HTTP 401" in told(sample)[1]["incident"]
    assert KEY not in printed and [str(path) for path, text in here.texts() if KEY in text] == []
    provider.refuse_from = None
    assert here.play()[0] == 0
    assert here.logs()[-1].status == "success"
    # Each trajectory asked again for the one turn that was refused.
    assert sorted(provider.requests) == [0, 0, 1, 1, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("tasks=cpu_sofmax_n1024", "unknown task 'cpu_sofmax_n1024'; next: did you mean cpu_softmax_n1024"),
        ("profile=loose", "profile: Input should be 'paper' or 'strict'; next: correct it after -T"),
    ],
)
def test_a_wrong_setting_is_one_line_and_exit_code_2(place, wrong, said):
    here, _ = place
    status, printed = here.play("-T", wrong)
    assert status == 2 and f"Error: {said}" in printed and "Traceback" not in printed


def test_more_epochs_than_trajectories_are_refused_with_the_next_step(place):
    here, _ = place
    _, printed = here.play("--epochs", "2", trajectories=1, turns=1)
    assert "use -T trajectories=2: the number of epochs follows from it" in " ".join(printed.split())
    assert len(rows(here.folder, "plain-0")) == 1


def test_a_cap_holds_over_all_samples_and_a_higher_one_goes_on(place):
    here, provider = place
    capped = ("--max-samples", "1", "-T")
    _, printed = here.play(*capped, "max_total_tokens=100")
    assert "the cap of 100 tokens is reached" in " ".join(printed.split()) and "with a higher cap" in " ".join(printed.split())
    assert len(provider.requests) == 4, "33 tokens each: the fourth reply passes the cap, and no request begins after it"
    here.play(*capped, "max_total_tokens=100")
    assert len(provider.requests) == 4, "what an earlier call used counts"
    status, printed = here.play(*capped, "max_total_tokens=10_000")
    assert status == 0 and sorted(provider.requests) == [0, 0, 1, 1, 2, 2], printed


@pytest.mark.skipif(find_spec("trio") is None, reason="trio is not installed (make test-inspect)")
def test_trio_is_refused_with_the_next_step(place):
    here, _ = place
    _, printed = here.play(trajectories=1, turns=1, INSPECT_ASYNC_BACKEND="trio")
    assert "unset INSPECT_ASYNC_BACKEND" in " ".join(printed.split())


def test_a_run_of_ours_through_a_provider_of_inspects_stays_in_its_directory_too(place):
    here, provider = place
    settings = ["--task", "cpu_softmax_n1024", "--language", "python", "--trajectories", "1", "--turns", "3"]
    process = here.start(
        "run", *settings, "--model", "inspect/openai-api/local/some-model", "--out", "runs/first", module="ptxbench"
    )
    printed, _ = process.communicate(timeout=240)
    assert process.returncode == 0, printed
    assert [row.outcome for row in rows(here.folder, "plain-0")] == OUTCOMES and provider.requests == [0, 1, 2]
    files = [path for path in here.root.rglob("*") if path.is_file()]
    assert [path for path in files if here.folder not in path.parents] == []
    assert [str(path) for path in files if KEY.encode() in path.read_bytes()] == [] and KEY not in printed


def test_inspect_finds_the_task_by_its_entry_point():
    from importlib.metadata import entry_points

    (found,) = entry_points(group="inspect_ai", name="ptxbench")
    assert found.load().primary.__name__ == "primary"
