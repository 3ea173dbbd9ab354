"""``ptxbench report --html``: one file, what it says on stdout and stderr, and what it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.agent import RunConfig
from ptxbench.app.running import run_benchmark

SOURCE = str(Path(__file__).parents[2] / "src")
RIGHT = "import numpy as np\ndef run(X, Y):\n    e = np.exp(X - X.max(1, keepdims=True))\n    Y[:] = e / e.sum(1, keepdims=True)\n"


@pytest.fixture(scope="module")
def run_folder(settings, tmp_path_factory):
    """A run of two turns on a CPU task, played from a recording and judged."""
    folder = tmp_path_factory.mktemp("page")
    replies = folder / "replies.jsonl"
    answers = ["No idea.", f"```python\n{RIGHT}```\n"]
    replies.write_text("".join(json.dumps({"trajectory": None, "turn": n, "text": text}) + "\n" for n, text in enumerate(answers)))
    config = RunConfig(
        tasks=("cpu_softmax_n1024",), model=f"replay/{replies}", arch="cpu", language="python", trajectories=1, turns=2
    )
    run_benchmark(config, out=folder / "run", suite_paths=(), settings=settings, progress=lambda event: None)
    return folder / "run"


def report(*arguments):
    environment = os.environ | {"PYTHONPATH": SOURCE}
    command = [sys.executable, "-m", "ptxbench", "report", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


def test_a_page_of_a_judged_run_holds_its_source_and_names_its_file(run_folder, tmp_path):
    html = tmp_path / "results.html"
    done = report(run_folder, "--html", html)
    assert (done.returncode, done.stdout) == (0, f"{html}\n"), done.stderr
    assert "2 turns of 1 run in " in done.stderr
    text = html.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "http" not in text.replace("http://www.w3.org/2000/svg", "").replace(
        "http-equiv", ""
    )


def test_json_says_what_was_written(run_folder, tmp_path):
    html = tmp_path / "results.html"
    made = json.loads(report(run_folder, "--html", html, "--json").stdout)
    assert made["html"] == str(html) and made["size_bytes"] == html.stat().st_size
    assert (made["runs"], made["turns"], made["whole"], made["sidecar"]) == (1, 2, True, None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("{run}", "--html", "{folder}"), "is a folder"),
        (("{run}", "--sidecar", "{folder}"), "--html FILE"),
        (("{folder}", "--html", "{folder}/x.html"), "holds no run"),
        (("--html", "{folder}/x.html"), "no run"),
        (("{run}", "--html", "{run}/run.json/x.html"), "run.json"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_line(run_folder, tmp_path, arguments, told):
    done = report(*(one.format(run=run_folder, folder=tmp_path) for one in arguments))
    assert done.returncode in (2, 3) and told in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
