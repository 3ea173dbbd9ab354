"""What an architecture is to ptxbench: a compiler target and the SASS instructions that count as evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


def base_opcode(opcode: str) -> str:
    """Return a SASS opcode without its modifiers: ``HGMMA.64x256x16.F32.BF16`` gives ``HGMMA``."""
    return opcode.partition(".")[0]


@dataclass(frozen=True)
class Architecture:
    """One compilation target and its instruction families (protocol section 6).

    Attributes:
        name: ``sm_90a``, ``sm_100a`` or ``cpu``.
        compute: nvcc's virtual architecture, None for ``cpu``.
        mma: pattern of base opcodes that multiply matrices with the target's own unit.
        readback: pattern of base opcodes that must execute beside an MMA for the compute predicate, None where none must.
        payload: base opcodes that move tensor payload (the data-movement predicate).
        bookkeeping: base opcodes of the same families that never qualify.
        devices: ids of the device table that run it.
        mma_shape: where an MMA's opcode says its M, N and K, None where it does not.
        mma_warps: how many warps execute one MMA together.

    """

    name: str
    compute: str | None
    mma: re.Pattern[str] | None
    readback: re.Pattern[str] | None
    payload: frozenset[str]
    bookkeeping: frozenset[str]
    devices: tuple[str, ...]
    mma_shape: re.Pattern[str] | None = None
    mma_warps: int = 1

    @property
    def is_gpu(self) -> bool:
        """Whether candidates of this architecture are CUDA kernels."""
        return self.compute is not None

    @property
    def gencode(self) -> str:
        """Nvcc's ``-gencode`` value: SASS for exactly this target and no PTX for the driver to compile."""
        if self.compute is None:
            raise ValueError(f"{self.name} is not compiled by nvcc")
        return f"arch={self.compute},code={self.name}"

    def is_mma(self, opcode: str) -> bool:
        """Whether the opcode (with modifiers) multiplies matrices."""
        base = base_opcode(opcode)
        return self.mma is not None and base not in self.bookkeeping and self.mma.fullmatch(base) is not None

    def mma_flops(self, opcode: str) -> int | None:
        """Return the FLOPs of one warp's execution of an MMA opcode (``2 * M * N * K``, shared by the warps that execute it).

        None for other opcodes, and where the opcode does not say its shape.
        """
        shape = self.mma_shape.search(opcode) if self.mma_shape is not None and self.is_mma(opcode) else None
        if shape is None:
            return None
        m, n, k = map(int, shape.groups())
        return 2 * m * n * k // self.mma_warps

    def is_readback(self, opcode: str) -> bool:
        """Whether the opcode reads accumulators back from tensor memory."""
        return self.readback is not None and self.readback.fullmatch(base_opcode(opcode)) is not None

    def is_payload(self, opcode: str) -> bool:
        """Whether the opcode moves tensor payload."""
        return base_opcode(opcode) in self.payload

    def predicates(self, opcodes: Iterable[str]) -> tuple[bool, bool]:
        """Return (compute, data movement) for a set of opcodes that executed, or that stand in a binary."""
        seen = list(opcodes)
        compute = any(map(self.is_mma, seen)) and (self.readback is None or any(map(self.is_readback, seen)))
        return compute, any(map(self.is_payload, seen))

    def qualifying(self, census: Mapping[str, int]) -> dict[str, int]:
        """Return the part of a census that the two predicates look at."""
        return {op: n for op, n in census.items() if self.is_mma(op) or self.is_readback(op) or self.is_payload(op)}
