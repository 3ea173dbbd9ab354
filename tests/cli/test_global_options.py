"""Global options may stand anywhere; what foreign folders say reaches the user of every command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.cli.hoisting import hoisted

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH"))))
"""This source tree, and whatever the tests themselves import from."""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("tasks list --suite a --json", "--suite a --json tasks list"),
        ("--suite a tasks list --suite b", "--suite a --suite b tasks list"),
        ("eval k.cu --task t -v --color=never", "-v --color=never eval k.cu --task t"),
        ("eval -- --suite a", "eval -- --suite a"),
        ("tasks list --suite", "tasks list --suite"),
    ],
)
def test_options_are_moved_in_front_with_their_values(given, expected):
    assert hoisted(given.split()) == expected.split()


def ptxbench(*arguments: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": IMPORT_PATH, "PTXBENCH_CACHE_DIR": str(cwd / "cache"), **more}
    command = [sys.executable, "-m", "ptxbench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=cwd, timeout=200)


@pytest.fixture
def foreign(tmp_path):
    """A folder with one NumPy task, with a key that nobody knows."""
    definition = {
        "name": "twice",
        "op_type": "scale",
        "axes": {"N": {"type": "const", "value": 64}},
        "inputs": {"X": {"shape": ["N"], "dtype": "float32"}},
        "outputs": {"Y": {"shape": ["N"], "dtype": "float32"}},
        "reference": "import numpy as np\n\ndef run(X):\n    return X * 2\n",
        "colour": "blue",
    }
    workload = {"uuid": "w0", "axes": {}, "inputs": {"X": {"type": "random"}}}
    trace = {"definition": "twice", "workload": workload, "solution": None, "evaluation": None}
    for name, text in (("definitions/twice.json", json.dumps(definition)), ("workloads/twice.jsonl", json.dumps(trace) + "\n")):
        (tmp_path / "suite" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "suite" / name).write_text(text)
    return tmp_path


def test_eval_takes_a_suite_after_the_command_and_passes_its_warnings_on(foreign):
    (foreign / "k.py").write_text("def run(X, Y):\n    Y[:] = X * 2\n")
    done = ptxbench("eval", "k.py", "--task", "twice", "--arch", "cpu", "--suite", "suite", "--json", cwd=foreign)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "correct"
    assert "warning: " in done.stderr and "colour" in done.stderr


def test_only_the_stages_asked_for_are_run(foreign):
    (foreign / "k.py").write_text("def run(X, Y):\n    Y[:] = X * 2\n")
    arguments = ("eval", "k.py", "--task", "twice", "--arch", "cpu", "--suite", "suite", "--json", "--stages")
    compared = json.loads(ptxbench(*arguments, "compare", cwd=foreign).stdout)
    assert compared["outcome"] == "correct" and compared["latency"] is None and compared["seconds"]["time"] is None
    assert ptxbench(*arguments, "guess", cwd=foreign).returncode == 2


def test_import_needs_no_folder_to_be_named(foreign):
    assert ptxbench("tasks", "import", "suite", cwd=foreign).returncode == 0
    assert (foreign / "suites" / "suite" / "definitions").is_dir()


def test_doctor_lists_everything_when_one_look_fails(tmp_path):
    nvcc = tmp_path / "toolkit" / "bin" / "nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text("#!/bin/sh\nexit 1\n")
    nvcc.chmod(0o755)
    (nvcc.parent / "ptxas").symlink_to(nvcc)
    done = ptxbench("doctor", "--json", cwd=tmp_path, PTXBENCH_TOOLKIT=str(tmp_path / "toolkit"))
    report = json.loads(done.stdout)
    names = [check["name"] for check in report["checks"]]
    assert done.returncode == 3 and "disk" in names and "sandbox" in names
    assert all(check["fix"] for check in report["checks"] if check["status"] != "ok")


def test_a_user_without_a_home_has_a_cache(tmp_path):
    """Neither HOME nor an entry in the user table: containers run like that."""
    script = "import pwd\npwd.getpwuid = {}.__getitem__\nfrom ptxbench.core.settings import Settings\nprint(Settings().cache_dir)\n"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": IMPORT_PATH, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    assert done.returncode == 0 and done.stdout.startswith(f"{tmp_path}/ptxbench-of-"), done.stderr
