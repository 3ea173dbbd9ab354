"""The quickstart plays the whole loop and says what it could not decide."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.app.quickstart import PARTS
from ptxbench.app.recording import load_recording

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH"))))
"""This source tree, and whatever the tests themselves import from."""


@pytest.fixture(scope="module")
def played(tmp_path_factory, build_cache):
    out = tmp_path_factory.mktemp("quickstart") / "runs"
    env = {**os.environ, "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH}
    done = subprocess.run(
        [sys.executable, "-m", "ptxbench", "quickstart", "--out", str(out), "--json"],
        capture_output=True, text=True, env=env, timeout=280,
    )  # fmt: skip
    return done, out


def test_it_comes_out_as_recorded(played):
    done, _ = played
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["ok"], done.stdout[-3000:] + done.stderr
    gemm, cpu = result["parts"]
    assert gemm["turns"][0]["outcome"] == "compile_error"
    assert [turn["outcome"] for turn in cpu["turns"]] == ["compile_error", "wrong_value", "correct"]
    if gemm["backend"] == "static":
        assert [turn["outcome"] for turn in gemm["turns"][1:]] == [None, None]
        assert all(turn["undecided"] for turn in gemm["turns"][1:])
        assert all(turn["proof"]["status"] == "unknown" for turn in gemm["turns"][1:])
    source = load_recording("gemm_n7168_k5120").turn[0].source().splitlines()
    # The 64x256x16 product is the last of the kernel's instances.
    *_, line = [number for number, text in enumerate(source, 1) if '"l"(a), "l"(b), "r"(accumulate)' in text]
    assert gemm["found"][0].startswith(f"kernel.cu:{line}: ") and len(gemm["found"][0]) < 200
    assert all("HGMMA.64x256x16.F32.BF16" in found and "UTMALDG.2D" in found for found in gemm["found"][1:])
    assert cpu["found"][0].startswith("kernel.cpp:") and "C is wrong in" in cpu["found"][1] and "right on" in cpu["found"][2]


def test_what_it_keeps_can_be_reported(played, build_cache):
    _, out = played
    env = {**os.environ, "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH}
    command = [sys.executable, "-m", "ptxbench", "report", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    assert done.returncode == 0, done.stderr
    rows = {row["key"]["task"]: row for row in json.loads(done.stdout)}
    assert rows["cpu_gemm_n256_k256"]["at"]["8"]["correct_turns"] == 1
    assert rows["gemm_n7168_k5120"]["n_evaluated"] == 3


def test_a_second_time_into_the_same_folder_is_refused(played, build_cache):
    _, out = played
    env = {**os.environ, "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH}
    command = [sys.executable, "-m", "ptxbench", "quickstart", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    assert done.returncode == 2 and "exists" in done.stderr


@pytest.mark.parametrize("name", [recording for _, recording in PARTS])
def test_recordings_hold_the_kernels_with_their_mistakes(name):
    recording = load_recording(name)
    sources = [turn.source() for turn in recording.turn]
    assert len(set(sources)) == len(sources) and [turn.expect for turn in recording.turn][-1] == "correct"
