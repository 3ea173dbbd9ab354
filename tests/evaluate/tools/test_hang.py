"""What cuda-gdb printed about hung kernels, as recorded on a GPU, becomes one line; a debugger that fails says nothing."""

from __future__ import annotations

import os
import sys

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate.tools import hang
from ptxbench.evaluate.tools.hang import describe, inspect_hang


def test_a_kernel_that_waits_at_a_barrier_is_named_with_its_line(recorded):
    text = describe((recorded / "hang_barrier.txt").read_text())
    assert text == "faults::bad_barrier() <<<(4,1,1), (64,1,1)>>> is running: 256 threads at src/faults.cu:57"


def test_threads_at_several_lines_are_added_up_the_most_first(recorded):
    text = describe((recorded / "hang_spin.txt").read_text())
    assert text == (
        "faults::spin() <<<(4,1,1), (64,1,1)>>> is running: 160 threads at src/faults.cu:48, 96 threads at src/faults.cu:47"
    )


@pytest.mark.parametrize("printed", ["", "ptrace: Operation not permitted.", "No CUDA kernels.", "Kernel 0\n* (0,0,0)\n" * 1000])
def test_no_kernel_no_text(printed):
    assert describe(printed) is None


def test_many_lines_are_bounded():
    kernel = "*      0      -   0    1 Active 0x05 (4,1,1) (64,1,1) k() \nKernel 0\n"
    rows = "".join(f"   (0,0,0)   (0,0,0)     (3,0,0)  (63,0,0)   {n} 0x00007f19537a0180 k.cu    {n} \n" for n in range(1, 2000))
    text = describe(kernel + rows)
    assert text is not None and text.startswith("k() <<<(4,1,1), (64,1,1)>>> is running: 1999 threads at k.cu:1999")
    assert text.count("threads at") == hang.MOST_PLACES and text.endswith("elsewhere")


def test_a_debugger_is_told_to_load_nothing_of_the_candidate_and_may_read_the_process(recorded, tmp_path, program):
    text = (
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {tmp_path}/arguments\nenv > {tmp_path}/environment\ncat {recorded}/hang_barrier.txt\n"
    )
    found = inspect_hang(os.getpid(), Settings(cuda_gdb=program(tmp_path / "cuda-gdb", text)))
    assert found is not None and found.endswith("256 threads at src/faults.cu:57")
    arguments = (tmp_path / "arguments").read_text().splitlines()
    assert arguments[:2] == ["-nx", "-batch"] and arguments[2:4] == ["-iex", "set auto-load off"]
    assert arguments[arguments.index("-p") + 1] == str(os.getpid())
    assert "TMPDIR" not in (tmp_path / "environment").read_text(), "a process without one has the driver's meeting place elsewhere"


def test_a_debugger_that_hangs_is_given_up(tmp_path, program, monkeypatch):
    monkeypatch.setattr(hang, "_LIMITS", hang.ProcessLimits(wall_seconds=0.5))
    never = f"#!{sys.executable}\nimport signal\nprint('{'x' * 100}', flush=True)\nsignal.pause()\n"
    assert inspect_hang(1, Settings(cuda_gdb=program(tmp_path / "gdb", never))) is None


def test_no_debugger_no_text(tmp_path):
    assert inspect_hang(1, Settings(cuda_gdb=tmp_path / "none")) is None
