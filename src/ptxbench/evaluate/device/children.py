"""The processes of one evaluation on a GPU: the candidate's own, others of the same set-up, and those under tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ptxbench.evaluate.device.lent import LentMemory
from ptxbench.evaluate.judge.request import GpuRequest
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.launch import DeviceSetup, Program, Tool
from ptxbench.evaluate.tools import sanitizer
from ptxbench.evaluate.tools.early import Early, Go
from ptxbench.evaluate.tools.under import Start
from ptxbench.schema import Limits, Sanitizer, Task

if TYPE_CHECKING:
    from ptxbench.evaluate.device.bench import GpuBench


class Children:
    """Starts processes that have the same memory lent, one slot of it under a tool.

    Args:
        bench: the device.
        gpu: the build's files.
        program: what is loaded.
        limits: of each process.
        cpus: where they may run.
        memory: what is lent.
        inputs: what a tool's process finds in its slot.

    """

    def __init__(
        self,
        bench: GpuBench,
        gpu: GpuRequest,
        program: Program,
        limits: Limits,
        cpus: tuple[int, ...],
        memory: LentMemory,
        inputs: Mapping[str, Any],
    ) -> None:
        self._bench = bench
        self._gpu = gpu
        self._program = program
        self._limits = limits
        self._cpus = cpus
        self._memory = memory
        self._inputs = inputs

    @contextmanager
    def start(self, tool: Tool | None = None, exact: bool = False, program: Program | None = None) -> Iterator[Child]:
        """Start a process of the candidate, or of another program; under a tool slot 0 is written, and nothing timed or counted."""
        if tool is not None:
            self._memory.write(0, self._inputs)
        with self._child(tool, exact, program or self._program) as child:
            yield child

    def memcheck(self, task: Task, start: Start | None = None, go: Go | None = None) -> Sanitizer:
        """Check the memory accesses of one call."""
        return sanitizer.memcheck(start or self.start, self._limits, task=task, kernels=self._gpu.kernels, go=go)

    @contextmanager
    def memcheck_early(self, task: Task) -> Iterator[Early[Sanitizer] | None]:
        """Start the checker's process now, beside the candidate's own: starting is most of what a check takes.

        It reads a slot that nobody else touches before timing. None where there is no such slot.
        """
        last = len(self._memory.layout.slots) - 1
        if last == 0:
            yield None
            return
        self._memory.write(last, self._inputs)

        def start(tool: Tool | None = None, exact: bool = False) -> Child:
            return self._child(tool, exact, self._program, slot=last)

        with Early(partial(self.memcheck, task, start)) as early:
            yield early

    def _child(self, tool: Tool | None, exact: bool, program: Program, slot: int = 0) -> Child:
        """Start a process; under a tool this slot is its only one."""
        alone = tool is not None
        slots = self._memory.layout.slots
        setup = DeviceSetup(
            uuid=self._bench.uuid,
            buffers=self._memory.lent(),
            arguments=[one.arguments() for one in (slots[slot : slot + 1] if alone else slots)],
            flush_bytes=0 if alone else self._bench.clock.flush_bytes,
            exact=exact,
            cupti=None if alone else self._bench.cupti,
            libraries=self._gpu.libraries,
            fill_shared=None if alone else self._gpu.fill_shared,
        )
        return Child(program, None, self._limits, self._cpus, device=setup, tool=tool)
