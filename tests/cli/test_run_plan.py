"""``ptxbench run PLAN.toml``: many cells by one command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


PLAN = """
[sweep]
models = ["openai/one", "openai/two"]
tasks = ["cpu_softmax_n1024", "cpu_gemm_n256_k256"]
languages = ["python"]

[rules]
trajectories = 1
turns = 2
"""


def test_a_plan_plays_every_cell_and_report_reads_them_all(ptxbench, endpoint, tmp_path):
    (tmp_path / "sweep.toml").write_text(PLAN)
    summary = json.loads(ptxbench("run", "sweep.toml", "--json", OPENAI_BASE_URL=endpoint.url).stdout)
    assert (summary["plan"], summary["folder"]) == ("sweep", "runs/sweep")
    assert (summary["planned_turns"], summary["evaluated_turns"], len(summary["runs"])) == (8, 8, 4)
    keys = [row["key"] for row in json.loads(ptxbench("report", "runs/sweep", "--json").stdout)]
    assert {(key["model"], key["task"], key["language"]) for key in keys} == {
        (model, task, "python") for model in ("openai/one", "openai/two") for task in ("cpu_softmax_n1024", "cpu_gemm_n256_k256")
    }
    assert sorted(path.name for path in (tmp_path / "runs" / "sweep").iterdir() if path.is_dir()) == sorted(
        json.loads((tmp_path / "runs" / "sweep" / "plan.json").read_text())["folders"]
    )
    assert {body["model"] for body in endpoint.bodies} == {"one", "two"} and len(endpoint.bodies) == 8


def test_a_plan_goes_on_by_the_same_command_and_may_grow(ptxbench, endpoint, tmp_path):
    (tmp_path / "sweep.toml").write_text(PLAN + "[caps]\nturns_now = 5\n")
    stopped = ptxbench("run", "sweep.toml", code=4, OPENAI_BASE_URL=endpoint.url)
    assert "5 of 8 turns evaluated" in stopped.stdout and len(endpoint.bodies) == 5
    again = ptxbench("run", "sweep.toml", "--max-turns-now", "100", OPENAI_BASE_URL=endpoint.url)
    assert "8 of 8 turns evaluated, 3 of them now" in again.stdout and len(endpoint.bodies) == 8
    (tmp_path / "sweep.toml").write_text(PLAN.replace('"openai/two"', '"openai/two", "openai/three"'))
    grown = ptxbench("run", "sweep.toml", OPENAI_BASE_URL=endpoint.url)
    assert "12 of 12 turns evaluated, 4 of them now" in grown.stdout and len(endpoint.bodies) == 12


def test_a_fault_in_one_cell_leaves_the_others_whole_and_says_which(ptxbench, endpoint, tmp_path):
    (tmp_path / "short.jsonl").write_text(json.dumps({"turn": 0, "text": "I do not know."}) + "\n")
    plan = PLAN.replace("openai/two", "replay/short.jsonl").replace(', "cpu_gemm_n256_k256"', "")
    (tmp_path / "sweep.toml").write_text(plan)
    done = ptxbench("run", "sweep.toml", code=3, OPENAI_BASE_URL=endpoint.url)
    assert "3 of 4 turns evaluated" in done.stdout
    assert re.search(r"incomplete: replay-short\S+: cpu_softmax_n1024 plain-0: .*holds no reply for turn 1", done.stdout)


def test_caps_of_a_plan_hold_over_all_its_cells(ptxbench, endpoint, tmp_path):
    (tmp_path / "sweep.toml").write_text(PLAN.replace("turns = 2", "turns = 2\nconcurrency = 1") + "[caps]\ntotal_tokens = 600\n")
    ptxbench("run", "sweep.toml", code=4, OPENAI_BASE_URL=endpoint.url)
    assert len(endpoint.bodies) == 5
    ptxbench("run", "sweep.toml", code=4, OPENAI_BASE_URL=endpoint.url)
    assert len(endpoint.bodies) == 5, "what the cells used before counts"


def test_nothing_is_asked_when_one_cell_of_a_plan_cannot_go_on(ptxbench, endpoint, tmp_path):
    (tmp_path / "sweep.toml").write_text(PLAN)
    ptxbench("run", "sweep.toml", "--max-turns-now", "1", code=4, OPENAI_BASE_URL=endpoint.url)
    last = sorted((tmp_path / "runs" / "sweep").glob("*/run.json"))[-1]
    manifest = json.loads(last.read_text())
    manifest["suite"] = "sha256:other"
    last.write_text(json.dumps(manifest))
    (tmp_path / "runs" / "sweep" / "plan.json").unlink()
    assert "another suite" in ptxbench("run", "sweep.toml", code=2, OPENAI_BASE_URL=endpoint.url).stderr
    assert len(endpoint.bodies) == 1
    assert not (tmp_path / "runs" / "sweep" / "plan.json").exists(), "a refused plan is not on record"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (PLAN.replace("cpu_gemm_n256_k256", "cpu_gem"), "cpu_gem"),
        (PLAN.replace('["python"]', '["cuda"]'), "cuda candidates cannot target cpu"),
        (PLAN.replace("[rules]", 'packs = ["hoper"]\n[rules]'), "unknown pack 'hoper'"),
        (PLAN.replace("tasks", "task"), "sweep.task: unknown key (did you mean tasks?)"),
        (PLAN.replace('"openai/two"', '"other/two"'), "unknown model 'other/two'"),
    ],
)
def test_a_plan_that_cannot_be_played_is_refused_as_a_whole(ptxbench, endpoint, tmp_path, text, told):
    (tmp_path / "sweep.toml").write_text(text)
    assert told in ptxbench("run", "sweep.toml", code=2, OPENAI_BASE_URL=endpoint.url).stderr
    assert endpoint.bodies == [] and not (tmp_path / "runs").exists()


def test_what_a_plan_says_is_not_said_beside_it(ptxbench, tmp_path):
    (tmp_path / "sweep.toml").write_text(PLAN)
    done = ptxbench("run", "sweep.toml", "--turns", "3", code=2)
    assert "--turns" in done.stderr and "in the plan itself" in done.stderr


def test_the_examples_are_plans(ptxbench):
    plans = sorted((ROOT / "examples" / "plans").glob("*.toml"))
    assert len(plans) >= 2
    for path in plans:
        told = ptxbench("run", str(path), "--dry-run").stdout
        assert re.search(r"^\d+ cells?, \d+ trajectories", told, re.M), path.name


@pytest.mark.parametrize("pasted", ["sk-proj-0123456789abcdef", "gsk_0123456789abcdef", "0" * 32, "AKIA" + "Q" * 100, "A-B", ""])
def test_a_key_in_place_of_its_variables_name_is_refused_and_never_repeated(ptxbench, endpoint, tmp_path, pasted):
    plan = PLAN.replace('"openai/two"', f'{{ name = "openai/two", key_variable = "{pasted}" }}')
    (tmp_path / "sweep.toml").write_text(plan)
    done = ptxbench("run", "sweep.toml", code=2, OPENAI_BASE_URL=endpoint.url)
    assert "key_variable is to name an environment variable" in done.stderr
    assert not pasted or pasted not in done.stdout + done.stderr
    assert endpoint.bodies == [] and not (tmp_path / "runs").exists()


def test_a_variable_that_is_not_set_is_not_named_since_it_may_be_a_key(ptxbench, endpoint, tmp_path):
    (tmp_path / "sweep.toml").write_text(PLAN.replace('"openai/two"', '{ name = "openai/two", key_variable = "AKIAQQ77" }'))
    done = ptxbench("run", "sweep.toml", code=2, OPENAI_BASE_URL=endpoint.url)
    assert "the variable that is to hold the key of openai/two is not set" in done.stderr and "AKIAQQ77" not in done.stderr
