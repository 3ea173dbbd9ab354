"""A run directory keeps to one version of code, suite, toolchain and model; another goes in only when told to, on record."""

import asyncio
import json

import pytest

from ptxbench.agent import RunConfig, run
from ptxbench.agent.engine.ledger import ReplyStep, TurnStep, read_steps
from ptxbench.agent.engine.manifest import read_manifest
from ptxbench.agent.models import Reply, Usage
from ptxbench.core.errors import ModelError, RunMismatch
from ptxbench.schema import Device, Proof, TurnProof

SERVED = "some-model-2026-01-01"
OTHER = "some-model-2026-02-02"


class Model:
    """Answers each turn once; ``served`` says under which name, ``until`` from which turn on it is out of order."""

    name = "openai/some-model"

    def __init__(self, served=lambda turn: SERVED, until=99):
        self._served = served
        self._until = until
        self.asked = []

    def facts(self):
        return {}

    async def reply(self, messages, config):
        self.asked.append((config.trajectory, config.turn))
        if config.turn >= self._until:
            raise ModelError("out of order")
        text = f"```cpp\n// {config.trajectory} {config.turn}\nvoid run() {{}}\n```"
        return Reply(text=text, usage=Usage(input=7), served_model=self._served(config.turn))

    async def close(self):
        pass


@pytest.fixture
def play(scripted, tmp_path):
    def go(model=None, evaluator=None, suite=None, accept=False, **changes):
        config = RunConfig(**({"tasks": ("twice",), "model": "openai/some-model", "trajectories": 1, "turns": 3} | changes))
        evaluator = evaluator or scripted.ScriptedEvaluator()
        going = run(
            config,
            suite or scripted.OneSuite(),
            lambda task: evaluator,
            tmp_path / "run",
            model=model or Model(),
            accept_changes=accept,
        )
        return asyncio.run(going)

    return go


def rows(folder):
    return [step.row for step in read_steps(folder / "run") if isinstance(step, TurnStep)]


def test_a_model_that_is_served_under_another_name_stops_the_run_and_its_reply_makes_no_turn(play, tmp_path):
    with pytest.raises(RunMismatch, match="answers with another model") as caught:
        play(Model(lambda turn: SERVED if turn < 2 else OTHER))
    assert caught.value.details["field"] == "served_model"
    assert [row.served_model for row in rows(tmp_path)] == [SERVED, SERVED]
    assert read_manifest(tmp_path / "run").served_models == (SERVED,)


def test_a_refused_reply_is_refused_again_before_anything_is_asked_and_used_once_it_is_accepted(play, tmp_path):
    served = lambda turn: SERVED if turn < 2 else OTHER  # noqa: E731
    with pytest.raises(RunMismatch):
        play(Model(served))
    again = Model(served)
    with pytest.raises(RunMismatch):
        play(again)
    accepting = Model(served)
    summary = play(accepting, accept=True)
    assert again.asked == accepting.asked == []
    assert (summary.evaluated_turns, summary.new_turns) == (3, 1)
    assert [row.served_model for row in rows(tmp_path)] == [SERVED, SERVED, OTHER]
    manifest = read_manifest(tmp_path / "run")
    assert manifest.served_models == (SERVED, OTHER)
    assert [(change.field, change.was, change.now, change.turns_done) for change in manifest.accepted] == [
        ("served_model", SERVED, OTHER, 2)
    ]
    assert len([step for step in read_steps(tmp_path / "run") if isinstance(step, ReplyStep)]) == 3


def test_an_endpoint_that_names_no_model_is_no_other_one(play, tmp_path):
    play(Model(lambda turn: SERVED if turn == 1 else None))
    assert [row.served_model for row in rows(tmp_path)] == [None, SERVED, None]


def test_accepted_versions_are_on_record_and_rows_name_their_own(play, scripted, tmp_path):
    play(Model(until=1))
    suite = scripted.OneSuite()
    suite.hash = "sha256:new-suite"
    with pytest.raises(RunMismatch, match="suite"):
        play(suite=suite)
    summary = play(suite=suite, accept=True)
    assert summary.evaluated_turns == 3
    assert [row.hashes.suite for row in rows(tmp_path)] == ["sha256:suite", "sha256:new-suite", "sha256:new-suite"]
    (change,) = read_manifest(tmp_path / "run").accepted
    assert (change.field, change.was, change.now, change.turns_done) == ("suite", "sha256:suite", "sha256:new-suite", 1)
    assert play(suite=suite).new_turns == 0


@pytest.mark.parametrize("part", ["version", "templates", "agent", "judge", "numpy"])
def test_other_code_is_refused_unless_it_is_accepted(play, tmp_path, part):
    play(Model(until=1))
    manifest = read_manifest(tmp_path / "run")
    manifest.model_copy(update={"code": manifest.code.model_copy(update={part: "another"})}).write(tmp_path / "run")
    with pytest.raises(RunMismatch, match=part) as caught:
        play()
    assert "--accept-changes" in caught.value.next_step
    assert play(accept=True).evaluated_turns == 3
    assert [(change.field, change.was) for change in read_manifest(tmp_path / "run").accepted] == [(f"code.{part}", "another")]


def test_another_toolchain_is_accepted_only_on_the_users_word(play, scripted, tmp_path):
    play(Model(until=1))
    other = scripted.ScriptedEvaluator(toolchain="sha256:another")
    summary = play(evaluator=other, accept=True)
    assert summary.evaluated_turns == 3
    assert [row.hashes.toolchain for row in rows(tmp_path)] == ["sha256:toolchain", "sha256:another", "sha256:another"]
    assert [change.field for change in read_manifest(tmp_path / "run").accepted] == ["toolchain cpu"]


def test_settings_are_no_versions_and_a_refused_run_changes_nothing_on_record(play, scripted, tmp_path):
    play(Model(until=1))
    before = (tmp_path / "run" / "run.json").read_bytes()
    suite = scripted.OneSuite()
    suite.hash = "sha256:new-suite"
    with pytest.raises(RunMismatch, match="turns"):
        play(suite=suite, accept=True, turns=4)
    assert (tmp_path / "run" / "run.json").read_bytes() == before


def test_the_manifest_names_device_driver_and_system_and_where_the_run_went_on(play, scripted, tmp_path):
    class OnGpu(scripted.ScriptedEvaluator):
        def __init__(self, driver):
            super().__init__()
            self.device = Device(name="CPU of some kind", id="cpu", driver=driver)

    play(Model(until=1), OnGpu("580.65"))
    manifest = read_manifest(tmp_path / "run")
    assert manifest.environment.devices == (Device(name="CPU of some kind", id="cpu", driver="580.65"),)
    assert manifest.environment.python and "Linux" in manifest.environment.platform
    assert manifest.resumed_in == ()
    play(Model(until=2), OnGpu("580.65"))
    assert read_manifest(tmp_path / "run") == manifest
    play(Model(), OnGpu("590.10"))
    after = read_manifest(tmp_path / "run")
    assert after.environment == manifest.environment
    assert [one.devices[0].driver for one in after.resumed_in] == ["590.10"]


def test_a_row_has_every_figure_of_its_evaluation(play, scripted, tmp_path):
    class Measured(scripted.ScriptedEvaluator):
        async def evaluate(self, candidate, task, options):
            made = await super().evaluate(candidate, task, options)
            proof = Proof(status="qualified", compute=True, data_movement=None, work_share=0.97, method="cupti", kernels=())
            return made.model_copy(
                update={
                    "latency": made.latency.model_copy(update={"paired_speedup": 0.52}),
                    "proof": proof,
                    "flags": (scripted.Flag(code="late_work", text="busy"),),
                    "hashes": made.hashes.model_copy(update={"reference": "sha256:reference"}),
                    "seconds": {"build": 1.5, "compare": 0.25, "time": None},
                }
            )

    play(evaluator=Measured(), turns=1)
    (row,) = rows(tmp_path)
    assert (row.speedup, row.paired_speedup, row.candidate_us, row.reference_us) == (0.5, 0.52, 100.0, 50.0)
    assert row.proof == TurnProof(status="qualified", compute=True, data_movement=None, work_share=0.97)
    assert row.flags == ("late_work",)
    assert row.hashes.reference == "sha256:reference" and row.hashes.pack is None
    assert row.seconds.keys() == {"model", "build", "compare", "time"}
    assert (row.tokens.input, row.tokens.output, row.cost_usd) == (7, None, None)


def test_rows_of_the_first_version_are_still_read(play, tmp_path):
    play(turns=1)
    path = tmp_path / "run" / "journal.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["kind"] == "turn":
            for name in ("paired_speedup", "sampling", "served_model"):
                del line["row"][name]
            del line["row"]["hashes"]["suite"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (row,) = rows(tmp_path)
    assert (row.paired_speedup, row.sampling, row.served_model, row.hashes.suite) == (None, {}, None, None)
