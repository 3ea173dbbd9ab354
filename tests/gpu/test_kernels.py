"""The reference kernels do on a GPU what their headers say."""

from __future__ import annotations

import ctypes
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


@pytest.fixture(scope="session")
def hopper() -> None:
    """Skip, by name, where no GPU of compute capability 9.0 can be used."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        pytest.skip("no NVIDIA driver on this machine")
    major, device = ctypes.c_int(), ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0):
        pytest.skip("the NVIDIA driver finds no usable GPU")
    driver.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
    if major.value != 9:
        pytest.skip(f"the GPU has compute capability {major.value}.x, not 9.0")


def gemm(source: str, settings: Settings, m: int, n: int, k: int) -> dict[str, float]:
    candidate = Candidate(
        sources=(Source(path="kernel.cu", content=source),), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a"
    )
    result = Builder(settings).build(candidate)
    assert result.build.ok and result.library, result.build.diagnostics
    libtvm = locate(settings).tvm_library
    command = [sys.executable, str(CALL), str(result.library), str(libtvm), str(m), str(n), str(k)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, float] = json.loads(done.stdout)
    print(json.dumps({"m": m, "n": n, "k": k, **found}))
    return found


@pytest.mark.parametrize(("m", "n", "k"), [(8192, 7168, 5120), (1, 2, 8), (129, 258, 72), (1000, 1026, 1032)])
def test_the_wgmma_gemm_is_right_on_whole_and_ragged_tiles(hopper, settings, m, n, k):
    found = gemm(load_recording("gemm_n7168_k5120").turn[2].source(), settings, m, n, k)
    assert found["unwritten"] == 0 and found["mismatches"] == 0 and found["frobenius"] < 0.003


def test_the_recorded_wrong_kernel_is_wrong(hopper, settings):
    found = gemm(load_recording("gemm_n7168_k5120").turn[1].source(), settings, 8192, 7168, 5120)
    assert found["unwritten"] == 0 and found["mismatches"] > 1_000_000
