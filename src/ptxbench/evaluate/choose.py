"""Which evaluator a task gets on this machine."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ptxbench import arch as architectures
from ptxbench.core.errors import NoGpu, ToolMissing, UsageError
from ptxbench.core.extras import how_to_install
from ptxbench.core.settings import Settings
from ptxbench.evaluate.gpu import visible_gpus
from ptxbench.evaluate.local import LocalEvaluator
from ptxbench.evaluate.options import Evaluator
from ptxbench.evaluate.static import StaticEvaluator
from ptxbench.schema import Task

if TYPE_CHECKING:
    from ptxbench.toolchain import Builder

BACKENDS = ("gpu", "cpu", "static")


def choose(task: Task, backend: str | None, settings: Settings, builder: Builder) -> Evaluator:
    """Return the evaluator for a task. ``backend`` None decides by the task and the machine.

    Raises ``UsageError`` for a backend that is unknown or does not fit the task, ``NoGpu`` when a GPU is asked for and there is
    none that runs the task's architecture, ``ToolMissing`` when the judge's own tools are not installed.
    """
    if backend is not None and backend not in BACKENDS:
        raise UsageError(f"unknown backend {backend!r}", next_step=f"choose from {', '.join(BACKENDS)}")
    if not architectures.get(task.arch).is_gpu:
        if backend == "gpu":
            raise UsageError(f"{task.name} is a CPU task", next_step="leave --backend out, or choose cpu")
        if backend == "static":
            return StaticEvaluator(builder, "the static backend runs nothing")
        return LocalEvaluator(builder, builds=settings.jobs)
    if backend == "cpu":
        raise UsageError(f"{task.name} is a GPU task", next_step="leave --backend out, or choose gpu or static")
    if backend == "static":
        return StaticEvaluator(builder, "the static backend runs nothing on a GPU")
    found = visible_gpus()
    if not found.devices:
        if backend == "gpu":
            raise NoGpu(f"no GPU can be used: {found.reason}", next_step="leave --backend out for the static verdict")
        return StaticEvaluator(builder, f"no GPU on this machine: {found.reason}")
    arch = architectures.get(task.arch)
    names = ", ".join(sorted({device.name for device in found.devices}))
    fitting = [device for device in found.devices if device.runs(arch)]
    if not fitting:
        reason = f"{task.arch} kernels do not run on this machine's GPU ({names})"
        if backend == "gpu":
            raise NoGpu(reason, next_step="leave --backend out for the static verdict, or choose another --arch")
        return StaticEvaluator(builder, reason)
    if find_spec("torch") is None:
        if backend == "gpu":
            raise ToolMissing("the GPU's judge needs torch", next_step=how_to_install("gpu"), tool="torch")
        return StaticEvaluator(builder, f"torch is not installed, which the judge needs on {names} ({how_to_install('gpu')})")
    # One kind of device: latencies of different ones are not comparable.
    return LocalEvaluator(builder, gpus=[one for one in fitting if one.name == fitting[0].name], builds=settings.jobs)
