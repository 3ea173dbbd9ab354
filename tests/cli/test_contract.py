"""The JSON of the commands has every key of the contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH"))))
"""This source tree, and whatever the tests themselves import from."""
GOLDEN = Path(__file__).parent / "golden"
"""Examples with every key that a reader of the JSON may rely on; their values are invented."""


def ptxbench(*arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PTXBENCH_CACHE_DIR": str(cache), "PYTHONPATH": IMPORT_PATH}
    return subprocess.run([sys.executable, "-m", "ptxbench", *arguments], capture_output=True, text=True, env=env, timeout=280)


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def missing_keys(expected: Any, found: Any, path: str = "") -> list[str]:
    """Return the keys of ``expected`` that ``found`` lacks; a null in ``found`` stands for a whole part."""
    if found is None:
        return []
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return [f"{path} is no object"]
        if path.endswith((".opcodes", ".executed", ".axes", ".seconds", ".parts", ".ci95", ".at", ".outcomes_by_turn")):
            return []
        return [
            missing
            for key, value in expected.items()
            for missing in ([f"{path}.{key}"] if key not in found else missing_keys(value, found[key], f"{path}.{key}"))
        ]
    if isinstance(expected, list) and expected and isinstance(found, list) and found:
        return missing_keys(expected[0], found[0], f"{path}[0]")
    return []


def test_doctor(build_cache):
    done = ptxbench("doctor", "--json", cache=build_cache)
    report = json.loads(done.stdout)
    assert missing_keys(golden("doctor.json"), report) == []
    assert done.returncode == (0 if report["usable"] else 3)
    assert all(check["fix"] for check in report["checks"] if check["status"] != "ok")


def test_tasks_list(build_cache):
    done = ptxbench("tasks", "list", "--json", cache=build_cache)
    rows = json.loads(done.stdout)
    expected = golden("tasks-list.json")
    assert missing_keys(expected, rows) == []
    gemm = next(row for row in rows if row["name"] == "gemm_n7168_k5120")
    workload = next(item for item in gemm["workloads"] if item["uuid"] == gemm["default_workload"])
    assert gemm["default_workload"] == expected[0]["default_workload"] and workload["flops"] == expected[0]["workloads"][0]["flops"]


def test_compile_and_static_evaluation_of_the_reference_gemm(build_cache):
    kernel = str(ROOT / "kernels" / "sm_90a" / "gemm_bf16" / "kernel.cu")
    done = ptxbench("compile", kernel, "--arch", "sm_90a", "--json", cache=build_cache)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    contract = golden("eval.json")
    assert missing_keys({"schema_version": 1, "arch": "", "policy": contract["policy"], "build": contract["build"]}, report) == []
    opcodes = report["build"]["kernels"][0]["opcodes"]
    assert opcodes["HGMMA.64x256x16.F32.BF16"] >= 4 and opcodes["UTMALDG.2D"] >= 2

    done = ptxbench("eval", kernel, "--task", "gemm_n7168_k5120", "--backend", "static", "--json", cache=build_cache)
    evaluation = json.loads(done.stdout)
    assert done.returncode == 4, done.stderr
    assert missing_keys(contract, evaluation) == []
    assert evaluation["outcome"] is None and evaluation["undecided"] and evaluation["proof"]["status"] == "unknown"
    assert evaluation["build"]["cached"] is True


@pytest.mark.parametrize(
    ("change", "outcome", "code"),
    [
        (None, "correct", 0),
        (("out[r * n + column]", "out[column * m + r]"), "wrong_value", 1),
        (("const int64_t n = b.size(0);", "const int64_t n = b.size(0)"), "compile_error", 1),
        (("#include <vector>", "#include <vector>\n#include <dlfcn.h>\nvoid* h = dlopen(0, 1);"), "policy_violation", 1),
    ],
    ids=["correct", "transposed", "semicolon", "dlopen"],
)
def test_a_cpu_candidate_gets_its_verdict_and_exit_code(tmp_path, build_cache, change, outcome, code):
    text = (ROOT / "kernels" / "cpu" / "gemm_bf16" / "kernel.cpp").read_text()
    if change:
        assert text.count(change[0]) == 1
        text = text.replace(*change)
    kernel = tmp_path / "kernel.cpp"
    kernel.write_text(text)
    done = ptxbench("eval", str(kernel), "--task", "cpu_gemm_n256_k256", "--json", cache=build_cache)
    evaluation = json.loads(done.stdout)
    assert (evaluation["outcome"], done.returncode) == (outcome, code), done.stdout[-3000:] + done.stderr
    assert missing_keys(golden("eval.json"), evaluation) == []
    text = ptxbench("eval", str(kernel), "--task", "cpu_gemm_n256_k256", cache=build_cache)
    assert text.returncode == code and outcome in text.stdout and "Traceback" not in text.stderr
