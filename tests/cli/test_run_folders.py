"""``ptxbench run`` without ``--out``: runs of other settings stand beside each other, and the same command goes on with its own."""

from __future__ import annotations

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
