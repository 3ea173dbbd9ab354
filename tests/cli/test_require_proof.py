"""``eval --require-proof`` says when the proof alone decides how the command ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
PLAIN = (str(ROOT / "tests/gpu/kernels/plain.cu"), "--task", "gemm_n7168_k5120", "--backend", "static")
CPU = (str(ROOT / "kernels/cpu/gemm_bf16/kernel.cpp"), "--task", "cpu_gemm_n256_k256")


@pytest.fixture
def evaluate(tmp_path, build_cache):
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        env = os.environ | {"HOME": str(tmp_path), "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH}
        argv = [sys.executable, "-m", "ptxbench", "eval", *arguments]
        return subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=250)

    return call


@pytest.mark.parametrize(
    ("kernel", "code", "why"),
    [
        (CPU, 4, "cpu_gemm_n256_k256 is a CPU task, whose kernels have no target instructions"),
        (PLAIN, 1, "no target instructions are in the binary"),
    ],
    ids=["cpu", "absent"],
)
def test_a_missing_proof_is_named_last_with_the_exit_code_that_it_makes(evaluate, kernel, code, why):
    done = evaluate(*kernel, "--require-proof")
    line = f"--require-proof: the required proof is missing, hence exit code {code}: {why}"
    assert done.returncode == code and done.stdout.splitlines()[-1] == line, done.stdout + done.stderr
    quiet = evaluate(*kernel)
    assert quiet.returncode != code and "required proof" not in quiet.stdout


def test_in_json_the_line_goes_beside_the_record(evaluate):
    done = evaluate(*CPU, "--require-proof", "--json")
    assert done.returncode == 4 and json.loads(done.stdout)["outcome"] == "correct"
    assert done.stderr.splitlines()[-1].startswith("--require-proof: the required proof is missing, hence exit code 4")
