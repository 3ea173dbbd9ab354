"""Which evaluator a task gets, and what is said when there is none."""

from __future__ import annotations

import asyncio

import pytest

from ptxbench import arch as architectures
from ptxbench.core.errors import NoGpu, UsageError
from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions, LocalEvaluator, StaticEvaluator, choose
from ptxbench.evaluate.gpu import visible_gpus
from ptxbench.evaluate.static import static_proof
from ptxbench.schema import Blame, Build, Candidate, KernelBuild, Language, Outcome, Source, ToolchainVersions
from ptxbench.suite import Suite
from ptxbench.suite.kernels import kernel_path
from ptxbench.toolchain import Builder, read_candidate

GPU_TASK = "gemm_n7168_k5120"
CPU_TASK = "cpu_softmax_n1024"

no_gpu = pytest.mark.skipif(bool(visible_gpus().devices), reason="this machine has a GPU")


def census(*opcodes: str) -> Build:
    kernel = KernelBuild(
        name="k", mangled="k", registers=1, spill_bytes=0, stack_bytes=0, shared_bytes=0, opcodes=dict.fromkeys(opcodes, 1)
    )
    versions = ToolchainVersions(nvcc=None, ptxas=None, host_compiler=None, nvdisasm=None, tvm_ffi=None)
    return Build(
        ok=True, cached=False, seconds=0, arch="sm_90a", header=None, diagnostics=(), warnings=(), kernels=(kernel,), artifacts={},
        toolchain=versions, key="k",
    )  # fmt: skip


def test_cpu_task_runs_here(suite: Suite, settings: Settings) -> None:
    for backend in (None, "cpu"):
        evaluator = choose(suite.task(CPU_TASK), backend, settings, Builder(settings))
        assert isinstance(evaluator, LocalEvaluator)
        asyncio.run(evaluator.close())


@no_gpu
def test_gpu_task_without_a_gpu_is_static_and_says_why(suite: Suite, settings: Settings) -> None:
    evaluator = choose(suite.task(GPU_TASK), None, settings, Builder(settings))
    assert isinstance(evaluator, StaticEvaluator)
    with pytest.raises(NoGpu) as raised:
        choose(suite.task(GPU_TASK), "gpu", settings, Builder(settings))
    assert raised.value.exit_code == 3
    assert raised.value.next_step


@pytest.mark.parametrize(("task", "backend"), [(CPU_TASK, "gpu"), (GPU_TASK, "cpu"), (GPU_TASK, "tpu")])
def test_backend_that_does_not_fit_is_wrong_usage(task: str, backend: str, suite: Suite, settings: Settings) -> None:
    with pytest.raises(UsageError):
        choose(suite.task(task), backend, settings, Builder(settings))


@pytest.mark.parametrize(
    ("arch", "opcodes", "status", "compute", "movement"),
    [
        ("sm_90a", ["HGMMA.64x256x16.F32.BF16", "UTMALDG.2D"], "unknown", None, None),
        ("sm_90a", ["HGMMA.64x256x16.F32.BF16", "LDG.E"], "unknown", None, False),
        ("sm_90a", ["UTMALDG.2D", "FFMA"], "unknown", False, None),
        ("sm_90a", ["FFMA", "UTMAPF.2D", "UBLKCP"], "absent", False, False),
        ("sm_100a", ["UTCHMMA", "FFMA"], "absent", False, False),
        ("sm_100a", ["UTCHMMA", "LDTM.x32"], "unknown", None, False),
    ],
)
def test_binary_alone_proves_absence_and_nothing_more(
    arch: str, opcodes: list[str], status: str, compute: bool | None, movement: bool | None
) -> None:
    proof = static_proof(census(*opcodes), architectures.get(arch))
    assert proof is not None
    assert (proof.status, proof.compute, proof.data_movement, proof.method) == (status, compute, movement, "static")
    assert (proof.work_share, proof.kernels) == (None, ())


def test_static_evaluation_compiles_counts_and_leaves_the_rest_open(suite: Suite, settings: Settings) -> None:
    evaluator = StaticEvaluator(Builder(settings), "no GPU on this machine: none")
    candidate = read_candidate(kernel_path("sm_90a/gemm_bf16/kernel.cu"), arch="sm_90a")
    result = asyncio.run(evaluator.evaluate(candidate, suite.task(GPU_TASK), EvaluateOptions()))
    assert (result.backend, result.outcome, result.blame) == ("static", None, None), result.correct.reasons
    assert result.undecided == "no GPU on this machine: none"
    assert (result.correct.paper, result.correct.strict) == (None, None)
    assert result.device is None and result.correctness is None and result.latency is None
    assert result.proof is not None and (result.proof.status, result.proof.compute) == ("unknown", None)
    assert result.build is not None and any(opcode.startswith("HGMMA") for one in result.build.kernels for opcode in one.opcodes)


def test_static_evaluation_of_what_does_not_compile_is_decided(suite: Suite, settings: Settings) -> None:
    source = Source(path="kernel.cu", content="__global__ void k() { nothing; }\n")
    candidate = Candidate(sources=(source,), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a")
    evaluator = StaticEvaluator(Builder(settings), "no GPU")
    result = asyncio.run(evaluator.evaluate(candidate, suite.task(GPU_TASK), EvaluateOptions()))
    assert (result.outcome, result.blame, result.undecided) == (Outcome.COMPILE_ERROR, Blame.CANDIDATE, None)
    assert result.proof is None
