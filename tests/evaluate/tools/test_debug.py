"""A failure is explained where something is known of it, and stays the same failure."""

from __future__ import annotations

import sys
from pathlib import Path

from ptxbench.core.settings import Settings
from ptxbench.evaluate.tools.debug import explain
from ptxbench.schema import Limits, RunFailure, Sanitizer, SanitizerFinding

FAULT = RunFailure(
    kind="cuda_error",
    text="CUDA error 700 (CUDA_ERROR_ILLEGAL_ADDRESS): an illegal memory access was encountered",
    output="what it printed",
)
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


def test_a_hang_is_looked_into_while_it_hangs(starting, tmp_path, program, recorded, limits):
    """The debugger sees a process that lives, is the child, and is gone afterwards."""
    script = (
        f"#!{sys.executable}\nimport sys\npid = sys.argv[sys.argv.index('-p') + 1]\n"
        f"open({str(tmp_path / 'theirs')!r}, 'w').write(open(f'/proc/{{pid}}/environ').read().replace('\\0', '\\n'))\n"
        f"open({str(tmp_path / 'ours')!r}, 'w').write(__import__('os').environ['TMPDIR'])\n"
        f"open({str(tmp_path / 'seen')!r}, 'w').write(pid + ' ' + open(f'/proc/{{pid}}/stat').read())\n"
        f"print(open({str(recorded / 'hang_barrier.txt')!r}).read())\n"
    )
    settings = Settings(cuda_gdb=program(tmp_path / "cuda-gdb", script))
    found = explain(TIMEOUT, None, starting(HANGS), limits.model_copy(update={"run_s": 0.5}), settings=settings)
    assert found == RunFailure(
        kind="timeout",
        text=f"{TIMEOUT.text}; faults::bad_barrier() <<<(4,1,1), (64,1,1)>>> is running: 256 threads at src/faults.cu:57",
    )
    pid, stat = (tmp_path / "seen").read_text().split(" ", 1)
    assert stat.rpartition(")")[2].split()[0] == "R", "it was running when it was looked at"
    assert not (Path("/proc") / pid).exists()
    meeting = (tmp_path / "ours").read_text()
    assert f"TMPDIR={meeting}" in (tmp_path / "theirs").read_text().splitlines() and not Path(meeting).exists()


def test_a_hang_without_a_debugger_has_nothing_to_add(starting, tmp_path, limits):
    settings = Settings(cuda_gdb=tmp_path / "none")
    assert explain(TIMEOUT, None, starting(HANGS), limits.model_copy(update={"run_s": 0.2}), settings=settings) is None


def test_a_call_that_comes_back_the_second_time_is_said_to(start, limits):
    found = explain(TIMEOUT, None, start, limits)
    assert found is not None and found.text.endswith("the call came back within 2 s: it does not hang every time")
