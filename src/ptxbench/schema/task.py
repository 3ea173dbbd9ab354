"""``TaskSpec``: a bundled operator with its workloads; ``Task``: one workload of it on one architecture, ready to evaluate."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import model_validator

from ptxbench.core.canonical import content_hash
from ptxbench.schema.base import Record
from ptxbench.schema.definition import Definition
from ptxbench.schema.workload import Workload


class Tolerance(Record):
    """When an output counts as right.

    ``atol`` and ``rtol`` are the published element rule (``|got - expected| <= atol + rtol * |expected|``). ``frobenius`` is the
    strict rule: an upper bound per output on ``||got - oracle|| / ||oracle||``; ``derivation`` says where it comes from.
    """

    atol: float = 1e-2
    rtol: float = 1e-2
    frobenius: dict[str, float]
    derivation: str


class Limits(Record):
    """Limits of one evaluation; the defaults belong to the protocol version, a task may change them."""

    compile_s: float = 120.0
    compile_bytes: int = 8 << 30
    load_s: float = 10.0
    sanitize_s: float = 120.0
    run_s: float = 10.0
    run_reference_multiple: float = 100.0
    prove_s: float = 60.0
    child_bytes: int = 16 << 30
    processes: int = 64
    file_bytes: int = 64 << 20
    output_bytes: int = 1 << 20


class Sampler(Record):
    """How one input is drawn.

    ``normal`` has mean 0 and standard deviation ``scale``; ``uniform`` lies on ``[-scale, scale]``; ``integers`` on
    ``[-scale, scale)``, cut to what the type holds; ``derived`` is computed from the other inputs by ``rule``.
    """

    kind: Literal["normal", "uniform", "integers", "derived"]
    scale: float = 1.0
    scaled: float = 1.0
    """What the strict profile's ``scaled`` input set multiplies the values by."""
    rule: str | None = None
    """For ``derived`` only: ``FUNCTION.OUTPUT``, such as ``attention_causal.LSE``."""

    @model_validator(mode="after")
    def _rule_fits_kind(self) -> Self:
        if (self.kind == "derived") != (self.rule is not None):
            raise ValueError("a rule belongs to a derived input, and to no other")
        return self


class Reference(Record):
    """The library that a task is measured against, and the Python module that its reference needs."""

    library: str
    needs: Literal["torch", "numpy", "flashinfer"]


class SuiteWorkload(Record):
    """A workload with where its sizes come from and the work it is: FLOPs and the fewest bytes moved."""

    workload: Workload
    source: Literal["published", "ptxbench", "foreign"]
    flops: int | None
    bytes: int | None
    work_share: tuple[float, float] | None = None
    """Range of executed over nominal matrix FLOPs that an honest kernel may have, None where it is not defined."""


class TaskSpec(Record):
    """An operator of the suite, with all its workloads."""

    name: str
    family: str
    archs: tuple[str, ...]
    definition: Definition
    workloads: tuple[SuiteWorkload, ...]
    default_workload: str
    reference: Reference
    tolerance: Tolerance
    samplers: dict[str, Sampler]
    limits: Limits = Limits()
    work_share: tuple[float, float] | None = None
    """The default workload's range (see ``SuiteWorkload``); every workload has its own."""
    oracle: str | None = None
    """Name of the float64 oracle (``ptxbench.suite.oracles``), None where the reference has to serve as one."""
    scale_inputs: bool = True
    """Whether the strict profile may draw an extra input set at another scale."""
    root: str | None = None
    """Folder of a foreign suite (for its blobs), None for bundled tasks."""

    @property
    def hash(self) -> str:
        """Content hash of all that defines the task; where its folder lies is not part of it."""
        return _hash(self)


class Task(Record):
    """One workload of a task on one architecture: everything that an evaluator must know."""

    name: str
    family: str
    arch: str
    definition: Definition
    workload: Workload
    reference: Reference
    tolerance: Tolerance
    samplers: dict[str, Sampler]
    limits: Limits
    flops: int | None
    bytes: int | None
    work_share: tuple[float, float] | None
    scale_inputs: bool
    root: str | None
    oracle: str | None = None

    @property
    def hash(self) -> str:
        """Content hash of all that defines the task; where its folder lies is not part of it."""
        return _hash(self)

    @property
    def axes(self) -> dict[str, int]:
        """Every axis's size under this workload."""
        return self.definition.sizes(self.workload.axes)


def _hash(task: TaskSpec | Task) -> str:
    content: dict[str, Any] = task.model_dump(mode="json", exclude={"root"})
    # Canonical JSON sorts keys; the order of arguments is what a kernel is called with.
    content["argument_order"] = [list(task.definition.inputs), list(task.definition.outputs)]
    return content_hash(content)
