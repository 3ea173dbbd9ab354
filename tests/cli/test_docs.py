"""What the pages show works as it stands: docs/writing-a-kernel.md and docs/running.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.suite import load

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH"))))
"""This source tree, and whatever the tests themselves import from."""
PAGE = (ROOT / "docs" / "writing-a-kernel.md").read_text(encoding="utf-8")


def block(label: str) -> str:
    (text,) = re.findall(rf"^```{label}\n(.*?)^```$", PAGE, re.M | re.S)
    return text


@pytest.mark.parametrize(
    ("label", "name", "task", "outcome", "code"),
    [
        ("python", "softmax.py", "cpu_softmax_n1024", "correct", 0),
        ("cpp", "softmax.cpp", "cpu_softmax_n1024", "correct", 0),
        ("cuda", "gemm.cu", "gemm_n7168_k5120", None, 4),
    ],
)
def test_the_kernels_of_the_page_are_judged_as_it_says(tmp_path, build_cache, label, name, task, outcome, code):
    assert f"ptxbench eval {name} --task {task}" in PAGE
    (tmp_path / name).write_text(block(label))
    env = {**os.environ, "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH}
    backend = ["--backend", "static"] if label == "cuda" else []
    command = [sys.executable, "-m", "ptxbench", "eval", name, "--task", task, *backend, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=250)
    evaluation = json.loads(done.stdout)
    assert (evaluation["outcome"], done.returncode) == (outcome, code), done.stdout[-3000:] + done.stderr
    if label == "cuda":
        assert evaluation["proof"]["status"] == "absent" and evaluation["build"]["ok"]


def test_the_readme_names_a_workload_that_there_is_and_that_is_not_the_default():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (selector,) = re.findall(r"--task (\S+@\S+)", readme)
    assert load().task(selector).workload != load().task(selector.partition("@")[0]).workload


RUNNING = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")


def test_the_plan_and_the_prices_of_the_page_are_read_and_its_options_exist(tmp_path, build_cache):
    prices, plan = re.findall(r"^```toml\n(.*?)^```$", RUNNING, re.M | re.S)
    (tmp_path / "plan.toml").write_text(plan)
    (tmp_path / "prices.toml").write_text(prices)
    env = {**os.environ, "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH, "COLUMNS": "200"}
    command = [sys.executable, "-m", "ptxbench", "run"]
    dry = [*command, "plan.toml", "--dry-run", "--prices", "prices.toml", "--json"]
    done = subprocess.run(dry, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=60)
    cells = json.loads(done.stdout)["cells"]
    knowledge = {(None, None), ("hopper", "wrappers"), ("hopper", "contracts")}
    assert {(cell["pack"], cell["arm"]) for cell in cells} == knowledge, done.stderr
    assert {(cell["model"], cell["cost_usd"] is not None) for cell in cells} == {("openai/NAME", True), ("openai/OTHER", False)}
    told = subprocess.run([*command, "--help"], capture_output=True, text=True, env=env, timeout=60).stdout
    assert set(re.findall(r"--[a-z][a-z-]+", RUNNING)) - {"--color"} <= set(re.findall(r"--[a-z][a-z-]+", told))


def test_the_page_quotes_what_the_live_view_was_measured_to_cost():
    figures = json.loads((ROOT / "evidence" / "cpu" / "live-view.json").read_text(encoding="utf-8"))["figures"]
    assert f"{figures['turn_us']} us a turn and {figures['core_percent_for_frames']} % of a core" in RUNNING
