"""What all families share: published sizes, workload identifiers, and the assembly of a ``TaskSpec``."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from ptxbench.schema import (
    Definition,
    RandomInput,
    Reference,
    Sampler,
    SuiteWorkload,
    TaskSpec,
    Tolerance,
    Workload,
)
from ptxbench.suite.work import moved_bytes

GPU_ARCHS = ("sm_90a", "sm_100a")
"""Architectures of the GPU tasks, the default one first."""

NAMESPACE = uuid.UUID("5b6f2a0e-0d4b-5c57-9d55-6a3c1f6f9a10")
"""Name space of the UUIDs of ptxbench's own workloads."""

Axes = Mapping[str, int]
Share = tuple[float, float]


def own_uuid(task: str, axes: Axes) -> str:
    """Return the UUID of a workload that ptxbench defines: the same name and sizes give the same UUID everywhere."""
    sizes = ",".join(f"{axis}={size}" for axis, size in sorted(axes.items()))
    return str(uuid.uuid5(NAMESPACE, f"{task}?{sizes}"))


@cache
def published(family: str) -> Mapping[str, Mapping[str, dict[str, int]]]:
    """Return the published workloads of a family: task name to UUID to axes, in the published order."""
    text = (files("ptxbench.suite") / "published" / f"{family}.json").read_text(encoding="utf-8")
    workloads: dict[str, dict[str, dict[str, int]]] = json.loads(text)["workloads"]
    return workloads


def tensor(*shape: str, dtype: str) -> dict[str, Any]:
    """Return the JSON form of a tensor's shape and type."""
    return {"shape": list(shape), "dtype": dtype}


def const(value: int, description: str) -> dict[str, Any]:
    """Return the JSON form of an axis of fixed size."""
    return {"type": "const", "value": value, "description": description}


def var(description: str) -> dict[str, Any]:
    """Return the JSON form of an axis that each workload sizes."""
    return {"type": "var", "description": description}


def spec(
    definition: Definition,
    workloads: Mapping[str, dict[str, int]],
    *,
    family: str,
    source: Literal["published", "ptxbench"],
    default: str,
    flops: Callable[[Axes], int],
    work_share: Callable[[Axes], Share] | None,
    reference: Reference,
    tolerance: Tolerance,
    samplers: dict[str, Sampler],
    oracle: str,
    archs: tuple[str, ...] = GPU_ARCHS,
) -> TaskSpec:
    """Assemble a task. ``flops`` and ``work_share`` take all axes of a workload; ``default`` is a UUID of ``workloads``."""

    def workload(identifier: str, axes: dict[str, int]) -> SuiteWorkload:
        sizes = definition.sizes(axes)
        inputs = {name: RandomInput(type="random") for name in definition.inputs}
        return SuiteWorkload(
            workload=Workload(uuid=identifier, axes=axes, inputs=inputs),
            source=source,
            flops=flops(sizes),
            bytes=moved_bytes(definition, axes),
            work_share=work_share(sizes) if work_share else None,
        )

    made = tuple(workload(identifier, axes) for identifier, axes in workloads.items())
    headline = next(one for one in made if one.workload.uuid == default)
    return TaskSpec(
        name=definition.name,
        family=family,
        archs=archs,
        definition=definition,
        workloads=made,
        default_workload=default,
        reference=reference,
        tolerance=tolerance,
        samplers=samplers,
        work_share=headline.work_share,
        oracle=oracle,
    )


def largest(workloads: Mapping[str, Axes], *axes: str) -> str:
    """Return the UUID of the first workload whose sizes along ``axes`` are the largest."""
    return max(workloads, key=lambda identifier: tuple(workloads[identifier][axis] for axis in axes))
