"""What the tests of the corpus share: one judge on a GPU for all cheats that run, which are built beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions, LocalEvaluator
from ptxbench.evaluate.gpu import Gpu
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
def judge(request: pytest.FixtureRequest, hopper_gpu: Gpu, settings: Settings, task: Task) -> Iterator[Judge]:
    """Return a function that evaluates a candidate; the judge's process is kept. Cheats are built beforehand."""
    pytest.importorskip("torch", reason="the GPU's judge needs torch")
    loop = asyncio.new_event_loop()
    builder = Builder(settings)
    evaluator = LocalEvaluator(builder, gpus=[hopper_gpu])

    def evaluate(candidate: Candidate, **options: Any) -> Evaluation:
        return loop.run_until_complete(evaluator.evaluate(candidate, task, EvaluateOptions(**options)))

    # All of them first: a compiler beside a measurement would be in the judge's clock.
    asked = [item for item in request.session.items if isinstance(item, pytest.Function) and item.get_closest_marker("gpu")]
    cheats = [item.callspec.params["cheat"] for item in asked if hasattr(item, "callspec") and "cheat" in item.callspec.params]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda cheat: builder.build(cheat.candidate(), task.limits), cheats))
    yield evaluate
    loop.run_until_complete(evaluator.close())
    loop.close()
