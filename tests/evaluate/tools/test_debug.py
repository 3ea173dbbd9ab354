"""A failure is explained where something is known of it, and stays the same failure."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ptxbench.core.settings import Settings
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.launch import Tool
from ptxbench.evaluate.tools.debug import explain
from ptxbench.evaluate.tools.under import Start
from ptxbench.schema import Limits, RunFailure, Sanitizer, SanitizerFinding

FAULT = RunFailure(
    kind="cuda_error",
    text="CUDA error 700 (CUDA_ERROR_ILLEGAL_ADDRESS): an illegal memory access was encountered",
    output="what it printed",
)
DRIVER = Path(__file__).with_name("stand_in_driver.py")
DUMP = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 4, 190, 1, 0, 0, 64, 0, 64, 0, 0, 64, 2, 1) + bytes(128)
TIMEOUT = RunFailure(kind="timeout", text="the call took longer than 10 s")


def finding(text: str) -> SanitizerFinding:
    nothing = {"kernel": None, "file": None, "line": None, "address": None, "bytes": None, "block": None, "thread": None}
    return SanitizerFinding(kind="invalid_global_write", text=text, **nothing)


def refuse(tool=None, exact=False):
    raise AssertionError("nothing needs to be run again")


def test_findings_that_are_there_explain_a_fault_without_another_run():
    checked = Sanitizer(tool="memcheck", status="findings", findings=tuple(finding(f"finding {n}") for n in range(5)))
    found = explain(FAULT, checked, refuse, Limits())
    assert found is not None and found.kind == "cuda_error"
    assert found.text == f"{FAULT.text}; memcheck: finding 0; finding 1; finding 2; 2 more findings"


def test_a_fault_that_memcheck_does_not_see_says_so():
    clean, unknown = (Sanitizer(tool="memcheck", status=status, findings=(), why="no tool") for status in ("clean", "unknown"))
    assert "saw nothing wrong" in explain(FAULT, clean, refuse, Limits()).text
    assert explain(FAULT, unknown, refuse, Limits()).text.endswith("memcheck could not look: no tool")


def test_a_fault_is_looked_for_when_no_checker_ran(start, stand_in, recorded, limits):
    tool = stand_in(files={"--save": str(recorded / "oob_write.xml")}, status=86)
    found = explain(FAULT, None, start, limits, settings=Settings(compute_sanitizer=tool))
    assert found is not None and "oob_write at src/faults.cu:19" in found.text


def test_other_failures_have_nothing_to_add():
    for kind, text in [
        ("cuda_error", "CUDA error 2 (CUDA_ERROR_OUT_OF_MEMORY): out of memory"),
        ("cuda_error", "no code at all"),
        ("exception", "ValueError: CUDA error 700"),
        ("signal", "segmentation fault"),
    ]:
        assert explain(RunFailure(kind=kind, text=text), None, refuse, Limits()) is None


HANGS = "def run(x, y):\n    while True: pass\n"


def driven(start: Start, *pieces: bytes) -> Start:
    """Start children beside a process that plays the part of the CUDA driver which writes dumps."""

    @contextmanager
    def begin(tool: Tool | None = None, exact: bool = False) -> Iterator[Child]:
        assert tool is not None
        command = [sys.executable, str(DRIVER), "closes", *(piece.hex() for piece in pieces)]
        with subprocess.Popen(command, env=dict(tool.env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
            assert driver.stdin is not None and driver.stdout is not None
            assert driver.stdout.readline() == "ready\n"
            with start(tool, exact) as child:
                yield child
            driver.stdin.close()

    return begin


def test_a_hang_is_explained_by_a_dump_that_is_taken_while_it_hangs(starting, tmp_path, program, recorded, limits):
    """The debugger reads the dump when the process is gone already."""
    pids = []

    @contextmanager
    def watched(tool=None, exact=False):
        with driven(starting(HANGS), DUMP)(tool, exact) as child:
            pids.append(child.pid)
            yield child

    script = f"#!/bin/sh\nps -o pid= -e > {tmp_path}/alive\ncat {recorded}/hang_core.txt\n"
    settings = Settings(cuda_gdb=program(tmp_path / "cuda-gdb", script))
    short, kept = limits.model_copy(update={"run_s": 0.5}), tmp_path / "kept"
    found = explain(TIMEOUT, None, watched, short, settings=settings, keep=kept)
    assert found is not None and found.kind == "timeout"
    assert kept.read_bytes() == DUMP
    assert found.text.startswith(
        f"{TIMEOUT.text}; 256 threads of faults::bad_barrier() <<<(4,1,1), (64,1,1)>>> stand at src/faults.cu:57"
    )
    assert [(one.line, one.threads, one.block, one.thread) for one in found.stuck] == [(57, 256, (0, 0, 0), (0, 0, 0))]
    alive = {int(word) for word in (tmp_path / "alive").read_text().split()}
    assert pids and alive and not set(pids) & alive


def test_a_process_that_writes_no_dump_has_nothing_to_add(starting, limits):
    assert explain(TIMEOUT, None, starting(HANGS), limits.model_copy(update={"run_s": 0.2})) is None


def test_a_dump_that_nobody_can_read_has_nothing_to_add(starting, tmp_path, limits):
    settings = Settings(cuda_gdb=tmp_path / "none")
    start = driven(starting(HANGS), DUMP)
    assert explain(TIMEOUT, None, start, limits.model_copy(update={"run_s": 0.2}), settings=settings) is None


def test_a_call_that_comes_back_the_second_time_is_said_to(start, limits):
    found = explain(TIMEOUT, None, start, limits)
    assert found is not None and found.text.endswith("the call came back within 2 s: it does not hang every time")
