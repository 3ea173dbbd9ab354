"""What the tests of the corpus share: one judge on a GPU for all cheats that run, which are built ahead of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions, LocalEvaluator
from ptxbench.evaluate.gpu import Gpu, visible_gpus
from ptxbench.schema import Candidate, Evaluation, Task
from ptxbench.suite import load
from ptxbench.toolchain import Builder

TASK = "gemm_n7168_k5120@3cc93091-119c-4488-9bfe-5c8a0cceeb3e"
"""M = 972: a ragged last tile for every size of tile, and calls of less than a millisecond."""

Judge = Callable[..., Evaluation]


@pytest.fixture(scope="session")
def task() -> Task:
    """The task that every cheat pretends to solve."""
    return load().task(TASK, arch="sm_90a")


@pytest.fixture(scope="session")
def hopper_gpu() -> Gpu:
    """Skip, by name, where no GPU of compute capability 9.0 can be used."""
    found = visible_gpus()
    fitting = [one for one in found.devices if one.capability == (9, 0)]
    if not fitting:
        pytest.skip(found.reason or f"no GPU of compute capability 9.0 among {[one.name for one in found.devices]}")
    return fitting[0]


@pytest.fixture(scope="session")
def judge(request: pytest.FixtureRequest, hopper_gpu: Gpu, settings: Settings, task: Task) -> Iterator[Judge]:
    """Return a function that evaluates a candidate; the judge's process is kept, and the compilers run ahead of it."""
    pytest.importorskip("torch", reason="the GPU's judge needs torch")
    loop = asyncio.new_event_loop()
    builder = Builder(settings)
    evaluator = LocalEvaluator(builder, gpus=[hopper_gpu])

    def evaluate(candidate: Candidate, **options: Any) -> Evaluation:
        return loop.run_until_complete(evaluator.evaluate(candidate, task, EvaluateOptions(**options)))

    with ThreadPoolExecutor() as pool:
        for item in request.session.items:
            cheat = getattr(item, "callspec", None) and item.callspec.params.get("cheat")
            if cheat is not None and item.get_closest_marker("gpu") is not None:
                pool.submit(builder.build, cheat.candidate(), task.limits)
        yield evaluate
        pool.shutdown(cancel_futures=True)
    loop.run_until_complete(evaluator.close())
    loop.close()
