"""48 trajectories of 8 turns against a provider that does all that providers do: right states, right rows, counted requests."""

import asyncio
from collections import Counter

import pytest

from ptxbench.agent import RunConfig, run
from ptxbench.agent.engine.events import TrajectoryEnded
from ptxbench.agent.engine.ledger import EndStep, EvaluationStep, IncidentStep, Ledger, ReplyStep, TurnStep, read_steps
from ptxbench.agent.engine.manifest import read_manifest
from ptxbench.agent.engine.stage import SEED_STRIDE
from ptxbench.agent.models import Sampling
from ptxbench.agent.models.openai_compatible import OpenAICompatibleModel
from ptxbench.agent.retry import RetryPolicy
from ptxbench.metrics import summarise
from ptxbench.report import load_runs

KEY = "sk-key-of-the-misbehaving-provider"
TRAJECTORIES, TURNS = 48, 8
ATTEMPTS = 3
TIMEOUT_S = 4.0

WORKING = ["compile_error", "wrong_value", "runtime_error", "timeout", "wrong_shape", "sanitizer_error", "tampered", "correct"]
"""Outcomes of the turns of a trajectory whose provider behaves."""


def code(place, outcome, *directives, label="cpp"):
    lines = "".join(f"// {line}\n" for line in (f"outcome: {outcome}", f"place {place}", *directives))
    return f"Here it is.\n```{label}\n{lines}void run() {{}}\n```\n"


class Kinds:
    """What the provider does in each kind of trajectory, and what must come of it. Trajectory n is of kind n mod 12."""

    def __init__(self, stub):
        self.stub = stub
        self.names = [
            "well behaved", "empty replies", "several blocks", "429 with a wait", "500 twice", "a request that times out",
            "connections that end", "context overflow", "refusals", "cut off", "an outage", "a judge that fails",
        ]  # fmt: skip
        self.repaired = False

    def kind(self, number):
        return self.names[number % len(self.names)]

    def script(self, number, turn):
        """Return the provider's steps for a place."""
        stub, place = self.stub, (number, turn)
        good = stub.Answer(code(place, WORKING[turn], "speedup: 1.25"))
        kind = self.kind(number)
        if kind == "empty replies":
            return [[stub.Answer(""), stub.Answer("   \n"), stub.Answer("No idea.\n")][turn % 3]]
        if kind == "several blocks":
            earlier = code(place, "tampered", "an earlier draft")
            return [stub.Answer(f"{earlier}\nOr rather:\n{good.text}\nBuild it with:\n```sh\nnvcc kernel.cu\n```\n")]
        if kind == "429 with a wait":
            return [stub.Refused(429, "slow down", headers={"Retry-After": "0"}), good]
        if kind == "500 twice":
            return [stub.Refused(500, "oops"), stub.Refused(503, "still"), good]
        if kind == "a request that times out" and turn == 3:
            return [stub.Silence(), good]
        if kind == "connections that end":
            return [stub.HungUp() if turn % 2 else stub.HalfAnAnswer(), good]
        if kind == "context overflow" and turn == 5:
            return [stub.Refused(400, "This model's maximum context length is 4096 tokens", "context_length_exceeded")]
        if kind == "refusals" and turn % 2:
            text = code(place, "correct")
            return [stub.Answer(text, finish="content_filter") if turn == 1 else stub.Answer(refusal="I cannot help with that.")]
        if kind == "cut off" and turn < 4:
            return [stub.Answer(code(place, "correct"), finish="length")]
        if kind == "an outage" and turn == 6 and not self.repaired:
            return [stub.Refused(502, "bad gateway")]
        if kind == "a judge that fails" and turn in (0, 2):
            return [stub.Answer(code(place, WORKING[turn], "speedup: 1.25", "fault: 2"))]
        return [good]

    def outcomes(self, number):
        """Return the outcomes of a trajectory's rows after the first run."""
        kind = self.kind(number)
        if kind == "empty replies":
            return ["no_code"] * TURNS
        if kind == "refusals":
            return ["no_code" if turn % 2 else WORKING[turn] for turn in range(TURNS)]
        if kind == "cut off":
            return ["no_code"] * 4 + WORKING[4:]
        return WORKING[: {"context overflow": 5, "an outage": 6}.get(kind, TURNS)]

    def requests(self, number, turn):
        """Return how many requests a place takes in the first run."""
        kind = self.kind(number)
        made = len(self.outcomes(number))
        if turn > made or (turn == made and kind not in ("context overflow", "an outage")):
            return 0
        if kind == "an outage" and turn == 6:
            return ATTEMPTS
        return len(self.script(number, turn))

    def state(self, number):
        return {"context overflow": "not_reached", "an outage": "incomplete"}.get(self.kind(number), "finished")


@pytest.fixture(scope="module")
def played(stub, scripted, tmp_path_factory):
    """The run as it was played once, and once more after the outage."""
    provider, kinds = stub.Provider(SEED_STRIDE), Kinds(stub)
    provider.script = kinds.script
    evaluator = scripted.ScriptedEvaluator()
    out = tmp_path_factory.mktemp("misbehaving") / "run"
    config = RunConfig(
        tasks=("twice",),
        model="openai/stub",
        trajectories=TRAJECTORIES,
        turns=TURNS,
        concurrency=TRAJECTORIES,
        sampling=Sampling(seed=0, temperature=0.5, timeout_s=TIMEOUT_S),
        evaluation_wait_s=0.0,
    )

    async def play(events):
        model = OpenAICompatibleModel(
            "stub", base_url=provider.url, api_key=KEY, retry=RetryPolicy(attempts=ATTEMPTS, first_s=0.0, longest_s=0.01)
        )
        try:
            return await run(config, scripted.OneSuite(), lambda task: evaluator, out, events.append, model=model)
        finally:
            await model.close()

    class Played:
        pass

    made = Played()
    made.kinds, made.provider, made.evaluator, made.out, made.events = kinds, provider, evaluator, out, []
    try:
        made.summary = asyncio.run(play(made.events))
        made.steps, made.asked = read_steps(out), provider.asked.copy()
        made.evaluated = Counter(evaluator.calls)
        kinds.repaired = True
        made.again = asyncio.run(play([]))
    finally:
        provider.stop()
    return made


def rows(steps, number):
    made = [step.row for step in steps if isinstance(step, TurnStep) and step.place.number == number]
    return sorted(made, key=lambda row: row.turn)


def test_every_trajectory_ends_in_the_right_state(played):
    ended = {event.place.number: event for event in played.events if isinstance(event, TrajectoryEnded)}
    assert {number: event.state for number, event in ended.items()} == {n: played.kinds.state(n) for n in range(TRAJECTORIES)}
    assert (played.summary.finished, played.summary.not_reached, len(played.summary.incomplete)) == (40, 4, 4)
    assert all("502" in stopped.reason for stopped in played.summary.incomplete)
    assert played.summary.exit_code == 3


def test_every_trajectory_has_the_right_rows(played):
    for number in range(TRAJECTORIES):
        made = rows(played.steps, number)
        assert [row.outcome for row in made] == played.kinds.outcomes(number), played.kinds.kind(number)
        assert [row.turn for row in made] == list(range(len(made)))
    ends = [step for step in played.steps if isinstance(step, EndStep)]
    assert sorted((end.place.number, end.turn) for end in ends) == [(number, 5) for number in (7, 19, 31, 43)]
    assert {end.text for end in ends} == {"openai/stub: HTTP 400: This model's maximum context length is 4096 tokens"}


def test_why_a_reply_holds_no_code_is_in_its_row(played):
    reasons = {
        (played.kinds.kind(step.place.number), step.row.turn): step.row.correct.reasons
        for step in played.steps
        if isinstance(step, TurnStep) and step.row.outcome == "no_code"
    }
    assert {reasons["cut off", turn] for turn in range(4)} == {("cut_off",)}
    assert {reasons["refusals", turn] for turn in (1, 3, 5, 7)} == {("refusal",)}
    assert [reasons["empty replies", turn] for turn in range(3)] == [("empty_reply",), ("empty_reply",), ("no_block",)]


def test_of_several_blocks_the_last_fitting_one_is_judged(played):
    with Ledger(played.out) as ledger:
        for row in rows(played.steps, 2):
            source = ledger.candidate(row.hashes.source).sources[0].content
            assert "an earlier draft" not in source and "nvcc" not in source and f"place {(2, row.turn)}" in source


def test_a_fault_costs_its_retries_and_nothing_else(played):
    expected = {(n, t): played.kinds.requests(n, t) for n in range(TRAJECTORIES) for t in range(TURNS)}
    assert played.asked == Counter({place: count for place, count in expected.items() if count})
    assert len([step for step in played.steps if isinstance(step, ReplyStep)]) == played.summary.evaluated_turns


def test_every_candidate_is_evaluated_once_and_again_only_after_faults_of_ours(played):
    candidates = [row for n in range(TRAJECTORIES) for row in rows(played.steps, n) if row.outcome != "no_code"]
    assert len([step for step in played.steps if isinstance(step, EvaluationStep)]) == len(candidates)
    assert len(played.evaluated) == len(candidates)
    for source, calls in played.evaluated.items():
        assert calls == (3 if "fault: 2" in source else 1)
    incidents = Counter(step.code for step in played.steps if isinstance(step, IncidentStep))
    assert incidents == {"infrastructure": 4 * 2 * 2, "model": 4}


def test_after_the_outage_only_what_is_missing_is_asked_and_evaluated(played):
    missing = {(number, turn) for number in (10, 22, 34, 46) for turn in (6, 7)}
    assert (played.again.finished, played.again.not_reached, played.again.incomplete) == (44, 4, ())
    assert (played.again.new_turns, played.again.exit_code) == (len(missing), 0)
    assert played.provider.asked - played.asked == Counter(dict.fromkeys(missing, 1))
    calls = Counter(played.evaluator.calls) - played.evaluated
    assert len(calls) == calls.total() == len(missing)


def test_every_row_is_complete(played):
    manifest = read_manifest(played.out)
    for step in played.steps:
        if not isinstance(step, TurnStep):
            continue
        row, coded = step.row, step.row.outcome != "no_code"
        assert (row.key, row.trajectory, row.variant) == (manifest.cells[0].key, f"plain-{step.place.number}", "plain")
        assert row.tokens.model_dump() == {"input": 1000, "output": 200, "reasoning": 50, "cached": 800}
        assert row.cost_usd is None
        assert row.sampling["seed"] == SEED_STRIDE * step.place.number + row.turn and row.sampling["temperature"] == 0.5
        assert row.served_model == "stub-2026-01-01"
        assert row.hashes.suite == "sha256:suite" == manifest.suite
        assert row.hashes.task == manifest.cells[0].task_hash
        assert row.seconds["model"] > 0 and ("build" in row.seconds) is coded
        assert (row.blame is None) is (row.outcome == "correct")
        assert (row.speedup == 1.25) is (row.outcome == "correct")
        for name in ("source", "evaluation", "toolchain"):
            assert (getattr(row.hashes, name) is not None) is coded
        assert row.hashes.prompt and row.hashes.reply and step.feedback
    assert manifest.served_models == ("stub-2026-01-01",)


def test_the_report_counts_what_was_planned_what_was_made_and_what_was_not_reached(played):
    table = load_runs([played.out])
    (row,) = summarise(table.turns, table.planned)
    assert (row.n_planned, len(table.turns)) == (TRAJECTORIES * TURNS, TRAJECTORIES * TURNS - 4 * 3)
    assert row.complete
    finished_well = sum(played.kinds.outcomes(number)[-1:] == ["correct"] for number in range(TRAJECTORIES)) + 4
    assert row.at["8"].correct_turns == finished_well


def test_the_key_was_sent_and_is_in_nothing_that_was_written(played):
    assert played.provider.keys == {f"Bearer {KEY}"}
    files = [path for path in played.out.rglob("*") if path.is_file()]
    assert len(files) > 1000
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
