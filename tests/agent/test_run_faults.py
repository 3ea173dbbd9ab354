"""Faults of models, judges and disks never become a turn, and a run goes on where its journal ends."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections import Counter

import pytest

from ptxbench.agent.engine.events import Incident
from ptxbench.agent.engine.ledger import EndStep, IncidentStep, Ledger, read_steps
from ptxbench.agent.models.message import ContextOverflow
from ptxbench.core.errors import ModelError, NoGpu, StorageError
from ptxbench.schema import Outcome


def test_faults_of_ours_are_tried_again_and_never_become_a_turn(play, tmp_path, code, rows):
    summary, evaluator, _, events = play(lambda t, n: code("fault: 2", f"turn {n}"), evaluation_attempts=3)
    assert summary.exit_code == 0
    assert [row.outcome for row in rows(tmp_path / "run")] == [Outcome.CORRECT] * 2
    assert len(evaluator.calls) == 6
    incidents = [step for step in read_steps(tmp_path / "run") if isinstance(step, IncidentStep)]
    assert len(incidents) == 4 and not any(isinstance(event, Incident) and event.final for event in events)
    assert not any("/secret" in step.text for step in incidents)


def test_a_lasting_fault_leaves_the_trajectory_incomplete_and_a_later_run_goes_on(play, scripted, tmp_path, code):
    answer = lambda t, n: code("fault: 3", f"turn {n} of {t}") if (t, n) == ("plain-0", 1) else code(f"turn {n} of {t}")  # noqa: E731
    summary, evaluator, model, _ = play(answer, trajectories=2, evaluation_attempts=3)
    assert summary.exit_code == 3 and summary.finished == 1
    assert [(stopped.task, stopped.trajectory) for stopped in summary.incomplete] == [("twice", "plain-0")]
    assert summary.evaluated_turns == 3
    again, _, model, _ = play(answer, trajectories=2, evaluator=evaluator)
    assert model.asked == []
    assert (again.exit_code, again.evaluated_turns, again.new_turns) == (0, 4, 1)


def test_a_missing_gpu_is_not_tried_again(play, scripted, code):
    class NoGpuHere(scripted.ScriptedEvaluator):
        async def evaluate(self, candidate, task, options):
            self.calls.append(candidate)
            raise NoGpu("no GPU")

    summary, evaluator, _, _ = play(lambda t, n: code(), evaluator=NoGpuHere())
    assert summary.exit_code == 3 and len(evaluator.calls) == 1


def test_a_model_that_fails_leaves_its_trajectory_incomplete(play, code):
    summary, _, _, _ = play(lambda t, n: ModelError("gone") if (t, n) == ("plain-1", 1) else code(), trajectories=3)
    assert summary.exit_code == 3
    assert (summary.finished, summary.evaluated_turns) == (2, 5)
    assert summary.incomplete[0].reason == "gone"


def test_a_context_overflow_ends_a_trajectory_for_good(play, code):
    overflow = lambda t, n: ContextOverflow("too long") if n == 1 else code()  # noqa: E731
    summary, _, _, _ = play(overflow, turns=3)
    assert (summary.exit_code, summary.not_reached, summary.evaluated_turns) == (0, 1, 1)
    again, _, model, _ = play(overflow, turns=3)
    assert (again.not_reached, again.new_turns, model.asked) == (1, 0, [])


def test_a_first_request_that_is_too_long_is_a_fault_of_the_set_up_and_resumes(play, tmp_path, code):
    summary, _, _, events = play(lambda t, n: ContextOverflow("HTTP 400: at most 4096 tokens, see /srv/models/big"), turns=3)
    assert (summary.exit_code, summary.not_reached, summary.finished, summary.evaluated_turns) == (3, 0, 0, 0)
    (stopped,) = summary.incomplete
    told = "a smaller prompt (--pack none, --arm wrappers) or a smaller --max-tokens"
    assert stopped.reason.startswith("HTTP 400: at most 4096 tokens") and stopped.reason.endswith(told)
    (step,) = read_steps(tmp_path / "run")
    assert isinstance(step, IncidentStep) and (step.turn, step.code) == (0, "context_overflow")
    assert "4096 tokens" in step.text and "/srv" not in step.text
    assert [event.final for event in events if isinstance(event, Incident)] == [True]
    again, _, model, _ = play(lambda t, n: code(), turns=3)
    assert (again.exit_code, again.finished, again.evaluated_turns, len(model.asked)) == (0, 1, 3, 3)


def test_of_an_overflow_between_turns_the_endpoints_words_are_kept(play, tmp_path, code):
    play(lambda t, n: ContextOverflow("HTTP 400: 4096 tokens of /srv/models/big") if n == 1 else code(), turns=3)
    (end,) = [step for step in read_steps(tmp_path / "run") if isinstance(step, EndStep)]
    assert (end.turn, end.reason, end.text) == (1, "context_overflow", "HTTP 400: 4096 tokens of big")


def test_a_full_disk_stops_the_run_and_it_resumes(play, scripted, tmp_path, monkeypatch, code):
    everybody = asyncio.Barrier(3)

    class FullDisk(scripted.ScriptedEvaluator):
        async def evaluate(self, candidate, task, options):
            await everybody.wait()  # all replies are paid for before the disk is full
            raise StorageError("no space left")

    with pytest.raises(StorageError, match="no space left"):
        play(lambda t, n: code(), trajectories=3, evaluator=FullDisk())
    summary, _, model, _ = play(lambda t, n: code(), trajectories=3)
    assert summary.evaluated_turns == 6 and len(model.asked) == 3


def test_an_interrupted_run_keeps_what_was_paid_for_and_resumes(play, scripted, code):
    def interrupt(when, source):
        if when == "begin" and "plain-1 1" in source:
            signal.raise_signal(signal.SIGINT)

    first = scripted.ScriptedEvaluator(on_call=interrupt)
    with pytest.raises(KeyboardInterrupt):
        play(lambda t, n: code(f"{t} {n}"), trajectories=2, evaluator=first)
    assert first.closed
    summary, second, model, _ = play(lambda t, n: code(f"{t} {n}"), trajectories=2)
    assert summary.evaluated_turns == 4
    assert len(first.calls) + len(second.calls) == 4
    assert {trajectory for trajectory, *_ in model.asked} <= {"plain-0"}


def test_a_kill_between_journal_and_manifest_is_no_loss(play, tmp_path, code):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "journal.jsonl").touch()
    summary, _, _, _ = play(lambda t, n: code())
    assert summary.evaluated_turns == 2


def test_an_evaluation_is_never_put_to_another_reply(play, tmp_path, code):
    play(lambda t, n: code(f"turn {n}"))
    path = tmp_path / "run" / "journal.jsonl"
    kept = [line for line in path.read_text().splitlines(keepends=True) if json.loads(line)["kind"] == "evaluation"]
    path.write_text("".join(kept))
    with pytest.raises(StorageError, match="of another source"):
        play(lambda t, n: code("another reply"))


@pytest.mark.parametrize("damage", ["deleted", "changed"])
def test_a_blob_that_is_lost_or_damaged_is_named_and_nothing_more_is_lost(play, tmp_path, damage, code, rows):
    play(lambda t, n: code(f"{n}") if n < 2 else ModelError("later"), turns=3)
    with Ledger(tmp_path / "run") as ledger:
        blob = ledger.store.path(rows(tmp_path / "run")[0].hashes.reply)
    good = blob.read_bytes()
    blob.unlink() if damage == "deleted" else blob.write_bytes(b"{}")
    for _ in range(2):
        with pytest.raises(StorageError, match="lost" if damage == "deleted" else "damaged"):
            play(lambda t, n: code(f"{n}"), turns=3)
    blob.write_bytes(good)
    summary, _, model, _ = play(lambda t, n: code(f"{n}"), turns=3)
    assert (summary.evaluated_turns, len(model.asked)) == (3, 1)


def test_a_run_is_read_and_resumed_wherever_it_is_copied(play, tmp_path, code):
    first, _, _, _ = play(lambda t, n: code(f"{n}") if n == 0 else ModelError("later"))
    shutil.copytree(tmp_path / "run", tmp_path / "elsewhere" / "copy")
    second, _, model, _ = play(lambda t, n: code(f"{n}"), out="elsewhere/copy")
    assert (second.run, second.evaluated_turns, len(model.asked)) == (first.run, 2, 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")
def test_a_disk_that_fills_at_any_point_of_a_run_loses_no_finished_step(play, tmp_path, code, rows):
    (tmp_path / "run").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k,nr_inodes=0", "tmpfs", str(tmp_path / "run")]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"this machine does not let root mount a tmpfs: {done.stderr.strip()}")
    try:
        full, sizes = 0, range(40, 1000, 24)
        asked = Counter()
        for size in sizes:
            subprocess.run(["mount", "-o", f"remount,size={size}k", str(tmp_path / "run")], check=True)
            known = {(row.trajectory, row.turn) for row in rows(tmp_path / "run")}
            try:
                summary, _, model, _ = play(lambda t, n: code(f"{t} {n}"), trajectories=3, turns=3)
            except StorageError as error:
                assert "no space left" in error.message
                full += 1
                assert known <= {(row.trajectory, row.turn) for row in rows(tmp_path / "run")}
                assert not list((tmp_path / "run").rglob(".tmp-*"))
                continue
            asked.update((trajectory, turn) for trajectory, turn, *_ in model.asked)
            break
        assert full >= 3 and summary.evaluated_turns == 9
        made = [(row.trajectory, row.turn) for row in rows(tmp_path / "run")]
        assert len(made) == len(set(made)) == 9
    finally:
        subprocess.run(["umount", str(tmp_path / "run")], check=True)
