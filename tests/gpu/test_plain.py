"""The plain CUDA kernels on a GPU: correct on every primary task, and proof of nothing.

Every attention task and the smallest GEMM on few ragged rows; and, for each kernel, a published workload, the smallest of a task.
"""

from __future__ import annotations

import pytest

from ptxbench.schema import Evaluation, Task
from ptxbench.suite import load
from ptxbench.suite.kernels import ROOTS, plain_kernel
from ptxbench.suite.work import lightest

SUITE = load()
TASKS = ["gemm_n128_k2048", *(name for name in SUITE.names if name.startswith("mha"))]
FEW = {"gemm": {"M": 93}, "mha_forward": {"B": 1, "H": 3, "S": 300}, "mha_backward": {"B": 1, "H": 3, "S": 300}}
PUBLISHED = ["gemm_n128_k2048", "mha_with_lse_d64", "mha_with_lse_d128_causal", "mha_bwd_d64", "mha_bwd_d96_causal"]

pytestmark = pytest.mark.gpu


def kernel_of(name: str) -> str:
    """Return the path of a task's plain kernel, as ``judge`` takes it."""
    path = plain_kernel(SUITE.get(name))
    assert path is not None
    return str(next(path.relative_to(root) for root in ROOTS if path.is_relative_to(root)))


def cases(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("kernel", "name"), [(kernel_of(name), name) for name in names], ids=names)


def hold(found: Evaluation) -> None:
    assert found.outcome == "correct", (found.correct.reasons, found.undecided)
    assert found.correct.paper and found.correct.strict and not found.correct.reasons
    assert found.proof is not None and found.proof.status == "absent"
    assert found.proof.compute is False and found.proof.data_movement is False


@cases(TASKS)
def test_a_plain_kernel_is_correct_on_ragged_rows_and_proves_nothing(judge, kernel, name):
    task: Task = SUITE.task(name, arch="sm_90a")
    few = task.model_copy(update={"workload": task.workload.model_copy(update={"axes": FEW[task.family]})})
    hold(judge(kernel, few, stages=("sanitize", "compare", "prove")))


@cases(PUBLISHED)
def test_a_plain_kernel_is_correct_on_a_published_workload_and_is_timed(judge, kernel, name):
    smallest = lightest(SUITE.get(name)).workload.uuid
    found = judge(kernel, f"{name}@{smallest}", stages=("compare", "time", "prove"))
    hold(found)
    assert found.latency is not None and found.latency.candidate_us and found.latency.speedup
    print(f"{name}: {found.latency.candidate_us:.1f} us, {found.latency.speedup:.3f} of {found.latency.reference.library}")
