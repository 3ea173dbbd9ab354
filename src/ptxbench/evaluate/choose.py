"""Which evaluator a task gets on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxbench import arch as architectures
from ptxbench.core.errors import InfrastructureError, NoGpu, UsageError
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
    none.
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
    names = ", ".join(sorted({device.name for device in found.devices}))
    if backend == "gpu":
        raise InfrastructureError(
            f"this version has no GPU backend yet, though {names} is here", next_step="leave --backend out for the static verdict"
        )
    return StaticEvaluator(builder, f"this version has no GPU backend yet, though {names} is here")
