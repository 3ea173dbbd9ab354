"""``--prove-by-mutation`` is refused where it could prove nothing, and taken where a GPU task is only built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
PLAIN = str(ROOT / "tests/gpu/kernels/plain.cu")


@pytest.fixture
def evaluate(tmp_path, build_cache):
    """Run ``ptxbench eval`` with the flag."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PTXBENCH_CACHE_DIR": str(build_cache),
            "PYTHONPATH": IMPORT_PATH,
        }
        argv = [sys.executable, "-m", "ptxbench", "eval", *arguments, "--prove-by-mutation", "--json"]
        return subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=250)

    return call


def test_a_cpu_task_has_no_matrix_instructions(evaluate):
    done = evaluate(str(ROOT / "kernels/cpu/gemm_bf16/kernel.cpp"), "--task", "cpu_gemm_n256_k256")
    assert done.returncode == 2 and "no matrix instructions" in done.stderr, done.stderr


def test_it_needs_the_stages_that_it_rests_on(evaluate):
    done = evaluate(PLAIN, "--task", "gemm_n7168_k5120", "--stages", "compare,time")
    assert done.returncode == 2 and "compare and prove" in done.stderr, done.stderr


def test_without_a_gpu_nothing_is_proven(evaluate):
    done = evaluate(PLAIN, "--task", "gemm_n7168_k5120", "--backend", "static")
    record = json.loads(done.stdout)
    assert done.returncode == 4 and record["proof"]["mutation"] is None and record["flags"] == []
