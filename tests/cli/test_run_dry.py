"""``ptxbench run --dry-run``: what would be asked, refused where the run would refuse, and nothing asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ptxbench.agent import RunConfig
from ptxbench.agent.engine.manifest import read_manifest
from ptxbench.agent.engine.opening import opening_messages
from ptxbench.agent.engine.places import plan
from ptxbench.agent.knowledge import installed_packs, own_pack
from ptxbench.app.rehearsal import Assumptions
from ptxbench.packs import render
from ptxbench.packs.guidance import guidance_names
from ptxbench.packs.tokens import estimate
from ptxbench.schema import Language
from ptxbench.suite import load

ROOT = Path(__file__).parents[2]
GEMM = ("run", "--task", "gemm_n7168_k5120", "--backend", "static", "--model", "openai/m")
TASK = ("--task", "cpu_softmax_n1024", "--language", "python")
SMALL = ("--trajectories", "2", "--turns", "2", "--concurrency", "1")


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


def test_a_dry_run_for_people_says_what_is_assumed(ptxbench):
    told = ptxbench("run", *TASK, "--model", "openai/gpt-5-mini", "--dry-run").stdout
    assert "1 cell, 4 trajectories, 32 turns (0 done)" in told and "Nothing was asked" in told
    assert "judge: about 2.7 CPU minutes\n" in told, "a CPU task takes no minute of a GPU"
    assert "5 s of judging a turn" in told and "8000 tokens an answer" in told
    assert re.search(r"cost: about \d+\.\d\d USD", told) and "prices of 2026-" in told


def test_a_dry_run_needs_no_key_and_warns_of_what_the_run_would_be_refused_for(ptxbench, endpoint):
    command = ("run", *TASK, "--model", "openai/m")
    refused = ptxbench(*command, code=2).stderr
    told, step = refused.removeprefix("error: ").rstrip().split("\n  next: ")
    done = ptxbench(*command, "--dry-run", "--json")
    assert json.loads(done.stdout)["unreachable"] == [f"{told} ({step})"] and told == "no key for the OpenAI endpoint"
    assert done.stderr == f"warning: the run itself would be refused here: {told} ({step})\n"
    for given in ({"OPENAI_API_KEY": "sk-of-a-test"}, {"OPENAI_BASE_URL": endpoint.url}):
        assert ptxbench(*command, "--dry-run", **given).stderr == ""
    assert endpoint.bodies == []


def test_a_gpu_task_has_its_pack_in_the_prompt_and_its_tokens_are_counted(ptxbench):
    command = ("run", "--task", "gemm_n7168_k5120", "--model", "openai/m", "--dry-run")
    library = installed_packs()
    name = own_pack(library, "sm_90a", Language.CUDA)
    (cell,) = json.loads(ptxbench(*command, "--json").stdout)["cells"]
    assert (cell["pack"], cell["arm"], cell["variant"], cell["guidance"]) == (name, "contracts", "base", None)
    made = render(library, name, device=cell["device"], family="gemm")
    assert made.text.strip() in cell["prompt"]["system"]
    assert cell["prompt"]["pack"]["tokens"] == estimate(made) < cell["prompt"]["tokens"]["tokens"]
    assert f"{estimate(made)} of them the pack's" in ptxbench(*command).stdout
    (without,) = json.loads(ptxbench(*command, "--json", "--pack", "none").stdout)["cells"]
    assert (without["pack"], without["variant"], without["prompt"]["pack"]) == (None, "plain", None)
    rest = cell["prompt"]["tokens"]["tokens"] - cell["prompt"]["pack"]["tokens"]
    assert 0 <= rest - without["prompt"]["tokens"]["tokens"] < 200, "the same prompt but for the sentence that introduces the pack"


def test_every_arm_variant_and_guidance_of_a_pack_is_a_cell_of_a_plan(ptxbench, tmp_path):
    library = installed_packs()
    name = own_pack(library, "sm_90a", Language.CUDA)
    pack = library.manifest.packs[name]
    guidance = list(guidance_names(library, name))
    (tmp_path / "p.toml").write_text(
        '[sweep]\nmodels = ["openai/m"]\ntasks = ["gemm_n7168_k5120", "mha_with_lse_d128"]\n'
        f'packs = ["none", "{name}"]\narms = ["parameters", "wrappers", "contracts"]\nvariants = ["all"]\n'
        f"guidance = {json.dumps(['none', *guidance])}\n"
    )
    cells = json.loads(ptxbench("run", "p.toml", "--dry-run", "--json").stdout)["cells"]
    found = {(cell["task"], cell["pack"], cell["arm"], cell["guidance"], cell["variant"]) for cell in cells}
    wanted = {(task, None, None, None, "plain") for task in ("gemm_n7168_k5120", "mha_with_lse_d128")} | {
        (task, name, arm, one, variant)
        for task, family in (("gemm_n7168_k5120", "gemm"), ("mha_with_lse_d128", "mha_forward"))
        for arm in ("parameters", "wrappers", "contracts")
        for one in (None, *guidance)
        for variant in ("base", *pack.variants.get(family, ()))
    }
    assert found == wanted
    assert len({cell["folder"] for cell in cells}) == 2 * (1 + 3 * (1 + len(guidance)))


@pytest.mark.parametrize(("device", "name"), [("h200", "NVIDIA H200"), ("h100", "NVIDIA H100")])
def test_a_prompt_is_shown_as_on_the_device_that_is_named(ptxbench, device, name):
    dry = json.loads(ptxbench(*GEMM, "--dry-run", "--device", device, "--seconds-per-turn", "6", "--json").stdout)
    (cell,) = dry["cells"]
    config = RunConfig(tasks=("gemm_n7168_k5120",), model="openai/m")
    (planned,) = plan(config, load())
    system, user = opening_messages(config, planned, variant="base", device=device)
    assert (cell["prompt"]["system"], cell["prompt"]["user"]) == (system.content, user.content)
    assert name in user.content and name in system.content
    assert (cell["backend"], cell["device"], cell["shown_for"]) == ("static", None, device)
    assert (dry["gpu_minutes"], dry["compile_minutes"]) == (3.2, 0.0)


def test_people_are_told_which_device_a_prompt_speaks_of(ptxbench):
    told = ptxbench(*GEMM, "--dry-run").stdout
    assert "the prompt speaks of h100 (--device ID: of another one)" in told
    named = ptxbench(*GEMM, "--dry-run", "--device", "h200", "-v").stdout
    assert "the prompt speaks of h200" in named and "GPU minutes on h200" in named and "The device is an NVIDIA H200" in named
    assert "Nothing here can run" in told and "Nothing here can run" not in named


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*GEMM, "--dry-run", "--device", "h20"), "unknown device 'h20'\n  next: use one of h100, h200, b200"),
        ((*GEMM, "--dry-run", "--device", "b200"), "b200 runs sm_100a kernels, and these are asked for on sm_90a"),
        (("run", *TASK, "--model", "openai/m", "--dry-run", "--device", "h200"), "asked for on cpu\n  next: leave --device out"),
    ],
)  # fmt: skip
def test_a_device_that_cannot_be_meant_is_refused(ptxbench, endpoint, arguments, told):
    assert told in ptxbench(*arguments, code=2, OPENAI_BASE_URL=endpoint.url).stderr
    assert endpoint.bodies == []


def test_a_directory_begun_on_a_device_is_rehearsed_elsewhere_by_naming_it(ptxbench, endpoint, tmp_path):
    command = (*GEMM, "--pack", "none", "--base-url", endpoint.url, *SMALL, "--out", "r")
    ptxbench(*command, "--max-turns-now", "1", code=4)
    path = tmp_path / "r" / "run.json"
    manifest = json.loads(path.read_text())
    manifest["cells"][0]["key"]["device"] = "h200"
    path.write_text(json.dumps(manifest))
    for asked in ((), ("--device", "h100")):
        refused = ptxbench(*command, "--dry-run", *asked, code=2).stderr
        assert 'device: "h200", now ' in refused and "next: use --device h200" in refused
    assert "4 turns (1 done)" in ptxbench(*command, "--dry-run", "--device", "h200").stdout
    manifest["cells"][0]["key"]["device"] = None
    path.write_text(json.dumps(manifest))
    refused = ptxbench(*command, "--dry-run", "--device", "h200", code=2).stderr
    assert 'device: null, now "h200"' in refused and "next: leave --device out" in refused
    assert "4 turns (1 done)" in ptxbench(*command, "--dry-run").stdout


def test_what_is_only_compiled_takes_compile_minutes_by_the_evidence_that_is_named(ptxbench):
    dry = json.loads(ptxbench(*GEMM, *SMALL, "--dry-run", "--json").stdout)
    assert (dry["gpu_minutes"], dry["compile_minutes"]) == (0.0, pytest.approx(4 * Assumptions().compile_seconds / 60))
    told = ptxbench(*GEMM, *SMALL, "--dry-run").stdout
    assert "judge: about 0.0 GPU minutes, 0.2 compile minutes" in told
    evidence = re.search(r"s of compiling one that cannot run here \((\S+)\)", told)
    figures = json.loads((ROOT / evidence[1]).read_text())["figures"]
    built = [stages["build"] for stages in figures["turn"]["stages_s"]]
    assert min(built) <= dry["assumptions"]["compile_seconds"] <= max(built)
    (python,) = json.loads(ptxbench("run", *TASK, "--backend", "static", "--model", "openai/m", "--dry-run", "--json").stdout)[
        "cells"
    ]
    assert (python["judge_minutes"], python["compile_minutes"]) == (0.0, 0.0), "nothing is compiled of a Python kernel"
