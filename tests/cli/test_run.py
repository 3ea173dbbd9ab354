"""``ptxbench run`` as a user calls it: real processes against a real HTTP endpoint on loopback."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ptxbench.agent.engine.ledger import EndStep, ReplyStep, TurnStep, read_steps
from ptxbench.agent.engine.manifest import read_manifest

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
"""This source tree, and whatever the tests themselves import from."""
KEY = "sk-of-the-run-test-0123456789"
PASSWORD = "password-in-the-address"
SOFTMAX = """I think so.
```python
import numpy as np

def run(X, Y):
    e = np.exp(X - X.max(axis=1, keepdims=True))
    Y[:] = e / e.sum(axis=1, keepdims=True)
```
"""
TASK = ("--task", "cpu_softmax_n1024", "--language", "python")
SMALL = ("--trajectories", "2", "--turns", "2", "--concurrency", "1")


class Endpoint:
    """Answers every request with the same text and 100 + 20 tokens, and keeps what it was asked."""

    def __init__(self):
        self.text = "I do not know."
        self.usage = {"prompt_tokens": 100, "completion_tokens": 20}
        self.bodies, self.keys = [], set()
        lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    endpoint.bodies.append(body)
                    endpoint.keys.add(self.headers["Authorization"])
                choice = {"index": 0, "message": {"role": "assistant", "content": endpoint.text}, "finish_reason": "stop"}
                data = json.dumps({"model": body["model"], "choices": [choice], "usage": endpoint.usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def endpoint():
    running = Endpoint()
    yield running
    running.stop()


@pytest.fixture
def ptxbench(tmp_path, build_cache):
    """Runs the command in an empty folder with nothing in the environment but what is given."""

    def go(*arguments, code=0, **environment):
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH}
        command = [sys.executable, "-m", "ptxbench", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=env | environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return go


def replies(folder):
    return [step for step in read_steps(folder) if isinstance(step, ReplyStep)]


def rows(folder):
    return [step.row for step in read_steps(folder) if isinstance(step, TurnStep)]


def test_a_newcomer_needs_one_command_and_no_file(ptxbench, endpoint, tmp_path):
    endpoint.text = SOFTMAX
    done = ptxbench("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, "--trajectories", "1", "--turns", "1")
    assert done.stdout.startswith("1 of 1 turns evaluated, 1 of them now")
    assert done.stderr.splitlines()[0].endswith(f": 1 turns planned at {endpoint.url}")
    assert "nothing here can run" not in done.stderr
    assert "cpu_softmax_n1024 plain-0 turn 0: correct, speedup" in done.stderr
    see = re.search(r"see: \S+ report (\S+)", done.stderr)
    assert see is not None
    assert "1 correct" in ptxbench("report", see[1]).stdout
    assert (tmp_path / see[1] / "run.json").is_file()


def test_every_option_is_sent_and_recorded(ptxbench, endpoint, tmp_path):
    sampling = (
        "--temperature",
        "0.5",
        "--top-p",
        "0.9",
        "--max-tokens",
        "77",
        "--reasoning-effort",
        "high",
        "--sampling-seed",
        "5",
    )
    ptxbench(
        *("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, *sampling, "--out", "r"),
        *("--variants", "all", "--history", "latest", "--target-speedup", "2"),
    )
    seeds = {body["seed"] for body in endpoint.bodies}
    assert len(seeds) == len(endpoint.bodies) == 4 and min(seeds) == 5
    sent = {name: endpoint.bodies[0][name] for name in ("temperature", "top_p", "max_completion_tokens", "reasoning_effort")}
    assert sent == {"temperature": 0.5, "top_p": 0.9, "max_completion_tokens": 77, "reasoning_effort": "high"}
    config = read_manifest(tmp_path / "r").config
    assert (
        config["sampling"] | {"temperature": 0.5, "top_p": 0.9, "max_tokens": 77, "reasoning_effort": "high", "seed": 5}
        == (config["sampling"])
    )
    assert (config["endpoint"], config["history"], config["target_speedup"]) == (endpoint.url, "latest", 2.0)
    assert (config["variants"], config["pack"]) == (["all"], "auto")


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--guidance", "g"), "no pack has the guidance 'g'"),
        (("--arm", "wrappers"), "no pack has the arm 'wrappers'"),
        (("--pack", "nope"), "unknown pack 'nope'"),
        (("--pack", "hopper"), "the pack hopper is for cuda on sm_90a, and cpu_softmax_n1024"),
        (("--variants", "nope"), "unknown prompt variant 'nope'"),
        (("--reasoning-effort", "Very High"), "reasoning_effort"),
        (("--base-url", "ftp://x"), "must be a URL"),
        (("--base-url", ""), "the model's address is empty"),
        (("--base-url", "http://127.0.0.1:9/v1/chat/completions"), "must end before /chat/completions"),
        (("--prices", "none.toml"), "cannot read the prices"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(ptxbench, endpoint, tmp_path, option, told):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, "--out", "r", *option)
    assert told in ptxbench(*command, code=2).stderr
    assert told in ptxbench(*command, "--dry-run", code=2).stderr, "a dry run refuses what the run would"
    assert endpoint.bodies == [] and not (tmp_path / "r").exists()


def test_without_task_or_model_the_command_says_what_is_missing(ptxbench):
    assert "--task" in ptxbench("run", "--model", "openai/m", code=2).stderr
    assert "--model" in ptxbench("run", *TASK, code=2).stderr


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


def test_where_nothing_can_run_it_is_said_before_the_first_request(ptxbench, endpoint, tmp_path):
    command = (
        "run",
        "--task",
        "gemm_n7168_k5120",
        "--backend",
        "static",
        "--model",
        "openai/m",
        "--base-url",
        endpoint.url,
        *SMALL,
    )
    told = ptxbench(*command).stderr.splitlines()
    (warning,) = [line for line in told if line.startswith("warning:")]
    assert "nothing here can run sm_90a kernels" in warning and "answers are asked and paid for" in warning
    assert told.index(warning) < next(number for number, line in enumerate(told) if "asking the model" in line)
    dry = json.loads(ptxbench(*command, "--out", "new", "--dry-run", "--json").stdout)
    assert (dry["gpu_minutes"], dry["cpu_minutes"], dry["turns"]) == (0.0, 0.0, 4)
    assert "Nothing here can run sm_90a kernels" in ptxbench(*command, "--out", "new", "--dry-run").stdout


def test_an_address_where_nobody_is_stands_in_the_report_of_the_fault(ptxbench, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    command = ("run", *TASK, "--model", "openai/m", "--base-url", f"http://127.0.0.1:{port}/v1", *SMALL)
    with subprocess.Popen(
        [sys.executable, "-m", "ptxbench", *command],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": IMPORT_PATH},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as running:
        line = next(line for line in running.stderr if "next try" in line)
        running.kill()
    assert f"cannot connect to 127.0.0.1:{port}; next try in" in line


def test_a_dry_run_for_people_says_what_is_assumed(ptxbench):
    told = ptxbench("run", *TASK, "--model", "openai/gpt-5-mini", "--dry-run").stdout
    assert "1 cell, 4 trajectories, 32 turns (0 done)" in told and "Nothing was asked" in told
    assert "5 s of judging a turn" in told and "8000 tokens an answer" in told
    assert re.search(r"cost: about \d+\.\d\d USD", told) and "prices of 2026-" in told


PRICES = '[[price]]\nmodels = ["openai/m"]\ninput = 1000.0\noutput = 5000.0\nsource = "test"\ndate = 2026-01-01\n'


@pytest.mark.parametrize(
    ("cap", "higher", "asked", "told"),
    [
        (("--max-total-tokens", "200"), ("--max-total-tokens", "9999"), 2, "cap of 200 tokens is reached (240 used)"),
        (("--max-cost", "0.5"), ("--max-cost", "9"), 3, "cap of 0.5 USD is reached (0.6000 spent)"),
        (("--max-turns-now", "3"), (), 3, "cap of 3 turns for this call is reached"),
    ],
)
def test_a_cap_stops_cleanly_and_a_higher_one_goes_on(ptxbench, endpoint, tmp_path, cap, higher, asked, told):
    (tmp_path / "prices.toml").write_text(PRICES)
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--out", "r", "--prices", "prices.toml")
    stopped = ptxbench(*command, *cap, code=4)
    assert told in stopped.stdout and "a higher cap goes on" in stopped.stdout
    assert len(endpoint.bodies) == len(replies(tmp_path / "r")) == len(rows(tmp_path / "r")) == asked
    if higher:
        assert told in ptxbench(*command, *cap, code=4).stdout, "what earlier calls used counts"
        assert len(endpoint.bodies) == asked
    summary = json.loads(ptxbench(*command, *higher, "--json").stdout)
    assert (summary["evaluated_turns"], summary["new_turns"], summary["paused"]) == (4, 4 - asked, 0)
    assert len(endpoint.bodies) == 4
    assert summary["cost_usd"] == pytest.approx(4 * 0.2) and rows(tmp_path / "r")[0].cost_usd == pytest.approx(0.2)


def test_a_run_keeps_the_price_that_it_began_with(ptxbench, endpoint, tmp_path):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--prices", "prices.toml", "--json")
    (tmp_path / "prices.toml").write_text(PRICES)
    ptxbench(*command, "--max-turns-now", "1", code=4)
    (tmp_path / "prices.toml").write_text(PRICES.replace("1000.0", "9.0"))
    assert json.loads(ptxbench(*command).stdout)["cost_usd"] == pytest.approx(4 * 0.2)


def test_a_cost_cap_without_a_known_cost_warns_and_holds_after_the_first_reply(ptxbench, endpoint):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--max-cost", "5")
    done = ptxbench(*command, code=4)
    assert "price is unknown" in done.stderr and "the cost cap cannot be kept" in done.stdout
    assert len(endpoint.bodies) == 1


def test_a_cost_that_the_endpoint_names_needs_no_price(ptxbench, endpoint):
    endpoint.usage |= {"cost": 0.125}
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--json")
    assert json.loads(ptxbench(*command, "--max-cost", "5").stdout)["cost_usd"] == 0.5


def test_a_target_speedup_ends_a_trajectory_and_marks_the_run(ptxbench, endpoint, tmp_path):
    endpoint.text = SOFTMAX
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, "--trajectories", "1", "--turns", "3")
    ptxbench(*command, "--out", "r", "--target-speedup", "0.0001")
    ptxbench(*command, "--out", "r", "--target-speedup", "0.0001")
    assert len(endpoint.bodies) == 1
    (end,) = [step for step in read_steps(tmp_path / "r") if isinstance(step, EndStep)]
    assert (end.turn, end.reason) == (1, "target_speedup")
    table = ptxbench("report", "r").stdout
    assert "stops at speedup 0.0001 (not comparable)" in " ".join(table.split())
    (row,) = json.loads(ptxbench("report", "r", "--json").stdout)
    assert row["complete"] and (row["n_planned"], row["n_evaluated"]) == (1, 1)
    assert row["at"]["8"]["turns"] == 1 and row["at"]["8"]["not_reached_turns"] == 0


def test_other_versions_are_refused_and_accepting_them_is_recorded(ptxbench, endpoint, tmp_path):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--out", "r")
    ptxbench(*command, "--max-turns-now", "1", code=4)
    path = tmp_path / "r" / "run.json"
    manifest = json.loads(path.read_text())
    manifest["code"]["judge"] = "sha256:" + "0" * 64
    path.write_text(json.dumps(manifest))
    refused = ptxbench(*command, code=2)
    assert "another code.judge" in refused.stderr and "--accept-changes" in refused.stderr
    assert len(endpoint.bodies) == 1
    ptxbench(*command, "--accept-changes")
    (change,) = read_manifest(tmp_path / "r").accepted
    assert (change.field, change.was, change.turns_done) == ("code.judge", "sha256:" + "0" * 64, 1)
    assert "code.judge after turn 1 (not comparable)" in " ".join(ptxbench("report", "r").stdout.split())
    ptxbench(*command)
    assert len(read_manifest(tmp_path / "r").accepted) == 1, "an accepted change is not accepted again"


def test_no_settings_are_changed_by_accepting_versions(ptxbench, endpoint):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, "--out", "r", "--trajectories", "1")
    ptxbench(*command, "--turns", "1")
    refused = ptxbench(*command, "--turns", "2", "--accept-changes", code=2)
    assert "another config.turns" in refused.stderr


def test_neither_key_nor_password_is_written_anywhere(ptxbench, endpoint, tmp_path):
    endpoint.text = f"no code, but {KEY} and {PASSWORD}"
    address = endpoint.url.replace("http://", f"http://user:{PASSWORD}@") + "?token=another-secret-value"
    (tmp_path / "plan.toml").write_text(
        f'[sweep]\nmodels = [{{name = "openai/m", base_url = "{address}", key_variable = "MY_KEY"}}]\n'
        'tasks = ["cpu_softmax_n1024"]\n[rules]\ntrajectories = 1\nturns = 2\n'
    )
    done = ptxbench("run", "plan.toml", "--out", "r", MY_KEY=KEY, OPENAI_API_KEY="sk-another-key")
    assert len(endpoint.keys) == 1
    written = b"".join(path.read_bytes() for path in (tmp_path / "r").rglob("*") if path.is_file())
    for secret in (KEY, PASSWORD, "another-secret-value", "sk-another-key"):
        assert secret.encode() not in written and secret not in done.stdout + done.stderr
    assert endpoint.url.encode() in written, "the address without its secrets is on record"


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


def test_quiet_says_nothing_but_the_answer(ptxbench, endpoint):
    done = ptxbench("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--quiet")
    assert "4 of 4 turns evaluated" in done.stdout and "plain-0" not in done.stderr


def test_on_a_terminal_one_block_shows_the_run_and_lines_elsewhere(endpoint, tmp_path, build_cache):
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH}
    command = [sys.executable, "-m", "ptxbench", "run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL]
    master, slave = pty.openpty()
    shown = b""
    with subprocess.Popen(
        command, cwd=tmp_path, env=env | {"TERM": "xterm", "COLUMNS": "120"}, stdout=subprocess.PIPE, stderr=slave
    ) as running:
        os.close(slave)
        while select.select([master], [], [], 60)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        answer = running.stdout.read()
    os.close(master)
    assert running.returncode == 0 and answer.startswith(b"4 of 4 turns evaluated")
    last = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode()
    for told in ("4 of 4: 4 no_code", "2 finished", "0 requests, 0 evaluations", "400 in, 80 out", "cost"):
        assert told in last, last[-2000:]
    assert "asking the model" not in last
