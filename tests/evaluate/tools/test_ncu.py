"""A run under ncu: counts of the profiled call, or why there are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate.tools.ncu import Executed, count
from ptxbench.schema import KernelBuild, Limits

REFUSED = (
    "==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0. For instructions on enabling permissions and to get more information see …\n"
)
STAND_IN = Path(__file__).with_name("stand_in_ncu_report.py")


@pytest.fixture
def counted(start, stand_in, recorded, tmp_path):
    """Count under a stand-in for ncu that has an ``ncu_report`` beside it."""
    kernels = [KernelBuild(**one) for one in json.loads((recorded / "ncu_gemm_kernels.json").read_text())]

    def run(prove_s: float = 20.0, log: str | None = None, **plan: object) -> Executed:
        folder = tmp_path / "extras" / "python"
        folder.mkdir(parents=True)
        (folder / "ncu_report.py").write_text(STAND_IN.read_text())
        files = dict(plan.pop("files", {}))
        if log is not None:
            (tmp_path / "said").write_text(log)
            files["--log-file"] = str(tmp_path / "said")
        return count(start, kernels, Limits(prove_s=prove_s), Settings(ncu=stand_in("ncu", files=files, **plan)))

    return run


def test_counts_are_those_of_the_report(counted, recorded):
    found = counted(files={"-o": str(recorded / "ncu_gemm.json")})
    assert found.why is None and not found.permission and found.mixed == ()
    assert found.kernels[0].executed["HGMMA.64x64x16.F32.BF16"].warp == 16384


def test_a_report_in_place_of_a_call_that_failed_is_not_read(counted, recorded):
    fault = {"ok": False, "kind": "cuda_error", "text": "CUDA error 700 (CUDA_ERROR_ILLEGAL_ADDRESS)"}
    found = counted(files={"-o": str(recorded / "ncu_gemm.json")}, replies=[{}, fault])
    assert found.kernels == () and found.why == "the candidate failed under it: CUDA error 700 (CUDA_ERROR_ILLEGAL_ADDRESS)"


def test_a_kernel_without_counts_is_unknown(counted, recorded):
    found = counted(files={"-o": str(recorded / "ncu_fault.json")})
    assert found.kernels == () and found.why is not None and "it counted nothing in the kernel" in found.why


def test_no_permission_is_told_apart(counted):
    found = counted(log=REFUSED, status=1)
    assert found.permission and found.kernels == () and found.why is not None and "ERR_NVGPUCTRPERM" in found.why


def test_what_the_candidate_prints_is_no_word_of_the_tool(counted, recorded):
    found = counted(
        files={"-o": str(recorded / "ncu_gemm.json")}, replies=[{"returned": "ERR_NVGPUCTRPERM"}, {"returned": REFUSED}]
    )
    assert not found.permission and found.why is None


def test_a_call_that_launches_nothing_is_unknown(counted, recorded):
    found = counted(log=(recorded / "ncu_no_kernel.log").read_text())
    assert (found.kernels, found.why) == ((), "the call launched no kernel")


def test_an_empty_report_is_unknown(counted, tmp_path):
    (tmp_path / "empty").write_text('{"kernels": []}')
    assert counted(files={"-o": str(tmp_path / "empty")}).why == "the call launched no kernel"


def test_a_tool_that_fails_is_unknown_with_its_words(counted, recorded):
    found = counted(
        files={"-o": str(recorded / "ncu_gemm.json")}, log="==ERROR== Driver resource was unavailable at /opt/x/y\n", status=1
    )
    assert (found.kernels, found.why) == ((), "it ended with status 1: Driver resource was unavailable at y")


def test_time_is_bounded(counted):
    assert counted(prove_s=1.0, replies=[{}, {"hang": True}]).why == "it took longer than 1 s"


def test_a_tool_that_refuses_to_start_is_unknown(counted):
    found = counted(start=False, status=1)
    assert found.why is not None and found.why.startswith("the candidate's process does not start under it")


def test_garbage_in_place_of_a_report_is_unknown(counted, tmp_path):
    (tmp_path / "garbage").write_bytes(b"\x00\xff" * 1000)
    found = counted(files={"-o": str(tmp_path / "garbage")})
    assert found.kernels == () and found.why is not None and found.why.startswith("its report cannot be read")


def test_a_missing_tool_is_unknown_and_named(start, tmp_path):
    found = count(start, (), Limits(), Settings(ncu=tmp_path / "none"))
    assert found.why is not None and "PTXBENCH_NCU" in found.why and str(tmp_path) not in found.why


def test_a_child_that_cannot_profile_is_unknown(start, tmp_path, program):
    """A real child, under a program that only runs it: a candidate on the CPU knows no such request."""
    folder = tmp_path / "real" / "extras" / "python"
    program(folder / "ncu_report.py", "")
    tool = program(tmp_path / "real" / "ncu", '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nshift; shift\n"$@"\n')
    found = count(start, (), Limits(), Settings(ncu=tool))
    assert found.kernels == () and found.why is not None and "the candidate failed under it" in found.why
