"""``ptxbench run`` without ``--out``: runs of other settings stand beside each other, and the same command goes on with its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ptxbench.agent.engine.manifest import read_manifest

COMMAND = (
    "run",
    "--task",
    "cpu_softmax_n1024",
    "--language",
    "python",
    "--model",
    "openai/m",
    "--trajectories",
    "1",
    "--turns",
    "1",
)
NAME = "openai-m-cpu_softmax_n1024-language-python-trajectories-1-turns-1"


def test_runs_of_other_settings_need_no_out_and_each_goes_on_by_its_own_command(ptxbench, endpoint, tmp_path):
    others = ((), ("--protocol", "paper"), ("--pack", "none"))
    names = [NAME, f"{NAME}-protocol-paper", f"{NAME}-pack-none"]
    for turn, expected in enumerate(("1 of them now", "0 of them now")):
        for other, name in zip(others, names, strict=True):
            done = ptxbench(*COMMAND, *other, "--base-url", endpoint.url)
            assert expected in done.stdout and done.stderr.rstrip().endswith(f"report runs/{name}"), turn
    assert len(endpoint.bodies) == 3
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted(names)


@pytest.mark.parametrize(("other", "name"), [((), "openai-m-cpu_softmax_n1024"), (("--pack", "none"), f"{NAME}-pack-none")])
def test_a_directory_that_was_named_by_model_and_task_alone_is_gone_on_with_by_its_settings(
    ptxbench, endpoint, tmp_path, other, name
):
    earlier = tmp_path / "runs" / "openai-m-cpu_softmax_n1024"
    ptxbench(*COMMAND, "--base-url", endpoint.url, "--out", str(earlier))
    before = read_manifest(earlier)
    done = ptxbench(*COMMAND, *other, "--base-url", endpoint.url)
    assert done.stderr.rstrip().endswith(f"report runs/{name}")
    assert len(endpoint.bodies) == (2 if other else 1) and read_manifest(earlier).run == before.run


def test_a_dry_run_looks_into_the_same_folder(ptxbench, endpoint):
    command = (*COMMAND, "--base-url", endpoint.url, "--seed", "4")
    ptxbench(*command)
    assert f"1 trajectory, 1 turn, 1 of them done, kept in runs/{NAME}-seed-4" in ptxbench(*command, "--dry-run").stdout


def test_a_damaged_directory_says_what_can_be_done_and_that_can_be_done(ptxbench, endpoint, tmp_path):
    endpoint.text = "```python\ndef run(X, Y):\n    Y[:] = 0\n```\n"
    command = (*COMMAND, "--base-url", endpoint.url, "--out", "r")
    ptxbench(*command)
    journal = tmp_path / "r" / "journal.jsonl"
    whole = journal.read_bytes()
    lines = len(whole.splitlines())
    journal.write_bytes(whole + b"garbage\n")
    for told in (ptxbench(*command, code=3), ptxbench("report", "r", code=3)):
        assert f":{lines + 1} is not a JSON line" in told.stderr and "remove that line and all behind it" in told.stderr
    journal.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    assert "1 of 1 turns evaluated, 1 of them now" in ptxbench(*command).stdout and len(endpoint.bodies) == 1
    (tmp_path / "r" / "store").rename(tmp_path / "elsewhere")
    lost = ptxbench("report", "r", code=3).stderr
    assert "error: r/store has lost sha256:" in lost and "next: restore the run's directory from a copy" in lost


def test_the_command_that_is_named_at_the_end_can_be_pasted_from_any_folder(endpoint, tmp_path, build_cache, import_path):
    own = tmp_path / "my tools" / "judge"
    own.parent.mkdir()
    own.write_text(f"#!{sys.executable}\nfrom ptxbench.cli import main\nmain()\n")
    own.chmod(0o755)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": import_path}
    command = [str(own), *COMMAND, "--base-url", endpoint.url, "--out", "it's one"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    see = done.stderr.splitlines()[-1].removeprefix("see: ")
    report = subprocess.run(["sh", "-c", see], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert report.returncode == 0 and "1 no_code" in report.stdout, see + report.stdout + report.stderr
