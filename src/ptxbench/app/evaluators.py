"""The evaluators of a machine, shared by all that one command runs.

Two of them on one GPU would disturb each other's latencies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from ptxbench.agent.engine.places import PlannedTask
from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions, Evaluator, choose
from ptxbench.schema import Baseline, Candidate, Device, Evaluation, Language, Task
from ptxbench.toolchain import Builder


class Lent:
    """An evaluator that is not closed by those who use it."""

    def __init__(self, inner: Evaluator) -> None:
        self._inner = inner
        self.backend = inner.backend
        device = getattr(inner, "device", None)
        self.device = device if isinstance(device, Device) else None

    async def evaluate(self, candidate: Candidate, task: Task, options: EvaluateOptions) -> Evaluation:
        """Evaluate with the evaluator that is lent."""
        return await self._inner.evaluate(candidate, task, options)

    async def baseline(self, task: Task) -> Baseline | None:
        """Measure the reference with the evaluator that is lent; None where it cannot."""
        measure = getattr(self._inner, "baseline", None)
        return None if measure is None else await measure(task)

    async def close(self) -> None:
        """Leave it to its owner."""


class Evaluators:
    """Makes one evaluator per architecture, when a task first needs it."""

    def __init__(self, backend: str | None, settings: Settings) -> None:
        self._backend = backend
        self._settings = settings
        self._builder = Builder(settings)
        self._made: dict[str, Evaluator] = {}
        self._tried: set[tuple[Language, str]] = set()
        self._trying = asyncio.Lock()

    def lend(self, task: Task) -> Evaluator:
        """Return the evaluator of a task. Raises what ``choose`` raises."""
        if task.arch not in self._made:
            self._made[task.arch] = choose(task, self._backend, self._settings, self._builder)
        return Lent(self._made[task.arch])

    async def ensure_builds(self, tasks: Iterable[PlannedTask]) -> None:
        """Compile the least kernel of each language and architecture, once. Raises what ``Builder.ensure_works`` raises."""
        async with self._trying:
            for task in tasks:
                kind = (task.language, task.task.arch)
                if kind not in self._tried:
                    await asyncio.to_thread(self._builder.ensure_works, *kind)
                    self._tried.add(kind)

    def only_compiled(self) -> tuple[str, ...]:
        """Return the architectures, of those lent so far, whose candidates are compiled here and never run."""
        return tuple(sorted(arch for arch, evaluator in self._made.items() if evaluator.backend == "static"))

    async def close(self) -> None:
        """End every judge."""
        for evaluator in self._made.values():
            await evaluator.close()
