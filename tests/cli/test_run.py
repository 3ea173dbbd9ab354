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
from pathlib import Path

import pytest

from ptxbench.agent.engine.ledger import EndStep, read_steps
from ptxbench.agent.engine.manifest import read_manifest

ROOT = Path(__file__).parents[2]
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


def test_a_newcomer_needs_one_command_and_no_file(ptxbench, endpoint, tmp_path):
    endpoint.text = SOFTMAX
    done = ptxbench("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, "--trajectories", "1", "--turns", "1")
    assert done.stdout.startswith("1 of 1 turns evaluated, 1 of them now")
    assert done.stderr.splitlines()[0].endswith(f": 1 turn planned at {endpoint.url}")
    assert "nothing here can run" not in done.stderr
    turn = [line.partition("cpu_softmax_n1024 plain-0 turn 0: ")[2] for line in done.stderr.splitlines()[1:4]]
    assert turn[0] == "asking the model" and re.fullmatch(r"answered in \S+ s, 20 tokens", turn[1]), done.stderr
    assert turn[2].startswith("correct, speedup")
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
        (("--guidance", "g"), "--guidance g chooses from a pack, and the prompts of these tasks carry none"),
        (("--arm", "wrappers"), "--arm wrappers chooses from a pack, and the prompts of these tasks carry none"),
        (("--pack", "nope"), "unknown pack 'nope'"),
        (("--pack", "hopper"), "the pack hopper is for cuda on sm_90a, and cpu_softmax_n1024"),
        (("--variants", "nope"), "unknown prompt variant 'nope'"),
        (("--reasoning-effort", "Very High"), "--reasoning-effort: must be one word of small letters, such as low"),
        (("--turns", "99999"), "--turns: Input should be less than or equal to 10000"),
        (("--top-p", "0"), "--top-p: Input should be greater than 0"),
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


@pytest.mark.parametrize("option", ["--device", "--seconds-per-turn", "--reply-tokens"])
def test_what_says_something_of_a_rehearsal_is_refused_for_a_run(ptxbench, endpoint, tmp_path, option):
    value = {"--device": "h200"}.get(option, "3")
    refused = ptxbench("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, "--out", "r", option, value, code=2)
    assert f"{option}: is for --dry-run" in refused.stderr
    assert endpoint.bodies == [] and not (tmp_path / "r").exists()


def test_a_cap_of_nothing_is_refused_by_the_name_of_its_option(ptxbench, endpoint):
    refused = ptxbench("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, "--max-cost", "0", code=2)
    assert "error: --max-cost: Input should be greater than 0" in refused.stderr and endpoint.bodies == []


def test_where_no_answer_came_none_is_said_to_be_kept(ptxbench, tmp_path):
    (tmp_path / "later.jsonl").write_text(json.dumps({"turn": 1, "text": "of another turn"}) + "\n")
    done = ptxbench("run", *TASK, "--model", "replay/later.jsonl", "--trajectories", "1", "--turns", "1", code=3)
    assert "once the fault is mended, the same command goes on from there" in done.stdout.splitlines()


def test_what_a_fault_left_incomplete_says_how_to_go_on(ptxbench, tmp_path):
    (tmp_path / "short.jsonl").write_text(json.dumps({"turn": 0, "text": "I do not know."}) + "\n")
    done = ptxbench("run", *TASK, "--model", "replay/short.jsonl", "--trajectories", "1", "--turns", "2", code=3)
    assert "all answers are kept; once the fault is mended, the same command goes on from there" in done.stdout.splitlines()


def test_without_task_or_model_the_command_says_what_is_missing(ptxbench):
    assert "--task" in ptxbench("run", "--model", "openai/m", code=2).stderr
    assert "--model" in ptxbench("run", *TASK, code=2).stderr


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


def test_turns_that_could_not_be_judged_are_counted_explained_and_exit_as_undecided(ptxbench, endpoint, tmp_path):
    endpoint.text = f"```cuda\n{(ROOT / 'tests' / 'gpu' / 'kernels' / 'plain.cu').read_text()}```\n"
    command = ("run", "--task", "gemm_n7168_k5120", "--backend", "static", "--model", "openai/m", "--base-url", endpoint.url)
    done = ptxbench(*command, "--trajectories", "1", "--turns", "1", "--out", "r", code=4)
    told = re.search(
        r"^undecided: 1 of 1 turns could not be judged here, and are neither right nor wrong: (.+)$", done.stdout, re.M
    )
    assert told is not None and "static" in told[1], done.stdout
    again = json.loads(ptxbench(*command, "--trajectories", "1", "--turns", "1", "--out", "r", "--json", code=4).stdout)
    assert (again["new_turns"], again["undecided_turns"], again["undecided_because"]) == (0, 1, told[1])


def test_a_run_ends_with_its_pace_and_its_report_shows_it(ptxbench, endpoint, tmp_path):
    endpoint.text = SOFTMAX
    done = ptxbench("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--out", "r")
    assert re.search(r"^pace: \S+ s of judging a turn, \S+ s for an answer, 20 tokens an answer$", done.stdout, re.M), done.stdout
    assert re.search(
        r"A turn: \S+ s judged, \S+ s to answer, 20 tokens in reply\.", " ".join(ptxbench("report", "r").stdout.split())
    )
    (row,) = json.loads(ptxbench("report", "r", "--format", "json").stdout)
    assert row["pace"]["reply_tokens"] == 20 and row["pace"]["judge_s"] > 0


def test_an_address_where_nobody_is_stands_in_the_report_of_the_fault(ptxbench, tmp_path, import_path):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    command = ("run", *TASK, "--model", "openai/m", "--base-url", f"http://127.0.0.1:{port}/v1", *SMALL)
    with subprocess.Popen(
        [sys.executable, "-m", "ptxbench", *command],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": import_path},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as running:
        line = next(line for line in running.stderr if "next try" in line)
        running.kill()
    assert f"cannot connect to 127.0.0.1:{port}; next try in" in line


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


def test_another_pack_is_refused_in_the_words_of_its_option(ptxbench, endpoint):
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, "--out", "r", "--trajectories", "1", "--turns", "1")
    ptxbench(*command)
    refused = ptxbench(*command, "--pack", "none", code=2).stderr
    assert "another config.pack: --pack auto there, --pack none now" in " ".join(refused.split())


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("I do not know.", "no_code (no code block)"),
        ("```python\ndef run(X, Y):\n    raise ValueError('no such thing')\n```\n", "no such thing"),
        ("```python\nraise ValueError('not even loaded')\n```\n", "not even loaded"),
    ],
)
def test_a_turns_line_says_in_a_few_words_what_went_wrong(ptxbench, endpoint, reply, told):
    endpoint.text = reply
    command = ("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, "--trajectories", "1", "--turns", "1")
    turn = [line for line in ptxbench(*command).stderr.splitlines() if " turn 0: " in line]
    (line,) = [line for line in turn if "asking" not in line and "answered" not in line]
    outcome, _, reason = line.partition(" turn 0: ")[2].partition(" ")
    assert outcome in ("no_code", "runtime_error", "load_error") and told in f"{outcome} {reason}" and len(reason) <= 102


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


def test_quiet_says_nothing_but_the_answer(ptxbench, endpoint):
    done = ptxbench("run", *TASK, "--model", "openai/m", "--base-url", endpoint.url, *SMALL, "--quiet")
    assert "4 of 4 turns evaluated" in done.stdout and done.stderr == ""


def test_on_a_terminal_one_block_shows_the_run_and_lines_elsewhere(endpoint, tmp_path, build_cache, import_path):
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": import_path}
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
