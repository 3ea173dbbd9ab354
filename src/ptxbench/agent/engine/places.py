"""The cells of a run and the trajectories in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ptxbench.agent.config import RunConfig
from ptxbench.agent.knowledge import PLAIN, Knowledge, check_conditions, installed_packs, knowledge_for
from ptxbench.agent.prompt import check_language, default_language
from ptxbench.core.errors import UsageError
from ptxbench.packs import Library
from ptxbench.schema import Language, Record, Task


class TaskSource(Protocol):
    """What a run needs of a suite."""

    @property
    def hash(self) -> str:
        """Hash over every task."""

    def task(self, selector: str, arch: str | None = None) -> Task:
        """Return the task that a selector names."""


class Place(Record):
    """One trajectory of a run. ``trajectory`` is ``VARIANT-NUMBER``, unique within its task, workload and architecture.

    A trajectory that was imported has its own ``name``, and no variant where its table names none.
    """

    task: str
    workload: str
    arch: str
    variant: str | None
    number: int
    name: str | None = None

    @property
    def trajectory(self) -> str:
        """The trajectory's name."""
        return self.name or f"{self.variant}-{self.number}"


@dataclass(frozen=True)
class PlannedTask:
    """One task of a run with its language, and what its prompts carry beside it; ``knowledge`` None: nothing."""

    task: Task
    language: Language
    knowledge: Knowledge | None = None

    @property
    def variants(self) -> tuple[str, ...]:
        """The prompt variants that the run plays."""
        return (PLAIN,) if self.knowledge is None else self.knowledge.variants

    @property
    def task_hash(self) -> str:
        """Content hash of the task, without where its files lie."""
        return self.task.hash

    def places(self, config: RunConfig) -> Iterator[Place]:
        """Yield the task's trajectories, first of every variant first."""
        for number in range(config.trajectories):
            for variant in self.variants:
                yield Place(
                    task=self.task.name, workload=self.task.workload.uuid, arch=self.task.arch, variant=variant, number=number
                )


def plan(config: RunConfig, suite: TaskSource, packs: Library | None = None) -> list[PlannedTask]:
    """Return the tasks that a run works on; ``packs`` None: those that come with ptxbench.

    Raises ``UsageError`` for what does not exist or does not fit together.
    """
    if isinstance(config.arch, dict):
        strangers = sorted(set(config.arch) - set(config.tasks))
        if strangers:
            raise UsageError(f"an architecture is named for {strangers[0]!r}, which is not among the tasks")
    planned: list[PlannedTask] = []
    seen: set[tuple[str, str, str]] = set()
    for selector in config.tasks:
        task = suite.task(selector, arch=config.arch_of(selector))
        key = (task.name, task.workload.uuid, task.arch)
        if key in seen:
            raise UsageError(f"{selector} names a task and workload that another selector names too")
        seen.add(key)
        language = config.language or default_language(task.arch)
        check_language(language, task.arch)
        planned.append(PlannedTask(task, language, knowledge_for(config, task, language, packs or installed_packs())))
    check_conditions(config, [item.knowledge for item in planned])
    return planned


def trajectories_of(config: RunConfig, planned: list[PlannedTask]) -> int:
    """Return how many trajectories a run plays."""
    return sum(len(item.variants) for item in planned) * config.trajectories
