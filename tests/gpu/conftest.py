"""What the GPU tests share: a usable device, and one judge for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions, LocalEvaluator
from ptxbench.evaluate.gpu import Gpu
from ptxbench.schema import Evaluation
from ptxbench.suite import load
from ptxbench.suite.kernels import kernel_path
from ptxbench.toolchain import Builder, read_candidate

KERNELS = Path(__file__).with_name("kernels")
SMALL = "gemm_n7168_k5120@3cc93091-119c-4488-9bfe-5c8a0cceeb3e"
"""972 rows: a ragged last tile, and a call that takes a tenth of the headline workload's."""

Judge = Callable[..., Evaluation]


@pytest.fixture(scope="session")
def judge(hopper_gpu: Gpu, settings: Settings) -> Iterator[Judge]:
    """Return a function that evaluates a kernel of this folder, or ``gemm_bf16``, on a task; the judge process is kept."""
    pytest.importorskip("torch", reason="the GPU's judge needs torch")
    loop = asyncio.new_event_loop()
    evaluator = LocalEvaluator(Builder(settings), gpus=[hopper_gpu])
    suite = load()

    def evaluate(name: str, task: str = SMALL, **options: Any) -> Evaluation:
        path = kernel_path(f"sm_90a/{name}/kernel.cu") if name == "gemm_bf16" else KERNELS / f"{name}.cu"
        candidate = read_candidate(path, arch="sm_90a")
        coroutine = evaluator.evaluate(candidate, suite.task(task, arch="sm_90a"), EvaluateOptions(**options))
        return loop.run_until_complete(coroutine)

    yield evaluate
    loop.run_until_complete(evaluator.close())
    loop.close()
