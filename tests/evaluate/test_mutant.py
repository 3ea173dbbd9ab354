"""Proof by mutation: what a mutant's outputs say. Processes on the CPU stand where a GPU's would: the judgement is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ptxbench.evaluate import EvaluateOptions
from ptxbench.evaluate.judge.held import Held, hold_on_host
from ptxbench.evaluate.judge.request import Mutant
from ptxbench.evaluate.mutant import Mutated, mutant_of, run_mutant
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.launch import Program
from ptxbench.evaluate.sandbox.staging import Staging, lay_out
from ptxbench.schema import Language, Profile, Task
from ptxbench.toolchain import Builder, read_candidate

ROOT = Path(__file__).parents[2]
Run = Callable[..., Mutated]


@pytest.fixture
def run(softmax: Task, compiled: Callable[[str], Path], core: int) -> Iterator[Run]:
    """Judge a candidate of ``cheats/`` as a mutant."""
    limits = softmax.limits.model_copy(update={"run_s": 1.0})

    def judge(name: str, profile: Profile = Profile.STRICT, task: Task = softmax) -> Mutated:
        held: Held = hold_on_host(task, 0, profile)
        first = held.published(0)
        dtypes = {one: tensor.dtype for one, tensor in (softmax.definition.inputs | softmax.definition.outputs).items()}
        with Staging(lay_out(first.inputs, first.expected, dtypes, 1), 0) as staging:

            def start() -> AbstractContextManager[Child]:
                return Child(Program(Language.CPP, "run", compiled(name).read_bytes()), staging, limits, (core,))

            return run_mutant(Mutant(library=str(compiled(name))), start, staging, held, limits)

    yield judge


def test_outputs_that_become_wrong_depend_on_the_matrix_instructions(run):
    assert run("unwritten") == Mutated("wrong")
    assert run("one_nan") == Mutated("wrong")


def test_outputs_that_stay_right_do_not_and_are_flagged(run):
    found = run("honest")
    assert found.verdict == "right"
    assert found.flag is not None and found.flag.code == "mma_not_needed"


@pytest.mark.parametrize("profile", Profile)
def test_zeros_inside_of_the_element_rule_are_told_from_the_answer_by_the_norm(run, softmax, profile):
    """Long attention has such outputs: all below ``atol``. The profile without an oracle compares with the reference's norm."""
    wide = softmax.model_copy(update={"tolerance": softmax.tolerance.model_copy(update={"atol": 1.0})})
    assert run("zeros", profile, wide) == Mutated("wrong")
    assert run("honest", profile, wide).verdict == "right"


@pytest.mark.parametrize("name", ["segfault", "hang", "undefined_symbol"])
def test_a_mutant_that_fails_says_nothing(run, name):
    found = run(name)
    assert found.verdict == "unknown"
    assert found.flag is not None and found.flag.code == "mutation_unknown" and "failed" in found.flag.text


def test_without_a_library_nothing_is_started(softmax):
    def start() -> AbstractContextManager[Child]:
        raise AssertionError("a child was started")

    held = hold_on_host(softmax, 0, Profile.STRICT)
    found = run_mutant(Mutant(library=None, why="it is late"), start, None, held, softmax.limits)
    assert found.verdict == "unknown" and found.flag is not None and found.flag.text == "it is late"


def test_only_a_build_without_matrix_instructions_is_a_mutant(settings):
    builder = Builder(settings)

    def build(name, mutation):
        return mutant_of(builder.build(read_candidate(ROOT / "tests/gpu/kernels" / name, arch="sm_90a"), mutation=mutation))

    good = build("decoy_wgmma.cu", "zero_mma")
    assert good.library is not None and good.why is None
    usual = build("decoy_wgmma.cu", None)
    assert usual.library is None and usual.why is not None
    none = build("plain.cu", "zero_mma")
    assert none.library is None and none.why == "no matrix instruction was found in the PTX"


def test_the_check_is_off_unless_asked_for():
    assert EvaluateOptions().prove_by_mutation is False
