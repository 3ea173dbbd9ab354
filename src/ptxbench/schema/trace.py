"""``Trace``: one result in FlashInfer-Trace form; without solution and evaluation it is a stored workload."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from pydantic import model_validator

from ptxbench.schema.base import TraceRecord
from ptxbench.schema.workload import Workload


class TraceStatus(StrEnum):
    """FlashInfer-Trace's outcomes (ours are finer: see ``Outcome``)."""

    PASSED = "PASSED"
    INCORRECT_SHAPE = "INCORRECT_SHAPE"
    INCORRECT_NUMERICAL = "INCORRECT_NUMERICAL"
    INCORRECT_DTYPE = "INCORRECT_DTYPE"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    COMPILE_ERROR = "COMPILE_ERROR"
    TIMEOUT = "TIMEOUT"


class TraceCorrectness(TraceRecord):
    """Largest errors over all outputs. Infinities and NaN are written as strings."""

    max_relative_error: float
    max_absolute_error: float
    extra: dict[str, Any] | None = None


class TracePerformance(TraceRecord):
    """Latencies in milliseconds and their ratio."""

    latency_ms: float
    reference_latency_ms: float
    speedup_factor: float


class TraceEnvironment(TraceRecord):
    """Hardware name and library versions."""

    hardware: str
    libs: dict[str, str]


class TraceEvaluation(TraceRecord):
    """What an evaluation found: which parts must be there follows from the status."""

    status: TraceStatus
    environment: TraceEnvironment
    timestamp: str
    log: str = ""
    correctness: TraceCorrectness | None = None
    performance: TracePerformance | None = None

    @model_validator(mode="after")
    def _parts_fit_status(self) -> Self:
        correctness = self.status in (TraceStatus.PASSED, TraceStatus.INCORRECT_NUMERICAL)
        performance = self.status is TraceStatus.PASSED
        if correctness != (self.correctness is not None) or performance != (self.performance is not None):
            raise ValueError(f"correctness or performance does not go with status {self.status}")
        return self


class Trace(TraceRecord):
    """A workload, and how a solution did on it when both optional parts are there."""

    definition: str
    workload: Workload
    solution: str | None = None
    evaluation: TraceEvaluation | None = None

    @property
    def is_workload(self) -> bool:
        """Whether this is only a stored workload."""
        return self.solution is None and self.evaluation is None
