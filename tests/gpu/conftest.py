"""What the GPU tests share: a usable device, and one judge for all of them."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions, LocalEvaluator
from ptxbench.evaluate.gpu import Gpu
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.launch import DeviceSetup, Program, Tool
from ptxbench.evaluate.tools.under import Start
from ptxbench.schema import Candidate, Evaluation, Language, Limits, Source, Task
from ptxbench.suite import load
from ptxbench.suite.kernels import kernel_path
from ptxbench.toolchain import Builder, BuildResult, read_candidate
from ptxbench.toolchain import locate as locate_toolchain

KERNELS = Path(__file__).with_name("kernels")
SMALL = "gemm_n7168_k5120@3cc93091-119c-4488-9bfe-5c8a0cceeb3e"
"""972 rows: a ragged last tile, and a call that takes a tenth of the headline workload's."""

FAULTS = Path(__file__).parents[1] / "evaluate" / "tools" / "recorded" / "faults.cu"
FLOATS = 1000
FAULT_LIMITS = Limits(sanitize_s=60, prove_s=60, run_s=5)

Judge = Callable[..., Evaluation]


def candidate_of(name: str) -> Candidate:
    """Read a kernel by its name: a file below ``kernels/``, our reference GEMM, or a plain kernel (``plain/…``)."""
    if name.startswith("plain/"):
        path = kernel_path(name)
    else:
        path = kernel_path(f"sm_90a/{name}/kernel.cu") if name == "gemm_bf16" else KERNELS / f"{name}.cu"
    return read_candidate(path, arch="sm_90a")


def asked(session: pytest.Session) -> Iterator[str]:
    """Yield the names of the kernels that the selected tests name in words, or by a parameter of tests of ``honest/``."""
    for item in session.items:
        if isinstance(item, pytest.Function) and "judge" in item.fixturenames:
            if item.path.name == "test_honest.py" and hasattr(item, "callspec"):
                yield f"../honest/{item.callspec.params['name']}"
            if item.path.name == "test_plain.py" and hasattr(item, "callspec"):
                yield item.callspec.params["kernel"]
            named = re.findall(r'(?:judge|check)\("([\w./]+)"', inspect.getsource(item.function))
            yield from (name for name in named if name == "gemm_bf16" or (KERNELS / f"{name}.cu").is_file())


@pytest.fixture(scope="session")
def judge(request: pytest.FixtureRequest, hopper_gpu: Gpu, settings: Settings) -> Iterator[Judge]:
    """Return a function that evaluates a kernel of this folder, or ``gemm_bf16``, on a task; the judge process is kept."""
    pytest.importorskip("torch", reason="the GPU's judge needs torch")
    loop = asyncio.new_event_loop()
    builder, suite = Builder(settings), load()
    evaluator = LocalEvaluator(builder, gpus=[hopper_gpu])
    # All at once and beforehand: compilers beside a measurement would be in the judge's clock.
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda name: builder.build(candidate_of(name)), sorted(set(asked(request.session)))))

    def evaluate(name: str, task: str | Task = SMALL, **options: Any) -> Evaluation:
        wanted = suite.task(task, arch="sm_90a") if isinstance(task, str) else task
        coroutine = evaluator.evaluate(candidate_of(name), wanted, EvaluateOptions(**options))
        return loop.run_until_complete(coroutine)

    yield evaluate
    loop.run_until_complete(evaluator.close())
    loop.close()


@pytest.fixture(scope="module")
def built(settings: Settings) -> BuildResult:
    """Return the build of the candidate ``faults.cu``, which has an entry for each fault."""
    source = Source(path="src/faults.cu", content=FAULTS.read_text(encoding="utf-8"))
    candidate = Candidate(sources=(source,), entry_point="src/faults.cu::clean", language=Language.CUDA, arch="sm_90a")
    result = Builder(settings).build(candidate)
    assert result.build.ok, result.build.diagnostics
    return result


@pytest.fixture(scope="module")
def starting(hopper_gpu: Gpu, built: BuildResult, settings: Settings) -> Callable[[str], Start]:
    """Return what starts children of one entry of the candidate ``faults.cu``, called with 1000 floats in and 1000 out."""
    torch = pytest.importorskip("torch", reason="lent memory needs torch")
    from ptxbench.evaluate.device.layout import Layout, Region, Slot
    from ptxbench.evaluate.device.lent import LentMemory

    torch.zeros(1, device="cuda")  # the context that lent memory is made in
    assert built.library is not None
    library = built.library.read_bytes()
    regions = [Region(name, "float32", (FLOATS,), buffer, 0, 4096, 4 * FLOATS, 12288) for buffer, name in enumerate("xy")]
    layout = Layout((Slot(tuple(regions[:1]), tuple(regions[1:]), {}, ("x", "y")),), (12288, 12288))
    runtime = (str(locate_toolchain(settings).cudart),)

    def of(entry: str) -> Start:
        @contextmanager
        def begin(tool: Tool | None = None, exact: bool = False) -> Iterator[Child]:
            with LentMemory(layout, 0) as memory:
                memory.write(0, {"x": torch.ones(FLOATS, device="cuda")})
                arguments = [slot.arguments() for slot in layout.slots]
                setup = DeviceSetup(hopper_gpu.uuid, memory.lent(), arguments, 0, exact, None, runtime)
                with Child(Program(Language.CUDA, entry, library), None, FAULT_LIMITS, device=setup, tool=tool) as child:
                    yield child

        return begin

    return of
