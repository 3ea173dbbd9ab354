"""How a child on a GPU ends: let go, given up, killed, under a tool, and with its judge."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.launch import Tool
from ptxbench.schema import Limits, RunFailure


def test_a_child_that_is_let_go_ends_by_itself_with_its_status(children):
    for tool in (None, children.SHELL):
        with Child(children.program("def run(): pass\n"), None, Limits(), device=children.NO_DEVICE, tool=tool) as child:
            child.load()
            assert child.finish(10) == 0
            assert isinstance(child.ping(1), RunFailure)
        assert not Path(f"/proc/{child.pid}").exists()


def test_status_of_the_tool_is_what_finish_returns(children):
    tool = Tool(("/bin/sh", "-c", '"$@"; exit 23', "sh"))
    with Child(children.program("def run(): pass\n"), None, Limits(), device=children.NO_DEVICE, tool=tool) as child:
        child.load()
        assert child.finish(10) == 23


def test_a_child_that_does_not_let_go_is_given_up_and_killed(children):
    with children.impostor("import time; time.sleep(600)") as child:
        child._send({"do": "ping", "token": "x"})
        assert child.finish(0.2) is None
    assert not Path(f"/proc/{child.pid}").exists()


def test_a_child_that_was_killed_says_by_which_signal(children):
    with Child(children.program("def run(): pass\n"), None, Limits(), device=children.NO_DEVICE) as child:
        os.kill(child.pid, signal.SIGKILL)
        assert child.finish(10) == -signal.SIGKILL


def test_a_tool_is_left_to_write_its_report_when_the_candidate_has_failed(children):
    tool = Tool(("/bin/sh", "-c", '"$@"; exit 42', "sh"))
    with Child(children.program("def run(): pass\n"), None, Limits(), device=children.NO_DEVICE, tool=tool) as child:
        child.load()
        failure = child.call([0], 10)
        assert isinstance(failure, RunFailure) and failure.kind == "exception"
        assert child.finish(10) == 42
    with Child(children.program("def run(): pass\n"), None, Limits(), device=children.NO_DEVICE) as child:
        child.load()
        assert isinstance(child.call([0], 10), RunFailure)
        assert child.finish(10) == -signal.SIGKILL, "without a tool a failure ends the process"


JUDGE = """
import sys, time
sys.path[:0] = [{tests!r}]
from gpu_children import EMPTY, SHELL, program
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.schema import Limits

with Child(program({text!r}), None, Limits(), device=EMPTY, tool={tool}) as child:
    child.load()
    print(child.pid, flush=True)
    child.call([0], 600)
    time.sleep(600)
"""
BUSY_NS = 200_000_000


@pytest.mark.parametrize("tool", ["None", "SHELL"])
@pytest.mark.parametrize("busy", [False, True])
def test_child_and_tool_end_with_the_judge(tool, busy):
    """One that is busy does not even see that the judge has hung up."""
    text = "def run():\n    while True: pass\n" if busy else "def run(): pass\n"
    script = JUDGE.format(tests=str(Path(__file__).parent), tool=tool, text=text)
    judge = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert judge.stdout is not None
        group = int(judge.stdout.readline())
        members = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _group(pid) == group]
        assert len(members) == (1 if tool == "None" else 2)
        waited = [os.pidfd_open(pid) for pid in members]
        begun = _cpu_ns(members)
        while busy and _cpu_ns(members) < begun + BUSY_NS:
            os.sched_yield()
    finally:
        judge.kill()
        judge.wait()
    for descriptor in waited:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        assert poll.poll(20_000), "a process outlived the judge"
        os.close(descriptor)


def _cpu_ns(pids: list[int]) -> int:
    return sum(time.clock_gettime_ns((~pid << 3) | 2) for pid in pids)


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def test_what_a_tool_has_started_ends_with_the_child(children):
    tool = Tool(("/bin/sh", "-c", 'sleep 600 & "$@"; exit $?', "sh"))
    with Child(children.program("def run(): pass\n"), None, Limits(), device=children.NO_DEVICE, tool=tool) as child:
        child.load()
        members = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _group(pid) == child.pid]
        assert len(members) == 3
        waited = [os.pidfd_open(pid) for pid in members]
    for descriptor in waited:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        assert poll.poll(20_000), "a process outlived the child"
        os.close(descriptor)


def test_closing_after_letting_go_is_fine_and_twice_too(children):
    child = Child(children.program("def run(): pass\n"), None, Limits(), device=children.NO_DEVICE)
    assert child.finish(10) == 0
    child.close()
    child.close()
