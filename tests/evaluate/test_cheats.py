"""Every way we know to crash, hang, cheat or break out costs one child and one record. The table is the threat list."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ptxbench.evaluate.findings import Findings
from ptxbench.evaluate.verdict import Verdict, decide
from ptxbench.evaluate.worker import Worker
from ptxbench.schema import Outcome, Profile, Task


@dataclass(frozen=True)
class Expected:
    """What must come out: the strict outcome, and what of the record must say so."""

    outcome: Outcome
    paper: bool | None = False
    kind: str | None = None
    signal: str | None = None
    text: str = ""
    pattern: str | None = None
    stages: tuple[str, ...] = ("compare",)


CORRECT = Expected(Outcome.CORRECT, paper=True)
TIMED = ("compare", "time")

CHEATS = {
    "honest": Expected(Outcome.CORRECT, paper=True, stages=TIMED),
    "py_honest": Expected(Outcome.CORRECT, paper=True, stages=TIMED),
    # wrong values
    "zeros": Expected(Outcome.WRONG_VALUE, pattern="all_zeros"),
    "unwritten": Expected(Outcome.WRONG_VALUE, pattern="unwritten"),
    "last_rows_missing": Expected(Outcome.WRONG_VALUE, pattern="unwritten", text="where M 32..36"),
    "scaled": Expected(Outcome.WRONG_VALUE, paper=True, text="Frobenius"),
    "overflow": Expected(Outcome.WRONG_VALUE, paper=True, pattern="nan", text="scaled inputs"),
    "one_nan": Expected(Outcome.WRONG_VALUE, pattern="nan", text="M = 1, N = 5"),
    "wrong_second_call": Expected(Outcome.WRONG_VALUE, text="1 of 37888"),
    "cached_by_pointer": Expected(Outcome.WRONG_VALUE),
    "late": Expected(Outcome.WRONG_VALUE, pattern="unwritten"),
    "modifies_inputs": Expected(Outcome.WRONG_VALUE, paper=True, text="inputs were modified: X"),
    "out_of_bounds": Expected(Outcome.WRONG_VALUE, text="4 bytes beside Y"),
    "py_returns": Expected(Outcome.WRONG_VALUE, pattern="unwritten", text="run returned ndarray"),
    "poisons_inputs": Expected(Outcome.WRONG_VALUE, pattern="nan", text="inputs were modified: X"),
    "one_call_late": Expected(Outcome.WRONG_VALUE),
    "py_searches_objects": Expected(Outcome.WRONG_VALUE, pattern="all_zeros"),
    "py_forges": Expected(Outcome.WRONG_VALUE, pattern="unwritten"),
    # right while compared, wrong while timed
    "wrong_when_timed": Expected(Outcome.WRONG_VALUE, paper=True, text="while timing", stages=TIMED),
    "py_lies": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "py_slow_to_ask": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "py_lies_now_and_then": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "py_returns_lazily": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "py_patches_timer": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "py_edits_times": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "py_claims_nothing": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "patches_clock": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "never_returns": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "steals_requests": Expected(Outcome.TAMPERED, paper=True, text="the judge's clock", stages=TIMED),
    "cached_by_content": Expected(Outcome.TAMPERED, paper=True, text="results are kept", stages=TIMED),
    "py_keeps_and_lies": Expected(Outcome.TAMPERED, paper=True, text="results are kept", stages=TIMED),
    "py_keeps_everywhere": Expected(Outcome.TAMPERED, paper=True, text="results are kept", stages=TIMED),
    "py_prepares": Expected(Outcome.TAMPERED, paper=True, text="results are kept", stages=TIMED),
    "damages_when_timed": Expected(Outcome.WRONG_VALUE, paper=False, text="4 bytes beside Y", stages=TIMED),
    "late_when_timed": Expected(Outcome.WRONG_VALUE, paper=True, text="while timing", stages=TIMED),
    # crashes
    "segfault": Expected(Outcome.RUNTIME_ERROR, kind="signal", signal="SIGSEGV"),
    "abort": Expected(Outcome.RUNTIME_ERROR, kind="signal", signal="SIGABRT"),
    "divide": Expected(Outcome.RUNTIME_ERROR, kind="signal", signal="SIGFPE"),
    "odd_signal": Expected(Outcome.RUNTIME_ERROR, kind="signal", signal="signal 39"),
    "alarms": Expected(Outcome.RUNTIME_ERROR, kind="signal", signal="SIGALRM"),
    "old_door": Expected(Outcome.RUNTIME_ERROR, kind="signal", signal="SIGSYS"),
    "stack_overflow": Expected(Outcome.RUNTIME_ERROR, kind="signal", signal="SIGSEGV"),
    "allocates": Expected(Outcome.RUNTIME_ERROR, kind="signal", signal="SIGABRT"),
    "thread_bomb": Expected(Outcome.RUNTIME_ERROR, kind="signal", signal="SIGABRT"),
    "exits": Expected(Outcome.RUNTIME_ERROR, kind="exit", text="exit code 0"),
    "ends_behind_its_answer": Expected(Outcome.RUNTIME_ERROR, kind="exit", text="exit code 0"),
    "closes": Expected(Outcome.RUNTIME_ERROR, kind="exit"),
    "closes_and_stays": Expected(Outcome.RUNTIME_ERROR, kind="channel_closed"),
    "py_exits": Expected(Outcome.RUNTIME_ERROR, kind="exit", text="exit code 0"),
    "py_system_exit": Expected(Outcome.RUNTIME_ERROR, kind="exception", text="SystemExit"),
    "py_raises": Expected(Outcome.RUNTIME_ERROR, kind="exception", text="py_raises.py:5 in run"),
    "py_nests": Expected(Outcome.RUNTIME_ERROR, kind="(no text)"),
    "py_surrogates": Expected(Outcome.RUNTIME_ERROR, kind="exception", text="lone ? surrogate"),
    "py_commands_terminal": Expected(Outcome.RUNTIME_ERROR, kind="exception", text="outcome: correct"),
    "py_unprintable": Expected(Outcome.RUNTIME_ERROR, kind="exception", text="cannot be described"),
    "py_falls_back": Expected(Outcome.RUNTIME_ERROR, kind="exception", text="No module named 'torch'"),
    "py_installs": Expected(Outcome.RUNTIME_ERROR, kind="exception", text="PermissionError"),
    "py_recurses": Expected(Outcome.RUNTIME_ERROR, kind="exception", text="RecursionError"),
    # hangs
    "hang": Expected(Outcome.TIMEOUT, kind="timeout"),
    "stops": Expected(Outcome.TIMEOUT, kind="timeout"),
    "sleeps": Expected(Outcome.TIMEOUT, kind="timeout"),
    "prints_forever": Expected(Outcome.TIMEOUT, kind="timeout"),
    "fork_bomb": Expected(Outcome.TIMEOUT, kind="timeout"),
    "py_forks": Expected(Outcome.TIMEOUT, kind="timeout"),
    "py_sleeps": Expected(Outcome.TIMEOUT, kind="timeout"),
    # loading
    "constructor_crash": Expected(Outcome.LOAD_ERROR, kind="signal", signal="SIGSEGV"),
    "undefined_symbol": Expected(Outcome.LOAD_ERROR, kind="load", text="undefined symbol"),
    "py_nothing": Expected(Outcome.LOAD_ERROR, kind="missing_symbol"),
    "py_imports_judge": Expected(Outcome.LOAD_ERROR, kind="exception", text="No module named 'ptxbench'"),
    # interference
    "forges": Expected(Outcome.TAMPERED, kind="forged_reply"),
    "scans_memory": Expected(Outcome.TAMPERED, kind="forged_reply"),
    "sends_descriptors": Expected(Outcome.TAMPERED, kind="forged_reply"),
    "floods": Expected(Outcome.TAMPERED, kind="forged_reply"),
    "py_negative_time": Expected(Outcome.TAMPERED, kind="forged_reply", text="the claimed times are not times"),
    "py_no_times": Expected(Outcome.TAMPERED, kind="forged_reply", text="answered in the runner's place"),
    "py_bomb_reply": Expected(Outcome.TAMPERED, kind="forged_reply"),
    # attempts that change nothing, so that the values decide
    "takes_descriptors": Expected(Outcome.CORRECT, paper=True, stages=TIMED),
    "shrinks": CORRECT,
    "kills": CORRECT,
    "spies": CORRECT,
    "vandal": CORRECT,
    "fork_survivor": CORRECT,
    "py_reads_files": CORRECT,
    "py_reads_secrets": CORRECT,
    "doors": CORRECT,
}


if os.uname().machine != "x86_64":
    del CHEATS["old_door"]


def verdict_of(findings: Findings) -> Verdict:
    return decide(Profile.STRICT, policy={}, build=None, findings=findings)


def evidence(findings: Findings, verdict: Verdict) -> str:
    patterns = [one.pattern.text for one in findings.correctness.outputs if one.pattern] if findings.correctness else []
    return "\n".join([*verdict.correct.reasons, *patterns])


def descriptors_of(process: int | None) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def children_of(process: int) -> list[int]:
    return [int(child) for path in Path(f"/proc/{process}/task").glob("*/children") for child in path.read_text().split()]


@pytest.mark.parametrize("name", CHEATS)
def test_costs_one_child_and_one_record(name: str, judge: Callable[..., Findings], worker: Worker, victim: Path) -> None:
    expected = CHEATS[name]
    before = worker.pid
    held = descriptors_of(before)
    findings = judge(name, stages=expected.stages)
    verdict = verdict_of(findings)
    failure = findings.failure.failure if findings.failure else None

    assert verdict.outcome is expected.outcome, (verdict, failure)
    assert verdict.correct.paper is expected.paper
    assert verdict.correct.strict is (expected.outcome is Outcome.CORRECT)
    assert (failure.kind if failure else None) == expected.kind
    assert (failure.signal if failure else None) == expected.signal
    assert expected.text in evidence(findings, verdict)
    patterns = [one.pattern.kind for one in findings.correctness.outputs if one.pattern] if findings.correctness else []
    assert patterns == ([expected.pattern] if expected.pattern else patterns)
    assert (findings.latency is not None) is (expected.outcome in (Outcome.CORRECT, Outcome.TAMPERED) and "time" in expected.stages)

    assert before is not None
    assert worker.pid == before, "the judge went on"
    assert children_of(before) == []
    assert descriptors_of(before) == held
    assert victim.read_text() == "untouched"
    assert [path.name for path in victim.parent.iterdir()] == ["file"]


def test_output_of_a_crash_is_kept(judge: Callable[..., Findings]) -> None:
    failure = judge("abort").failure
    assert failure is not None
    assert failure.failure.output == "about to abort\n"


def test_what_a_candidate_prints_or_raises_commands_no_terminal(judge: Callable[..., Findings]) -> None:
    failure = judge("py_commands_terminal").failure
    assert failure is not None
    spelled = r"\x1b[2J\x1b]0;title\x07\x9b31m\u202eoutcome: correct"
    assert failure.failure.output == f"{spelled}\n"
    assert failure.failure.text.splitlines()[0] == f"ValueError: {spelled}"


def test_endless_output_is_bounded(judge: Callable[..., Findings]) -> None:
    failure = judge("prints_forever").failure
    assert failure is not None
    assert 500_000 < len(failure.failure.output) < 1_100_000
    assert "bytes left out" in failure.failure.output


def test_message_of_an_exception_is_bounded(judge: Callable[..., Findings]) -> None:
    failure = judge("py_raises").failure
    assert failure is not None
    assert "characters left out" in failure.failure.text
    assert len(failure.failure.text) < 5000


def test_output_that_changes_after_the_answer_is_not_correct(judge: Callable[..., Findings]) -> None:
    assert verdict_of(judge("rewrites_later")).outcome in (Outcome.WRONG_VALUE, Outcome.TAMPERED)


def test_loading_that_does_not_end_is_a_load_error(judge: Callable[..., Findings], softmax: Task) -> None:
    task = softmax.model_copy(update={"limits": softmax.limits.model_copy(update={"load_s": 0.5})})
    findings = judge("constructor_hang", task=task)
    assert verdict_of(findings).outcome is Outcome.LOAD_ERROR
    assert findings.failure is not None
    assert findings.failure.failure.text == "loading the candidate took longer than 0.5 s"
