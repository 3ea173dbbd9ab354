"""``report --table`` and ``--figure``: names and formats that teach, one document on stdout, files in a folder."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ptxbench.app.importing import import_published
from ptxbench.cli.application import application
from ptxbench.core.errors import PtxbenchError
from ptxbench.report.catalogue import FIGURES, TABLES

ROOT = Path(__file__).parents[2]

TABLE = """\
model,arch,definition,workload_uuid,run,trajectory,turn,reasoning_tokens,outcome,speedup,source_arch_tag,target_instruction
M,hopper,gemm_n7168_k5120,w,r1,t0,0,10,Compilation error,0.0,,0
M,hopper,gemm_n7168_k5120,w,r1,t0,1,20,Correct,0.5,wgmma,1
M,hopper,gemm_n7168_k5120,w,r1,t1,0,30,Numerical error,0.0,,0
M,hopper,gemm_n7168_k5120,w,r1,t1,1,,Other error,0.0,,0
"""


AGAIN = """\
M,hopper,gemm_n7168_k5120,w,r2,t0,0,10,Correct,0.25,wgmma,1
M,hopper,gemm_n7168_k5120,w,r2,t0,1,20,Correct,0.75,wgmma,1
"""
"""Another run of the same cell."""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imported")
    (folder / "turns.csv").write_text(TABLE)
    import_published(folder / "turns.csv", folder / "runs", turns=2)
    return folder


@pytest.fixture
def runs(imported, tmp_path):
    """The table's runs, as ``runs`` where the command is called."""
    for name in ("turns.csv", "runs"):
        (tmp_path / name).symlink_to(imported / name)


def test_the_list_names_every_kind_and_its_place_in_the_paper(ptxbench):
    listed = json.loads(ptxbench("report", "--list", "--json").stdout)
    assert [(one["form"], one["name"]) for one in listed] == [
        *(("table", kind.name) for kind in TABLES), *(("figure", kind.name) for kind in FIGURES)
    ]  # fmt: skip
    assert {"Tables 1, 9", "Table 3", "Table 4", "Figure 12", "Figure 14"} <= {one["paper"] for one in listed}
    assert "--table  models" in ptxbench("report", "--list").stdout


def test_the_help_teaches_by_example(ptxbench):
    text = " ".join(ptxbench("report", "--help").stdout.split())
    for example in ("ptxbench report --list", "--table models --format latex", "--figure fast_p --format svg --out plots"):
        assert example in text


def test_one_table_goes_to_stdout_in_the_format_asked_for(ptxbench, runs):
    assert ptxbench("report", "runs", "--table", "models").stdout.startswith("Models x workloads: correct turns\n")
    latex = ptxbench("report", "runs", "--table", "models", "--format", "latex").stdout
    assert latex.startswith("% needs \\usepackage{booktabs,graphicx}\n\\begin{table}")
    content = json.loads(ptxbench("report", "runs", "--table", "success", "--json").stdout)
    (line,) = content["tables"][0]["rows"]
    assert line["values"]["trajectories_correct"]["unrestricted"] == [0, 1, 1]
    assert line["values"]["trajectories_tagged"]["unrestricted"] == [0, 1, 1]
    rows = list(csv.DictReader(io.StringIO(ptxbench("report", "runs", "--table", "search", "--format", "csv").stdout)))
    assert [(row["turn"], row["correct"], row["qualified"]) for row in rows] == [("0", "0", "0"), ("1", "1", "0")]


def test_a_figure_goes_through_a_pipe_in_the_format_that_is_named(ptxbench, runs):
    assert ptxbench("report", "runs", "--figure", "outcomes", "--format", "svg").stdout.startswith("<svg")
    for asked in (("--format", "json"), ("--json",)):
        (figure,) = json.loads(ptxbench("report", "runs", "--figure", "outcomes", *asked).stdout)["figures"]
        assert figure["spec"]["$schema"].startswith("https://vega.github.io/schema/vega-lite/")


@pytest.mark.parametrize("asked", [(), ("--format", "svg")])
def test_a_terminal_gets_no_figure_but_what_to_do_with_one(runs, tmp_path, import_path, asked):
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "ptxbench", "report", "runs", "--figure", "outcomes", *asked]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": import_path}
    done = subprocess.run(command, cwd=tmp_path, env=env, stdout=slave, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(slave)
    shown = b""
    with suppress(OSError):  # A terminal that nobody writes to any more is an error to read.
        while piece := os.read(master, 65536):
            shown += piece
    os.close(master)
    assert done.returncode == 2 and "a terminal shows no figure" in done.stderr
    assert "--out DIR" in done.stderr and "svg, png, csv and json" in done.stderr and "> FILE" in done.stderr
    assert b"vega" not in shown and b"<svg" not in shown


def test_a_folder_gets_every_kind_in_every_format(ptxbench, runs, tmp_path):
    done = ptxbench("report", "runs", "--out", "results")
    written = {path.name for path in (tmp_path / "results").iterdir()}
    assert {f"results/{name}" for name in written} == set(done.stdout.split())
    assert {f"table-models.{end}" for end in ("md", "tex", "csv", "json")} <= written
    assert {f"figure-fast_p.{end}" for end in ("svg", "png", "csv", "json")} <= written
    assert "arms: nothing to show in these runs" in done.stderr
    assert not [name for name in written if "arms" in name]


def test_runs_are_pooled_when_asked_and_only_then(ptxbench, tmp_path):
    (tmp_path / "turns.csv").write_text(TABLE + AGAIN)
    import_published(tmp_path / "turns.csv", tmp_path / "both", turns=2)
    apart = json.loads(ptxbench("report", "both", "--table", "models", "--json").stdout)["tables"][0]
    assert [line["values"]["model"] for line in apart["rows"]] == ["M (r1)", "M (r2)"]
    pooled = json.loads(ptxbench("report", "both", "--table", "models", "--pool", "run", "--json").stdout)["tables"][0]
    (line,) = pooled["rows"]
    assert line["values"]["model"] == "M"
    assert line["values"]["gemm_n7168_k5120"]["unrestricted"] == [1 / 3, 3 / 6, 3 / 6]


def test_the_example_in_python_runs(runs, tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "paper-inventory.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example.replace("runs/hopper", "runs"), "paper-inventory.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[0] == "Models x workloads: correct turns h100 ['M']"


def test_evidence_files_give_throughput(ptxbench, tmp_path):
    content = {"command": "c", "commit": "0" * 40, "date": "2026-11-29", "machine": {"processor": "X", "cores": 2}}
    (tmp_path / "e.json").write_text(json.dumps(content | {"figures": {"evaluations_per_second": 2.5}}))
    assert "2.5" in ptxbench("report", "e.json", "--table", "throughput").stdout
    (tmp_path / "e.json").write_text("[]")
    assert "is no evidence file" in ptxbench("report", "e.json", "--table", "throughput", code=2).stderr


def test_the_evidence_that_the_inventory_names_says_something_of_throughput(ptxbench):
    page = (ROOT / "docs" / "paper-inventory.md").read_text(encoding="utf-8")
    files = re.findall(r"evidence/\w+/[\w-]+\.json", page)
    content = json.loads(ptxbench("report", *(str(ROOT / file) for file in files), "--table", "throughput", "--json").stdout)
    rows = [line["values"]["benchmark"] for table in content["tables"] for line in table["rows"]]
    assert {Path(file).stem for file in files} == set(rows)


def test_what_needs_no_run_is_shown_without_one(ptxbench):
    assert "Gemini 3.1 Pro" in ptxbench("report", "--table", "exposure").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no run to report on"),
        (("--table", "models"), "no run to report on"),
        (("nowhere", "--table", "models"), "nowhere"),
        (("runs", "--table", "model"), "did you mean models?"),
        (("runs", "--figure", "fastp"), "did you mean fast_p?"),
        (("runs", "--table", "models", "--format", "svg"), "tables have no format 'svg'"),
        (("runs", "--figure", "fast_p"), "name a folder with --out DIR (it gets svg, png, csv and json"),
        (("runs", "--figure", "fast_p", "--format", "latex"), "figures have no format 'latex'"),
        (("runs", "--figure", "fast_p", "--format", "png"), "name a folder with --out"),
        (("runs", "--table", "models", "--table", "search"), "name a folder with --out"),
        (("runs", "--format", "latex"), "latex is for --table"),
        (("runs", "--pool", "run"), "the overview pools nothing"),
        (("runs", "--table", "models", "--pool", "model"), "may not be pooled over model"),
        (("runs", "--table", "models", "--out", "turns.csv"), "turns.csv cannot be written"),
    ],
)
def test_what_cannot_be_is_refused_with_the_next_step(runs, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(application, ["report", *arguments])
    assert isinstance(done.exception, PtxbenchError)
    assert said in f"{done.exception.message} {done.exception.next_step}"
    assert done.stdout == ""


@pytest.mark.parametrize("missing", ["polars", "altair", "vl_convert"])
def test_a_missing_extra_is_one_line_with_the_command_to_install_it(ptxbench, runs, tmp_path, import_path, missing):
    without = tmp_path / "without"
    without.mkdir()
    (without / f"{missing}.py").write_text(f"raise ModuleNotFoundError('No module', name={missing!r})\n")
    done = ptxbench("report", "runs", "--figure", "outcomes", "--format", "svg", code=2, PYTHONPATH=f"{without}:{import_path}")
    assert "not installed" in done.stderr
    assert "[report]" in done.stderr
