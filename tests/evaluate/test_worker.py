"""A judge that dies or stalls costs nobody an outcome: it is replaced, and the evaluation tried once more."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptxbench.core.errors import JudgeError, ToolMissing
from ptxbench.core.interpreter import module_command, module_environment
from ptxbench.evaluate import worker as worker_module
from ptxbench.evaluate.findings import Findings
from ptxbench.evaluate.judge.request import Request
from ptxbench.evaluate.worker import Worker
from ptxbench.schema import Reference, Task

Make = Callable[..., Request]


@pytest.fixture
def own() -> Iterator[Worker]:
    one = Worker()
    yield one
    one.close()


def candidate_of(worker: Worker) -> int:
    """Wait until the worker's judge has a child, and return it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        judge = worker.pid
        children = children_of(judge) if judge is not None else []
        if children:
            return children[0]
        select.select([], [], [], 0.01)
    raise AssertionError("the judge started no child")


def children_of(process: int) -> list[int]:
    paths = Path(f"/proc/{process}/task").glob("*/children")
    try:
        return [int(child) for path in paths for child in path.read_text().split()]
    except FileNotFoundError:
        return []


def ended(process: int) -> bool:
    """Wait until a process is gone (or only its name is left)."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        select.select([], [], [], 0.01)
    return False


def computes(process: int) -> None:
    """Wait until a process has used so much of the processor that it must be in the candidate's endless loop."""
    while time.clock_gettime((~process << 3) | 2) < 1.0:
        select.select([], [], [], 0.01)


def in_thread(work: Callable[[], Findings]) -> tuple[threading.Thread, list[Findings | JudgeError]]:
    results: list[Findings | JudgeError] = []

    def run() -> None:
        try:
            results.append(work())
        except JudgeError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def hanging(make: Make) -> Request:
    request = make("hang")
    return request.model_copy(update={"options": request.options.model_copy(update={"run_s": 600.0})})


def test_judge_that_is_killed_is_replaced_and_the_evaluation_repeated(own: Worker, request_for: Make) -> None:
    request = request_for("hang")
    request = request.model_copy(update={"options": request.options.model_copy(update={"run_s": 4.0})})
    thread, results = in_thread(lambda: own.evaluate(request, threading.Event()))
    candidate, first = candidate_of(own), own.pid
    assert first is not None
    computes(candidate)
    os.kill(first, signal.SIGKILL)
    assert ended(candidate), "a candidate dies with its judge, though it does not listen"
    thread.join()
    assert isinstance(results[0], Findings) and results[0].failure is not None
    assert results[0].failure.failure.kind == "timeout"
    assert own.pid != first


def test_judge_that_dies_twice_is_an_infrastructure_error(own: Worker, request_for: Make) -> None:
    thread, results = in_thread(lambda: own.evaluate(hanging(request_for), threading.Event()))
    seen: set[int] = set()
    while thread.is_alive() and len(seen) < 2:
        candidate_of(own)
        judge = own.pid
        if judge is not None and judge not in seen:
            seen.add(judge)
            os.kill(judge, signal.SIGKILL)
            assert ended(judge)
    thread.join()
    assert isinstance(results[0], JudgeError)
    assert "failed 2 times" in results[0].message
    assert own.evaluate(request_for("honest"), threading.Event()).compared, "the next evaluation gets a new judge"


def test_judge_that_is_silent_longer_than_it_announced_is_replaced(
    own: Worker, request_for: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.evaluate(request_for("honest"), threading.Event())
    first = own.pid
    assert first is not None
    monkeypatch.setattr(worker_module, "GRACE_SECONDS", 0.5)
    os.kill(first, signal.SIGSTOP)
    thread, results = in_thread(lambda: own.evaluate(request_for("honest"), threading.Event()))
    assert ended(first)
    monkeypatch.setattr(worker_module, "GRACE_SECONDS", 30.0)
    thread.join()
    assert isinstance(results[0], Findings) and results[0].compared


def test_cancelled_evaluation_ends_and_its_candidate_too(own: Worker, request_for: Make) -> None:
    cancelled = threading.Event()
    thread, results = in_thread(lambda: own.evaluate(hanging(request_for), cancelled))
    candidate = candidate_of(own)
    own.cancel(cancelled)
    thread.join()
    assert isinstance(results[0], JudgeError)
    assert ended(candidate)


def test_judge_ends_with_its_owner(request_for: Make) -> None:
    own = Worker()
    own.evaluate(request_for("honest"), threading.Event())
    judge = own.pid
    assert judge is not None
    own.close()
    assert ended(judge)


def test_missing_library_of_a_reference_is_named(own: Worker, request_for: Make, softmax: Task) -> None:
    task = softmax.model_copy(update={"reference": Reference(library="FlashInfer", needs="flashinfer")})
    with pytest.raises(ToolMissing, match="needs flashinfer"):
        own.evaluate(request_for("honest", task=task), threading.Event())


def test_held_workloads_are_reused_and_let_go_by_size(softmax: Task) -> None:
    from ptxbench.evaluate.judge.held import Holdings
    from ptxbench.schema import Profile

    holdings = Holdings(limit_bytes=1 << 20)
    first = holdings.get(softmax, 0, Profile.STRICT)
    drawn = first.published(0)
    assert holdings.get(softmax, 0, Profile.STRICT).published(0) is drawn
    second = holdings.get(softmax, 1, Profile.STRICT)
    for number in range(3):
        second.published(number)
    holdings.trim()
    assert holdings.bytes == second.bytes
    assert holdings.get(softmax, 0, Profile.STRICT) is not first
    holdings.keep_last()
    assert holdings.get(softmax, 1, Profile.STRICT) is not second


def test_reference_that_ends_the_judge_is_the_reference_to_blame(own: Worker, request_for: Make, softmax: Task) -> None:
    code = "import os\n\ndef run(X):\n    os._exit(3)\n"
    task = softmax.model_copy(update={"definition": softmax.definition.model_copy(update={"reference": code})})
    findings = own.evaluate(request_for("honest", task=task), threading.Event())
    assert findings.reference_failure is not None
    assert not findings.compared


def test_a_judge_ends_when_its_owner_is_gone_with_answers_unread() -> None:
    """As when the owner is killed: what it has not read is thrown away, which resets the connection in place of ending it."""
    ours, theirs = socket.socketpair()
    command = module_command("ptxbench.evaluate.judge.serve", str(theirs.fileno()), "cpu")
    with ours, theirs, subprocess.Popen(command, env=module_environment(), pass_fds=[theirs.fileno()]) as judge:
        theirs.close()
        assert select.select([ours], [], [], 60)[0], "it says that it is ready"
        ours.close()
        try:
            assert judge.wait(60) == 0
        finally:
            judge.kill()


def test_processes_that_a_candidate_left_behind_are_ended() -> None:
    """As where no seccomp keeps a candidate from forking: grandchildren of a killed child, one of them in a session of its own."""
    script = """
import os, sys, time
from ptxbench.evaluate.judge.serve import become_subreaper, end_strays
become_subreaper()
read, write = os.pipe()
if os.fork() == 0:
    for number in range(3):
        if os.fork() == 0:
            if number:
                os.setsid()
            os.write(write, f"{os.getpid()} ".encode())
            time.sleep(1000)
    os._exit(0)
told = b""
while told.count(b" ") < 3:
    told += os.read(read, 100)
end_strays()
print([process for process in told.split() if os.path.exists(b"/proc/" + process)])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr
