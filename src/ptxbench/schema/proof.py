"""``Proof``: whether the required instructions executed, and how much of the work they did."""

from __future__ import annotations

from typing import Literal

from ptxbench.schema.base import Record

ProofMethod = Literal["cupti", "ncu", "both"]
"""How executed instructions are counted."""

MutationVerdict = Literal["wrong", "right", "unknown"]
"""What the outputs are when every matrix instruction gives zero: ``wrong`` when they depend on them."""

ProofStatus = Literal["qualified", "not_executed", "absent", "unknown"]


class ExecutedCount(Record):
    """Executions of one opcode: warp-level, and threads whose predicate was true."""

    warp: int
    thread_true: int


class KernelProof(Record):
    """Executed counts of one kernel, by SASS opcode with modifiers."""

    name: str
    launches: int
    executed: dict[str, ExecutedCount]


class Proof(Record):
    """The verdict of the protocol's section 6. ``compute`` and ``data_movement`` are three-valued: None is unknown."""

    status: ProofStatus
    compute: bool | None
    data_movement: bool | None
    work_share: float | None
    method: Literal["cupti", "ncu", "both", "static"] | None
    kernels: tuple[KernelProof, ...]
    mutation: MutationVerdict | None = None
    """None where the check was not asked for, or no matrix instruction is known to have executed."""
