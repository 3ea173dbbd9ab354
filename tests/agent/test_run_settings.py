"""A run directory never mixes settings, versions or writers, and says which one differs."""

import asyncio
import json

import pytest

from ptxbench.agent import RunConfig, run
from ptxbench.agent.engine.ledger import Ledger
from ptxbench.agent.engine.manifest import read_manifest
from ptxbench.agent.models import Sampling
from ptxbench.core.errors import ModelError, RunMismatch, UsageError
from ptxbench.schema import Profile

CHANGES = {
    "config.turns": {"turns": 3},
    "config.trajectories": {"trajectories": 2},
    "config.profile": {"profile": Profile.PAPER},
    "config.feedback": {"feedback": "paper"},
    "config.history": {"history": "latest"},
    "config.seed": {"seed": 1},
    "config.sampling": {"sampling": Sampling(temperature=0.1)},
    "config.language": {"language": "python"},
    "config.tasks": {"tasks": ("twice", "twice_gpu")},
}


@pytest.mark.parametrize("field", CHANGES)
def test_other_settings_are_refused_with_the_field_that_differs(play, field, code):
    play(lambda t, n: code())
    with pytest.raises(RunMismatch, match=field) as caught:
        play(lambda t, n: code(), **CHANGES[field])
    assert caught.value.details["field"] == field and caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("sampling", "told"),
    [
        (Sampling(temperature=0.5), "config.sampling.temperature: null, now 0.5"),
        (Sampling(top_p=0.9, seed=7), "config.sampling.top_p: null, now 0.9; config.sampling.seed: null, now 7"),
    ],
)
def test_of_nested_settings_the_one_that_differs_is_named_with_both_values(play, sampling, told, code):
    play(lambda t, n: code())
    with pytest.raises(RunMismatch) as caught:
        play(lambda t, n: code(), sampling=sampling)
    before, _, differences = caught.value.message.partition("another ")
    assert before == "the run directory was made with " and sorted(differences.split("; ")) == sorted(told.split("; "))
    assert "--accept-changes" not in caught.value.next_step


@pytest.mark.parametrize(
    ("key", "was", "told"),
    [
        ("pack", "hopper", "--pack hopper there, --pack auto now"),
        ("pack", None, "--pack none there, --pack auto now"),
        ("arm", "wrappers", "--arm wrappers there, no --arm now"),
        ("guidance", "tiling", "--guidance tiling there, no --guidance now"),
    ],
)
def test_options_of_knowledge_are_told_as_they_are_typed(play, tmp_path, key, was, told, code):
    play(lambda t, n: code())
    manifest = read_manifest(tmp_path / "run")
    manifest.model_copy(update={"config": manifest.config | {key: was}}).write(tmp_path / "run")
    with pytest.raises(RunMismatch) as caught:
        play(lambda t, n: code())
    assert caught.value.message == f"the run directory was made with another config.{key}: {told}"
    assert caught.value.details["field"] == f"config.{key}"


@pytest.mark.parametrize(
    ("part", "value", "accepted"), [("device", "other-gpu", False), ("arch", "sm_90a", False), ("task_hash", "sha256:other", True)]
)
def test_of_cells_the_part_that_differs_is_named(play, tmp_path, part, value, accepted, code):
    play(lambda t, n: code())
    manifest = read_manifest(tmp_path / "run")
    (cell,) = manifest.cells
    update = {"task_hash": value} if part == "task_hash" else {"key": cell.key.model_copy(update={part: value})}
    manifest.model_copy(update={"cells": (cell.model_copy(update=update),)}).write(tmp_path / "run")
    with pytest.raises(RunMismatch) as caught:
        play(lambda t, n: code())
    assert f'another cells.{cell.key.task}@{cell.key.workload}.{part}: "{value}", now "' in caught.value.message
    assert ("--accept-changes" in caught.value.next_step) == accepted, "settings cannot be accepted away"


def test_settings_that_change_no_number_may_change(play, code):
    play(lambda t, n: code())
    summary, _, _, _ = play(lambda t, n: code(), concurrency=1, evaluation_attempts=9, evaluation_wait_s=1.0)
    assert summary.new_turns == 0


def test_another_suite_or_model_is_refused(scripted, playing, play, tmp_path, code):
    play(lambda t, n: code())
    config = RunConfig(tasks=("twice",), model="openai/table", trajectories=1, turns=2)
    suite, model = scripted.OneSuite(), playing.TableModel(None)
    suite.hash = "sha256:other"
    with pytest.raises(RunMismatch, match="suite"):
        asyncio.run(run(config, suite, lambda task: scripted.ScriptedEvaluator(), tmp_path / "run", model=model))
    model.name = "openai/other"
    with pytest.raises(RunMismatch, match="another model"):
        asyncio.run(run(config, scripted.OneSuite(), lambda task: scripted.ScriptedEvaluator(), tmp_path / "run", model=model))


def test_another_toolchain_is_refused_before_its_verdict_is_kept(scripted, playing, play, tmp_path, code, rows):
    play(lambda t, n: ModelError("later") if n else code())
    assert read_manifest(tmp_path / "run").toolchains == {"cpu": "sha256:toolchain"}
    with pytest.raises(RunMismatch, match="toolchain"):
        play(lambda t, n: code(), evaluator=scripted.ScriptedEvaluator(toolchain="sha256:another"))
    assert len(rows(tmp_path / "run")) == 1


def test_plans_that_cannot_be_run_are_refused_before_anything_is_written(play, tmp_path, code):
    for changes in (
        {"tasks": ("nothing",)},
        {"tasks": ("twice",), "language": "cuda"},
        {"variants": ("nope",)},
        {"arch": {"other": "cpu"}},
        {"arch": "sm_1"},
    ):
        with pytest.raises(UsageError):
            play(lambda t, n: code(), **changes)
    assert not (tmp_path / "run").exists()


def test_a_folder_with_other_things_in_it_is_refused(play, tmp_path, code):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("precious")
    with pytest.raises(UsageError, match=r"thesis\.tex"):
        play(lambda t, n: code())
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.tex"]


def test_a_second_writer_is_refused(play, tmp_path, code):
    play(lambda t, n: code())
    with Ledger(tmp_path / "run"), pytest.raises(UsageError, match="another process"):
        play(lambda t, n: code())


def test_the_manifest_names_no_path_of_this_machine(scripted, tmp_path, code):
    recording = tmp_path / "replies.jsonl"
    recording.write_text("\n".join(json.dumps({"turn": n, "text": code("outcome: wrong_value")}) for n in range(2)))
    config = RunConfig(tasks=("twice",), model=f"replay/{recording}", trajectories=2, turns=2)
    asyncio.run(run(config, scripted.OneSuite(), lambda task: scripted.ScriptedEvaluator(), tmp_path / "run"))
    manifest = read_manifest(tmp_path / "run")
    assert manifest.model == manifest.config["model"] == "replay/replies.jsonl"
    assert manifest.cells[0].key.run == manifest.run
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert str(tmp_path).encode() not in written
    assert b"/somewhere/of/this/machine" not in written
    recording.write_text(recording.read_text() + "\n" + json.dumps({"turn": 2, "text": "more"}))
    with pytest.raises(RunMismatch, match="model_facts"):
        asyncio.run(run(config, scripted.OneSuite(), lambda task: scripted.ScriptedEvaluator(), tmp_path / "run"))


def test_steps_without_their_manifest_are_not_given_another(play, tmp_path, code):
    play(lambda t, n: code())
    (tmp_path / "run" / "run.json").unlink()
    before = (tmp_path / "run" / "journal.jsonl").read_bytes()
    with pytest.raises(UsageError, match="lost"):
        play(lambda t, n: code(), turns=3)
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == before and not (tmp_path / "run" / "run.json").exists()


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("schema_version", {"schema_version": 99}),
        ("protocol_version", {"protocol_version": "99"}),
        ("model_facts", {"model_facts": {"recording": "sha256:other"}}),
        ("suite", {"suite": "sha256:other"}),
        ("cells", {"cells": ()}),
    ],
)
def test_a_manifest_that_says_something_else_is_refused(play, tmp_path, field, change, code):
    play(lambda t, n: code())
    read_manifest(tmp_path / "run").model_copy(update=change).write(tmp_path / "run")
    with pytest.raises(RunMismatch) as caught:
        play(lambda t, n: code())
    assert caught.value.details["field"] == field
