"""Memory checkers on request, on a GPU: the workload that they run, in memory lent for them alone.

They run when the candidate's other processes are gone and what was lent to those is free again; what the judge holds stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ptxbench.core.errors import DeviceMemoryFull
from ptxbench.evaluate.checks import not_run, run_checks
from ptxbench.evaluate.device.children import Children
from ptxbench.evaluate.device.held import blaming_a_full_device
from ptxbench.evaluate.device.layout import lay_out
from ptxbench.evaluate.device.lent import LentMemory
from ptxbench.evaluate.judge.held import SEED_STRIDE, Held
from ptxbench.evaluate.judge.request import GpuRequest, Request
from ptxbench.evaluate.options import Checks
from ptxbench.evaluate.sandbox.launch import Program
from ptxbench.schema import Limits, Sanitizer, Task
from ptxbench.suite.on_device import draw_on

if TYPE_CHECKING:
    from ptxbench.evaluate.device.bench import GpuBench


class DeviceChecks:
    """The checkers of one request on one device. Raises what drawing a suite's inputs raises."""

    def __init__(self, bench: GpuBench, request: Request, gpu: GpuRequest, program: Program, limits: Limits) -> None:
        self._bench = bench
        self._request = request
        self._gpu = gpu
        self._program = program
        self._limits = limits

    def run(self, checks: Checks, held: Held, announce: Callable[[str, float], None]) -> tuple[Sanitizer, ...]:
        """Run every checker; ``held`` is the workload that was evaluated. On a device without room all are ``unknown``."""
        task = checks.task or held.task
        try:
            with blaming_a_full_device():
                inputs = self._inputs(task, held)
                with LentMemory(lay_out(task, inputs, 1), self._request.options.seed) as memory:
                    cpus = self._request.cpus
                    children = Children(self._bench, self._gpu, self._program, self._limits, cpus, memory, inputs)
                    return run_checks(checks, task, children.start, self._limits, announce, kernels=self._gpu.kernels)
        except DeviceMemoryFull as error:
            return not_run(checks, task, error.message)

    def _inputs(self, task: Task, held: Held) -> Mapping[str, Any]:
        """Return the first published set of a workload: the one that is held, or one that is drawn and not kept."""
        if task.workload.uuid == held.task.workload.uuid:
            return held.published(0).inputs
        return draw_on(task, self._request.options.seed * SEED_STRIDE, "published", self._bench.device)
