"""``ptxbench run`` asks no model while this machine cannot compile what it would answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

COMMAND = ("run", "--task", "cpu_softmax_n1024", "--model", "openai/m", "--trajectories", "1", "--turns", "1", "--out", "r")
ANSWER = "```cpp\nint nothing;\n```\n"


@pytest.fixture
def broken(tmp_path: Path) -> str:
    """A host compiler that answers and compiles nothing."""
    script = tmp_path / "g++"
    script.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "g++ 12" && exit 0\necho "cannot open headers" >&2\nexit 1\n')
    script.chmod(0o755)
    return str(script)


def test_a_broken_compiler_is_found_before_an_answer_is_paid_for(ptxbench, endpoint, broken, tmp_path):
    endpoint.text = ANSWER
    command = (*COMMAND, "--base-url", endpoint.url)
    done = ptxbench(*command, "--language", "cpp", "--json", code=3, PTXBENCH_HOST_COMPILER=broken)
    error = json.loads(done.stdout)
    assert endpoint.bodies == [] and "does not compile the least kernel" in error["message"]
    assert "cannot open headers" in error["message"] and "ptxbench doctor" in error["next_step"]
    assert not (tmp_path / "r" / "journal.jsonl").read_bytes()
    ptxbench(*command, "--language", "cpp")
    assert len(endpoint.bodies) == 1


PLAN = """
[sweep]
models = ["openai/one", "openai/two"]
tasks = ["cpu_softmax_n1024"]
languages = ["python", "cpp"]

[rules]
trajectories = 1
turns = 1
"""


def test_a_plan_asks_nothing_when_one_of_its_languages_is_not_compiled_and_begins_when_it_is(ptxbench, endpoint, broken, tmp_path):
    (tmp_path / "sweep.toml").write_text(PLAN)
    ptxbench("run", "sweep.toml", code=3, OPENAI_BASE_URL=endpoint.url, PTXBENCH_HOST_COMPILER=broken)
    assert endpoint.bodies == []
    ptxbench("run", "sweep.toml", OPENAI_BASE_URL=endpoint.url)
    assert len(endpoint.bodies) == 4


def test_what_needs_no_compiler_is_played_without_one(ptxbench, endpoint, broken):
    endpoint.text = "```python\ndef run(X, Y):\n    Y[:] = 0\n```\n"
    ptxbench(*COMMAND, "--base-url", endpoint.url, "--language", "python", PTXBENCH_HOST_COMPILER=broken)
    assert len(endpoint.bodies) == 1


def test_a_run_that_is_done_is_told_without_a_compiler(ptxbench, endpoint, broken):
    endpoint.text = ANSWER
    command = (*COMMAND, "--base-url", endpoint.url, "--language", "cpp")
    ptxbench(*command)
    assert "1 of 1 turns evaluated, 0 of them now" in ptxbench(*command, PTXBENCH_HOST_COMPILER=broken).stdout
