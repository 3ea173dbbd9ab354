"""Reading run directories that are no run, that are named twice, or that are damaged."""

import json

import pytest

from ptxbench.core.errors import StorageError, UsageError
from ptxbench.report import load_runs

MANIFEST = {
    "run": "r",
    "created": "2026-01-01T00:00:00+00:00",
    "code": {"version": "0.1.0", "templates": "sha256:0"},
    "environment": {"python": "3.12", "platform": "Linux"},
    "model": "replay/x",
    "model_facts": {},
    "suite": "sha256:0",
    "config": {"variants": ["plain"], "trajectories": 2, "turns": 3},
    "cells": [
        {
            "key": {
                "model": "replay/x",
                "arch": "cpu",
                "device": "cpu",
                "task": "t",
                "workload": "w",
                "language": "cpp",
                "protocol": "strict",
                "run": "r",
            },
            "task_hash": "sha256:0",
        }
    ],
}
PLACE = {"task": "t", "workload": "w", "arch": "cpu", "variant": "plain", "number": 0}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(MANIFEST))
    return tmp_path


def test_a_run_that_has_not_made_a_turn_is_read(folder):
    table = load_runs([folder])
    (plan,) = table.planned.values()
    assert table.turns == () and plan.planned_turns == 6 and plan.baseline is None


def test_an_ended_trajectory_is_known_as_not_reached(folder):
    entry = {"kind": "end", "place": PLACE, "turn": 1, "reason": "context_overflow"}
    (folder / "journal.jsonl").write_text(json.dumps(entry) + "\n")
    (plan,) = load_runs([folder]).planned.values()
    assert [(gap.trajectory, gap.first) for gap in plan.not_reached] == [("plain-0", 1)]


def test_a_torn_last_line_is_no_damage(folder):
    (folder / "journal.jsonl").write_text('{"kind": "tur')
    assert load_runs([folder]).turns == ()


@pytest.mark.parametrize("line", ["{", "[]", '{"kind": "unheard"}', '{"kind": "turn"}'])
def test_a_damaged_journal_is_an_error_with_its_line(folder, line):
    (folder / "journal.jsonl").write_text(line + "\n")
    with pytest.raises(StorageError, match=r"journal\.jsonl:1") as raised:
        load_runs([folder])
    assert "restore the file from a copy, or remove that line and all behind it" in (raised.value.next_step or "")


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not a run directory"):
        load_runs([tmp_path])


def test_a_run_named_twice_is_refused(folder):
    with pytest.raises(UsageError, match="named twice"):
        load_runs([folder, folder])


@pytest.mark.parametrize(
    ("text", "foreign"), [("", False), ("garbage", False), ('{"run": "r"', False), ("{}", True), ('{"run": "r", "new": 1}', True)]
)
def test_a_manifest_that_cannot_be_read_is_refused_and_only_a_whole_one_may_be_another_versions(tmp_path, text, foreign):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=r"run\.json cannot be read") as raised:
        load_runs([tmp_path])
    step = raised.value.next_step or ""
    assert "restore the file from a copy" in step and ("another version" in step) == foreign


@pytest.mark.parametrize("config", [{}, {"variants": ["plain"], "trajectories": "many", "turns": 3}, {"variants": None}])
def test_a_manifest_without_its_plan_is_refused(tmp_path, config):
    (tmp_path / "run.json").write_text(json.dumps(MANIFEST | {"config": config}))
    with pytest.raises(UsageError, match="how many turns were planned"):
        load_runs([tmp_path])


def test_what_a_trajectory_did_not_reach_belongs_to_its_own_cell(tmp_path):
    second = {**MANIFEST["cells"][0], "key": {**MANIFEST["cells"][0]["key"], "workload": "other"}}
    (tmp_path / "run.json").write_text(json.dumps(MANIFEST | {"cells": [MANIFEST["cells"][0], second]}))
    entry = {"kind": "end", "place": PLACE, "turn": 1, "reason": "context_overflow"}
    (tmp_path / "journal.jsonl").write_text(json.dumps(entry) + "\n")
    planned = load_runs([tmp_path]).planned
    assert {key.workload: len(plan.not_reached) for key, plan in planned.items()} == {"w": 1, "other": 0}


@pytest.mark.parametrize(
    ("sampling", "said"),
    [
        ({}, "default"),
        ({"temperature": None, "seed": 7, "timeout_s": 60.0}, "default"),
        ({"temperature": 0.0, "top_p": None}, "temperature 0.0"),
        ({"temperature": 0, "send_reasoning": False}, "send_reasoning False, temperature 0"),
    ],
)
def test_a_sampling_of_zero_is_a_sampling(tmp_path, sampling, said):
    config = MANIFEST["config"] | {"sampling": sampling}
    (tmp_path / "run.json").write_text(json.dumps(MANIFEST | {"config": config}))
    (plan,) = load_runs([tmp_path]).planned.values()
    assert plan.settings["sampling"] == said


@pytest.mark.parametrize(
    ("changes", "name", "value"),
    [
        ({}, "numpy", "unknown"),
        ({"code": MANIFEST["code"] | {"numpy": "2.3.4"}}, "numpy", "2.3.4"),
        ({"protocol_version": "0"}, "protocol", "0"),
    ],
)
def test_versions_that_decide_verdicts_are_settings(tmp_path, changes, name, value):
    (tmp_path / "run.json").write_text(json.dumps(MANIFEST | changes))
    (plan,) = load_runs([tmp_path]).planned.values()
    assert plan.settings[name] == value and plan.proof_method is None
