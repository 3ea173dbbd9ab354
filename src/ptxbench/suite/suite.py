"""``Suite``: the tasks that a command can name, and how names become tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from ptxbench import arch as architectures
from ptxbench.core.canonical import content_hash
from ptxbench.core.errors import SuiteError, UnknownTask, UsageError, nearest
from ptxbench.schema import SuiteWorkload, Task, TaskSpec
from ptxbench.suite.json_text import Problem

BUNDLED = "bundled"
"""How the bundled suite is called where a folder defines a task of the same name."""


class Suite:
    """Tasks by name. Immutable.

    Args:
        specs: the tasks; each name once.
        ambiguous: names that the bundled suite and a folder define differently, with what to say instead and where each is.
        warnings: what was odd about the folders (unknown keys, definitions without workloads), one line each.
        problems: records that could not be used; empty unless the suite was loaded to be validated.
    """

    def __init__(
        self,
        specs: Iterable[TaskSpec],
        *,
        ambiguous: Mapping[str, Mapping[str, str]] | None = None,
        warnings: Iterable[str] = (),
        problems: Iterable[Problem] = (),
    ) -> None:
        self._ambiguous = dict(ambiguous or {})
        self._specs: dict[str, TaskSpec] = {}
        for spec in specs:
            key = f"{BUNDLED}:{spec.name}" if spec.name in self._ambiguous else spec.name
            self._specs[key] = spec
        self.warnings = tuple(warnings)
        self.problems = tuple(problems)

    @property
    def names(self) -> tuple[str, ...]:
        """Names that ``get`` takes: bundled tasks first, then folders' in their order."""
        return tuple(self._specs)

    @cached_property
    def hash(self) -> str:
        """Content hash over all tasks: runs with different suites are not comparable."""
        return content_hash({name: spec.hash for name, spec in self._specs.items()})

    def get(self, name: str) -> TaskSpec:
        """Return a task by name, ``NAME`` or ``NAME@UUID``.

        Raises ``UnknownTask`` with the nearest names, and ``SuiteError`` for a name that the bundled suite and a folder define
        differently.
        """
        name = self._settled(name)
        if name in self._ambiguous:
            choices = self._ambiguous[name]
            places = " and ".join(f"{where} (as {qualified})" for qualified, where in choices.items())
            raise SuiteError(
                f"the name {name} means two different tasks: {places}",
                next_step=f"say {' or '.join(choices)}",
                choices=list(choices),
            )
        spec = self._specs.get(name)
        if spec is None and name.startswith(f"{BUNDLED}:"):
            bare = self._specs.get(name.removeprefix(f"{BUNDLED}:"))
            spec = bare if bare is not None and bare.root is None else None
        if spec is None:
            close = nearest(name, list(self._specs))
            step = f"did you mean {', '.join(close)}?" if close else "`ptxbench tasks list` prints the names"
            raise UnknownTask(f"unknown task {name!r}", next_step=step, nearest=close)
        return spec

    def task(self, name: str, arch: str | None = None) -> Task:
        """Return one workload of a task on one architecture.

        Args:
            name: ``NAME`` for the default workload, ``NAME@UUID`` for another.
            arch: architecture name, None for the task's first.

        Raises ``UnknownTask`` for an unknown name or UUID, ``UnknownArch`` for an unknown architecture, and ``UsageError`` for one
        that the task does not exist for.
        """
        spec = self.get(name)
        if arch is None:
            arch = spec.archs[0]
        if architectures.get(arch).name not in spec.archs:
            known = ", ".join(spec.archs)
            raise UsageError(
                f"{spec.name} is a task for {known}, not for {arch}", next_step=f"leave --arch out or choose from {known}"
            )
        _, at, uuid = name.partition("@")
        wanted = uuid if at else spec.default_workload
        return _task(spec, _workload(spec, wanted), arch)

    def _settled(self, name: str) -> str:
        """Return the name without ``@UUID``, qualified where it is ambiguous and the workload's UUID tells which is meant."""
        base, _, uuid = name.partition("@")
        owners = [
            qualified
            for qualified in self._ambiguous.get(base, {})
            if any(one.workload.uuid == uuid for one in self._specs[qualified].workloads)
        ]
        return owners[0] if len(owners) == 1 else base


def _workload(spec: TaskSpec, uuid: str) -> SuiteWorkload:
    for one in spec.workloads:
        if one.workload.uuid == uuid:
            return one
    known = [f"{one.workload.uuid} ({_sizes(one.workload.axes)})" for one in spec.workloads]
    shown = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
    raise UnknownTask(f"{spec.name} has no workload {uuid!r}", next_step=f"its workloads: {shown}", known=known)


def _sizes(axes: Mapping[str, int]) -> str:
    return " ".join(f"{axis}={size}" for axis, size in axes.items())


def _task(spec: TaskSpec, workload: SuiteWorkload, arch: str) -> Task:
    return Task(
        name=spec.name,
        family=spec.family,
        arch=arch,
        definition=spec.definition,
        workload=workload.workload,
        reference=spec.reference,
        tolerance=spec.tolerance,
        samplers=spec.samplers,
        limits=spec.limits,
        flops=workload.flops,
        bytes=workload.bytes,
        work_share=workload.work_share,
        scale_inputs=spec.scale_inputs,
        root=spec.root,
        oracle=spec.oracle,
    )
