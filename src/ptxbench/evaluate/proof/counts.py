"""Executed counts by pc become executed counts by opcode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ptxbench.evaluate.sandbox.claims import Counts, FunctionCounts
from ptxbench.schema import ExecutedCount, KernelProof

UNKNOWN_OPCODE = "?"
"""Key of what executed at a pc that the build's listing does not hold: a kernel that is not the build's own, above all."""
INSTRUCTION_BYTES = 16
"""Size of every instruction, from sm_70 on; the listing holds one opcode for each."""


def join(counts: Counts, listing: Mapping[str, Sequence[str]], launches: Mapping[str, int]) -> tuple[KernelProof, ...]:
    """Return what each kernel executed by opcode with modifiers, kernels that executed nothing and zero counts left out.

    ``listing`` is the build's artifact ``sass``: by function (mangled) the opcode of each instruction in order, so that keys are
    those of the census, bookkeeping with its prefix. ``launches`` says how often a call launches each kernel; one that is not in
    it counts as launched once. What the listing does not hold is counted under ``?``.
    """
    warps: dict[str, Counter[str]] = {}
    threads: dict[str, Counter[str]] = {}
    for function in counts.functions:
        for offset, warp, thread in function.pcs:
            opcode = _opcode(function, offset, listing)
            warps.setdefault(function.name, Counter())[opcode] += warp
            threads.setdefault(function.name, Counter())[opcode] += thread
    proofs = []
    for name, counted in warps.items():
        executed = {
            opcode: ExecutedCount(warp=warp, thread_true=threads[name][opcode])
            for opcode, warp in sorted(counted.items())
            if warp or threads[name][opcode]
        }
        if executed:
            proofs.append(KernelProof(name=name, launches=launches.get(name, 1), executed=executed))
    return tuple(proofs)


def foreign(kernels: Sequence[KernelProof]) -> tuple[str, ...]:
    """Return the names of kernels that executed something which the build does not hold."""
    return tuple(kernel.name for kernel in kernels if UNKNOWN_OPCODE in kernel.executed)


def _opcode(function: FunctionCounts, offset: int, listing: Mapping[str, Sequence[str]]) -> str:
    opcodes = listing.get(function.name, ())
    index, rest = divmod(offset, INSTRUCTION_BYTES)
    return opcodes[index] if rest == 0 and index < len(opcodes) else UNKNOWN_OPCODE
