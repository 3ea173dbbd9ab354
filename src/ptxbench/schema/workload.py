"""``Workload``: concrete sizes and inputs for a definition (FlashInfer-Trace)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from ptxbench.schema.base import TraceRecord


class RandomInput(TraceRecord):
    """An input drawn by the task's sampler."""

    type: Literal["random"]


class ScalarInput(TraceRecord):
    """A Python scalar argument."""

    type: Literal["scalar"]
    value: int | float | bool


class SafetensorsInput(TraceRecord):
    """An input stored in a safetensors file below the suite's root."""

    type: Literal["safetensors"]
    path: str
    tensor_key: str


WorkloadInput = Annotated[RandomInput | ScalarInput | SafetensorsInput, Field(discriminator="type")]


class Workload(TraceRecord):
    """Sizes of the var axes and one descriptor per input. ``uuid`` names the workload across tools and results."""

    uuid: str
    axes: dict[str, Annotated[StrictInt, Field(ge=0)]]
    inputs: dict[str, WorkloadInput]
