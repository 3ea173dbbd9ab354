"""``ptxbench compare`` as a user calls it, and the page about it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")
BY_MACHINE = ("exceed noise; where", "best speedup", "speedup, second over first")
"""Lines of the example that say what a machine measured."""


def block(label: str) -> str:
    (text,) = re.findall(rf"^```{label}\n(.*?)^```$", PAGE, re.M | re.S)
    return text


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split("[│┃]", line.strip(" │┃"))]


def test_the_examples_of_the_page(ptxbench, tmp_path, import_path):
    subprocess.run([sys.executable, "-c", block("python")], cwd=tmp_path, check=True, timeout=60)
    *runs, last = (shlex.split(line)[1:] for line in block("sh").splitlines())
    for run in runs:
        ptxbench(*run)
    done = ptxbench(*last)
    printed = [cells(line) for line in done.stdout.splitlines()]
    told = [line for line in block("text").splitlines() if not any(word in line for word in BY_MACHINE)]
    assert len(told) == 6
    for line in told:
        assert cells(line) in printed, f"{line}\nis not in\n{done.stdout}"

    record = json.loads(ptxbench(*last, "--json").stdout)
    correct = record["tasks"][0]["differences"][0]
    assert (correct["metric"]["name"], correct["exceeds_noise"], correct["pairs"]) == ("turn_correctness", True, 6)
    assert record["comparable"] and record["incomparable"] == []
    found = record["tasks"][0]["differences"]
    # What the clock measured may differ between any two runs; nothing else does but the correct turns.
    by_clock = {one["metric"]["name"] for one in found if "speedup" in one["metric"]["name"] or "fast_p" in one["metric"]["name"]}
    exceeding = {one["metric"]["name"] for one in found if one["exceeds_noise"]}
    assert exceeding - by_clock == {"turn_correctness"} and len(by_clock) < len(found) - 1
    assert record["exceeding"] == sum(bool(one["exceeds_noise"]) for one in found)

    ptxbench(*runs[0][:-1], "third", "--history", "single")
    refused = ptxbench("compare", "first", "third", code=2)
    assert "history: full and single" in refused.stderr and "--across KEY" in refused.stderr and refused.stdout == ""
    error = json.loads(ptxbench("compare", "first", "third", "--json", code=2).stdout)
    assert error["error"] == "not_comparable"
    assert error["incomparable"] == [
        {"key": "history", "first": "full", "second": "single", "tasks": error["incomparable"][0]["tasks"], "asked": False}
    ]
    assert "NOT COMPARABLE" in ptxbench("compare", "first", "third", "--force").stdout
    assert "Compared across:" in ptxbench("compare", "first", "third", "--across", "history").stdout

    subprocess.run(
        [sys.executable, "-c", block("py")], cwd=tmp_path, check=True, timeout=60, env=os.environ | {"PYTHONPATH": import_path}
    )
    again, compared = (shlex.split(line)[1:] for line in block("shell").splitlines())
    ptxbench(*again)
    assert "12 turns with the same source: no verdicts differ" in ptxbench(*compared).stdout


def test_what_cannot_be_read_is_said(ptxbench, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "holds no run" in ptxbench("compare", "empty", "empty", code=2).stderr
    assert "there is no folder none" in ptxbench("compare", "none", "none", code=2).stderr


def test_help_shows_how_it_is_used(ptxbench):
    told = ptxbench("compare", "--help", COLUMNS="200").stdout
    assert set(re.findall(r"--[a-z]+", PAGE.replace("--accept-changes", ""))) - {"--model"} <= set(
        re.findall(r"--[a-z]+", told)
    ) | {
        "--task",
        "--language",
        "--trajectories",
        "--turns",
        "--out",
    }
    for command in re.findall(r"^  ptxbench compare .*$", told, re.M):
        assert command.strip() in PAGE
    assert told.count("  ptxbench compare ") == 3


@pytest.mark.parametrize("arguments", [(), ("one",)])
def test_two_runs_are_needed(ptxbench, arguments):
    assert "Missing argument" in ptxbench("compare", *arguments, code=2).stderr
