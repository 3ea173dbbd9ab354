"""The reference kernels do on a GPU what their headers say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.app.recording import load_recording
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, locate

pytestmark = pytest.mark.gpu

CALL = Path(__file__).with_name("call_gemm.py")
KERNELS = Path(__file__).with_name("kernels")


def call(source: str, settings: Settings, m: int, n: int, k: int, limit: float = 280) -> subprocess.CompletedProcess[str]:
    """Build the candidate and run it in a process of its own. Raises ``subprocess.TimeoutExpired`` after ``limit`` seconds."""
    candidate = Candidate(
        sources=(Source(path="kernel.cu", content=source),), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a"
    )
    result = Builder(settings).build(candidate)
    assert result.build.ok and result.library, result.build.diagnostics
    libtvm = locate(settings).tvm_library
    command = [sys.executable, str(CALL), str(result.library), str(libtvm), str(m), str(n), str(k)]
    return subprocess.run(command, capture_output=True, text=True, timeout=limit)


def gemm(source: str, settings: Settings, m: int, n: int, k: int) -> dict[str, float]:
    done = call(source, settings, m, n, k)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, float] = json.loads(done.stdout)
    print(json.dumps({"m": m, "n": n, "k": k, **found}))
    return found


def kernel(name: str) -> str:
    return (KERNELS / f"{name}.cu").read_text(encoding="utf-8")


# The task's own; less than one tile; ragged in every direction, with rows of C that TMA can store (N % 8 = 0) and cannot.
SIZES = [(8192, 7168, 5120), (1, 2, 8), (1, 8, 8), (129, 258, 72), (129, 264, 72), (1000, 1026, 1032), (2500, 3000, 1032)]


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_the_wgmma_gemm_is_right_on_whole_and_ragged_tiles(hopper_gpu, settings, m, n, k):
    found = gemm(load_recording("gemm_n7168_k5120").turn[2].source(), settings, m, n, k)
    assert found["unwritten"] == 0 and found["mismatches"] == 0 and found["frobenius"] < 0.003


def test_the_recorded_wrong_kernel_is_wrong(hopper_gpu, settings):
    found = gemm(load_recording("gemm_n7168_k5120").turn[1].source(), settings, 8192, 7168, 5120)
    assert found["unwritten"] == 0 and found["mismatches"] > 1_000_000


@pytest.mark.parametrize("name", ["plain", "decoy_wgmma"])
@pytest.mark.parametrize(("m", "n", "k"), [(8192, 7168, 5120), (129, 258, 72)])
def test_the_kernels_off_the_tensor_path_are_right(hopper_gpu, settings, name, m, n, k):
    found = gemm(kernel(name), settings, m, n, k)
    assert found["unwritten"] == 0 and found["mismatches"] == 0 and found["frobenius"] < 0.003


def test_the_wrong_swizzle_is_wrong_in_seven_of_eight_elements(hopper_gpu, settings):
    found = gemm(kernel("wrong_swizzle"), settings, 8192, 7168, 5120)
    wrong = found["mismatches"] / (3 * 8192 * 7168)
    assert found["unwritten"] == 0 and 0.85 < wrong < 0.88


def test_the_illegal_address_faults_without_a_memory_checker(hopper_gpu, settings):
    done = call(kernel("illegal_address"), settings, 512, 7168, 5120)
    assert done.returncode != 0 and "illegal memory access" in done.stderr


def test_the_barrier_hang_hangs_and_leaves_a_usable_gpu(hopper_gpu, settings):
    source = kernel("barrier_hang")
    with pytest.raises(subprocess.TimeoutExpired):
        call(source, settings, 512, 7168, 5120, limit=20)
    assert gemm(kernel("plain"), settings, 512, 7168, 5120)["mismatches"] == 0
