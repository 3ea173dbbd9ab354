"""``ptxbench import published``: what a user sees of it, and that the rest of the command line reads what it makes."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.agent.imports.published import COLUMNS

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))


@pytest.fixture
def ptxbench(tmp_path, build_cache):
    environment = {**os.environ, "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH, "COLUMNS": "200"}

    def call(*arguments):
        command = [sys.executable, "-m", "ptxbench", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120)

    return call


@pytest.fixture
def table(tmp_path):
    """Two runs of one task, two trajectories each; one ends early, one lacks a turn, one turn failed in the service."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for run in ("first", "second"):
        for trajectory, turns in (("exp_000", range(8)), ("exp_001", (0, 1, 3))):
            for turn in turns:
                outcome = ("Profiling Service Timeout", "0.0", "", 0) if turn == 0 else ("Correct", f"0.{turn}", "H", 1)
                writer.writerow(["M", "hopper", "gemm_n7168_k5120", "w", run, trajectory, turn, 100, *outcome])
    (tmp_path / "turns.csv").write_text(stream.getvalue())
    return tmp_path / "turns.csv"


def test_a_table_is_imported_and_reported(ptxbench, table, tmp_path):
    done = ptxbench("import", "published", "turns.csv", "--out", "runs")
    assert done.returncode == 0 and done.stderr == "next: ptxbench report runs\n"
    assert done.stdout == (
        "22 turns of 4 trajectories in 2 run directories under runs\n"
        "2 trajectories end before turn 8; what is missing counts as not reached\n"
        "2 turns are missing inside trajectories; their runs are incomplete\n"
    )
    reported = ptxbench("report", "runs", "--json")
    first, second = json.loads(reported.stdout)
    assert (first["key"]["run"], second["key"]["run"]) == ("first", "second")
    at = first["at"]["8"]
    assert (first["n_planned"], first["n_evaluated"], first["complete"], at["turns"]) == (16, 11, False, 15)
    assert (at["correct_turns"], at["best_speedup"], at["unknown_proofs"]) == (9, 0.7, 9)
    assert (at["qualified_turns"], at["source_tag_turns"], at["source_tag_trajectories_with_success"]) == (0, 9, 2)
    assert first["fast_p"]["min"] is None and first["outcomes_by_turn"]["0"] == {"profiling_service_timeout": 2}
    assert "imported published table" in ptxbench("report", "runs/first").stdout


def test_what_was_made_is_told_to_machines(ptxbench, table):
    made = json.loads(ptxbench("--json", "import", "published", "turns.csv", "--out", "runs", "--turns", "4").stdout)
    assert (made["table"], made["turns"], made["folder"]) == ("turns.csv", 22, "runs")
    assert [(run["run"], run["folder"], run["shortened"], run["lost"]) for run in made["runs"]] == [
        ("first", "runs/first", 1, 1),
        ("second", "runs/second", 1, 1),
    ]


def test_a_wrong_table_is_one_line_and_makes_nothing(ptxbench, table, tmp_path):
    table.write_text(table.read_text().replace("Correct", "Right", 1))
    done = ptxbench("import", "published", "turns.csv", "--out", "runs", "--json")
    assert done.returncode == 2 and done.stderr.startswith("error: turns.csv:3: outcome: 'Right' is none of Correct, ")
    assert "Traceback" not in done.stderr and not (tmp_path / "runs").exists()
    assert len(json.loads(done.stdout)["problems"]) == 1


def test_an_out_in_use_and_a_wrong_number_of_turns_are_refused(ptxbench, table):
    assert ptxbench("import", "published", "turns.csv", "--out", "runs").returncode == 0
    again = ptxbench("import", "published", "turns.csv", "--out", "runs")
    assert again.returncode == 2 and "not an empty folder" in again.stderr and "choose another --out" in again.stderr
    none = ptxbench("import", "published", "turns.csv", "--out", "other", "--turns", "0")
    assert none.returncode == 2 and "--turns 0" in none.stderr


def test_an_imported_run_has_nothing_to_export_and_is_not_played_on(ptxbench, table):
    assert ptxbench("import", "published", "turns.csv", "--out", "runs").returncode == 0
    exported = ptxbench("export", "atif", "runs", "--out", "out")
    assert exported.returncode == 2 and "imported holds no replies" in exported.stderr
    (Path(table.parent) / "replies.jsonl").write_text('{"trajectory": null, "turn": 0, "text": "I do not know."}\n')
    played = ptxbench(
        "run", "--task", "cpu_softmax_n1024", "--model", "replay/replies.jsonl", "--turns", "1", "--out", "runs/first"
    )
    assert played.returncode == 2 and "was made with" in played.stderr


def test_help_says_what_the_command_is_for(ptxbench):
    done = ptxbench("import", "published", "--help")
    assert done.returncode == 0 and "--out DIR" in done.stdout and "Example: ptxbench import published" in done.stdout
