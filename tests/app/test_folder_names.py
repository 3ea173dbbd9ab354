"""A run that names no folder has one that says what it is: the same settings the same, others another."""

import re

import pytest

from ptxbench.agent import RunConfig
from ptxbench.agent.engine.manifest import FREE_SETTINGS
from ptxbench.agent.models import Sampling
from ptxbench.app.folder_names import LONGEST_NAME, default_folder
from ptxbench.schema import Language, Profile

OTHERWISE = {
    "arch": "sm_100a",
    "language": Language.PYTHON,
    "trajectories": 5,
    "turns": 3,
    "target_speedup": 1.5,
    "profile": Profile.PAPER,
    "feedback": "paper",
    "history": "latest",
    "variants": ("base", "cluster"),
    "pack": None,
    "arm": "wrappers",
    "guidance": "general",
    "profile_feedback": True,
    "seed": 7,
    "sampling": Sampling(temperature=0.5),
}
"""Every setting that a directory holds against another one, with a value that is not its default."""

SAMPLING = {
    "temperature": 0.5,
    "top_p": 0.9,
    "max_tokens": 77,
    "reasoning_effort": "high",
    "seed": 5,
    "send_reasoning": True,
    "timeout_s": 60.0,
}


def config(**changes):
    return RunConfig(**({"tasks": ("gemm_n7168_k5120",), "model": "openai/org/name"} | changes))


def test_a_run_of_the_defaults_is_named_by_model_and_task_alone():
    assert str(default_folder(config())) == "runs/openai-org-name-gemm_n7168_k5120"


def test_what_is_not_the_default_stands_in_the_name_as_its_option_is_spelled():
    found = default_folder(config(profile=Profile.PAPER, pack=None, turns=3, sampling=Sampling(temperature=1.0, seed=5)))
    assert found.name == "openai-org-name-gemm_n7168_k5120-turns-3-protocol-paper-pack-none-temperature-1-sampling_seed-5"


def test_every_setting_that_a_directory_refuses_to_change_changes_the_name():
    assert set(OTHERWISE) == set(RunConfig.model_fields) - FREE_SETTINGS - {"tasks", "model"}
    assert set(SAMPLING) == set(Sampling.model_fields)
    changed = [{name: value} for name, value in OTHERWISE.items() if name != "sampling"]
    changed += [{"sampling": Sampling(**{name: value})} for name, value in SAMPLING.items()]
    changed += [{"tasks": tasks} for tasks in (("a",), ("a", "b"), ("a", "c"), ("b", "a"))]
    changed += [{"arch": {"gemm_n7168_k5120": "sm_90a"}}, {"seed": 8}, {"variants": ("all",)}, {"variants": ("base",)}, {}]
    names = [default_folder(config(**one)).name for one in changed]
    names.append(default_folder(config(), backend="static").name)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "free", [{"concurrency": 2}, {"evaluation_attempts": 9}, {"endpoint": "http://127.0.0.1:8000/v1"}, {"plan": "p"}]
)
def test_what_may_change_from_call_to_call_is_in_no_name(free):
    assert default_folder(config(**free)) == default_folder(config())


@pytest.mark.parametrize("backend", [None, "gpu", "cpu"])
def test_the_backend_that_a_machine_takes_by_itself_is_in_no_name(backend):
    assert default_folder(config(), backend=backend) == default_folder(config())


def test_a_name_is_short_and_plain_whatever_it_is_made_of():
    strange = {"model": "openai/" + "Ab/ü:*?" * 40, "guidance": "../../x\n", "feedback": "full"}
    everything = [OTHERWISE | {"seed": seed} for seed in (7, 8)]
    found = [default_folder(config(**(one | strange))) for one in everything]
    for folder in found:
        assert folder.parent.name == "runs" and len(folder.name) <= LONGEST_NAME
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", folder.name)
    assert found[0] != found[1], "what is cut off still tells runs apart"
