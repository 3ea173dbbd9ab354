"""What ptxbench adds to FlashInfer-Trace files: one optional sub-object named ``ptxbench``, which other readers drop."""

from __future__ import annotations

from typing import Literal

from ptxbench.schema import (
    SCHEMA_VERSION,
    Limits,
    Record,
    Reference,
    Sampler,
    SuiteWorkload,
    TaskSpec,
    Tolerance,
)
from ptxbench.schema.workload import WorkloadInput

KEY = "ptxbench"
"""Name of the sub-object in a definition, and in a workload."""


class TaskAdditions(Record):
    """What a ``TaskSpec`` has beyond its definition and workloads."""

    schema_version: int = SCHEMA_VERSION
    family: str
    archs: tuple[str, ...]
    default_workload: str
    reference: Reference
    tolerance: Tolerance
    samplers: dict[str, Sampler]
    limits: Limits
    work_share: tuple[float, float] | None
    oracle: str | None
    scale_inputs: bool

    @classmethod
    def of(cls, spec: TaskSpec) -> TaskAdditions:
        """Return the additions of a task."""
        return cls.model_validate({name: getattr(spec, name) for name in cls.model_fields if name != "schema_version"})


class WorkloadAdditions(Record):
    """What a ``SuiteWorkload`` has beyond the workload."""

    source: Literal["published", "ptxbench", "foreign"]
    flops: int | None
    bytes: int | None
    work_share: tuple[float, float] | None = None
    inputs: dict[str, WorkloadInput] | None = None
    """Descriptors of the inputs that were written as blobs for other readers, as they are in the task itself."""

    @classmethod
    def of(cls, workload: SuiteWorkload, blobs: frozenset[str] = frozenset()) -> WorkloadAdditions:
        """Return the additions of a workload whose inputs ``blobs`` are written as files."""
        kept = {name: workload.workload.inputs[name] for name in workload.workload.inputs if name in blobs}
        return cls(
            source=workload.source,
            flops=workload.flops,
            bytes=workload.bytes,
            work_share=workload.work_share,
            inputs=kept or None,
        )
