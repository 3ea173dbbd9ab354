"""``ptxbench run --dry-run``: what would be asked, refused where the run would refuse, and nothing asked."""

from __future__ import annotations

import json
import re

import pytest

from ptxbench.agent.engine.manifest import read_manifest

TASK = ("--task", "cpu_softmax_n1024", "--language", "python")
SMALL = ("--trajectories", "2", "--turns", "2", "--concurrency", "1")


def test_a_dry_run_asks_nothing_and_shows_the_very_prompt_that_is_sent(ptxbench, endpoint, tmp_path):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--out", "r")
    dry = json.loads(ptxbench(*command, "--dry-run", "--json", "--seconds-per-turn", "30", "--reply-tokens", "1000").stdout)
    assert endpoint.bodies == [] and not (tmp_path / "r").exists()
    (cell,) = dry["cells"]
    assert (dry["trajectories"], dry["turns"], dry["turns_done"]) == (2, 4, 0)
    assert (dry["cpu_minutes"], dry["gpu_minutes"], dry["output_tokens"]) == (2.0, 0.0, 4000)
    first = cell["prompt"]["tokens"]["tokens"]
    assert dry["input_tokens"] == 4 * first + 2 * (1000 + dry["assumptions"]["feedback_tokens"])
    assert dry["cost_usd"] is None and cell["price"] is None and not cell["prompt"]["tokens"]["exact"]
    ptxbench(*command)
    sent = {message["role"]: message["content"] for message in endpoint.bodies[0]["messages"]}
    assert sent == {"system": cell["prompt"]["system"], "user": cell["prompt"]["user"]}
    after = json.loads(ptxbench(*command, "--dry-run", "--json").stdout)
    assert (after["turns_done"], after["input_tokens"], after["output_tokens"]) == (4, 0, 0)


@pytest.mark.parametrize("other", [("--turns", "3"), ("--temperature", "0.5")])
def test_a_dry_run_refuses_a_directory_of_other_settings_as_the_run_does(ptxbench, endpoint, tmp_path, other):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--out", "r")
    ptxbench(*command, "--max-turns-now", "1", code=4)
    dry, real = (ptxbench(*command, *other, *more, code=2).stderr for more in (("--dry-run",), ()))
    assert dry == real and "was made with another config." in dry
    assert len(endpoint.bodies) == 1
    assert "4 turns (1 done)" in ptxbench(*command, "--dry-run").stdout


def test_a_dry_run_accepts_other_versions_where_the_run_would_and_records_nothing(ptxbench, endpoint, tmp_path):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--out", "r")
    ptxbench(*command, "--max-turns-now", "1", code=4)
    path = tmp_path / "r" / "run.json"
    path.write_text(path.read_text().replace(read_manifest(tmp_path / "r").code.judge, "sha256:other"))
    before = path.read_bytes()
    assert "another code.judge" in ptxbench(*command, "--dry-run", code=2).stderr
    assert "4 turns (1 done)" in ptxbench(*command, "--dry-run", "--accept-changes").stdout
    assert path.read_bytes() == before


def test_a_dry_run_for_people_says_what_is_assumed(ptxbench):
    told = ptxbench("run", *TASK, "--model", "openai/gpt-5-mini", "--dry-run").stdout
    assert "1 cell, 4 trajectories, 32 turns (0 done)" in told and "Nothing was asked" in told
    assert "5 s of judging a turn" in told and "8000 tokens an answer" in told
    assert re.search(r"cost: about \d+\.\d\d USD", told) and "prices of 2026-" in told
