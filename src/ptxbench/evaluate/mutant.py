"""Proof by mutation (protocol section 6): the same kernel with its matrix instructions giving zero must become wrong.

What counts of instructions cannot show is whether the outputs depend on them. The mutant is the candidate's own build with every
``wgmma.mma_async`` (sm_100a: ``tcgen05.mma``) giving zero (``toolchain/zero_mma.py``). If its outputs are still right, another
part of the kernel computes them. That they become wrong proves less against a candidate that knows of this check: it can have its
instructions matter without having them work. ``work_share`` says how much work they did.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ptxbench import arch as architectures
from ptxbench.evaluate.arena import Arena
from ptxbench.evaluate.compare import judge_output
from ptxbench.evaluate.judge.held import Held
from ptxbench.evaluate.judge.request import Mutant
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.schema import Flag, Limits, RunFailure
from ptxbench.schema.proof import MutationVerdict

if TYPE_CHECKING:
    from ptxbench.toolchain import BuildResult


@dataclass(frozen=True)
class Mutated:
    """What the mutant's run says, with the flag that goes with it."""

    verdict: MutationVerdict
    flag: Flag | None = None


def mutant_of(result: BuildResult) -> Mutant:
    """Return the library of a mutated build, if that build is what it should be: not one matrix instruction is left in it."""
    if not result.build.ok or result.library is None:
        said = next((one.text for one in result.build.diagnostics if one.severity == "error"), "no library came out")
        return Mutant(library=None, why=f"the mutated build failed: {said}")
    report = result.artifact("mutation")
    rewritten: dict[str, int] = json.loads(report.read_bytes()) if report else {}
    if not rewritten:
        return Mutant(library=None, why="no matrix instruction was found in the PTX")
    arch = architectures.get(result.build.arch)
    left = sorted({opcode for kernel in result.build.kernels for opcode in kernel.opcodes if arch.is_mma(opcode)})
    if left:
        return Mutant(library=None, why=f"the mutated build still holds {', '.join(left[:3])[:200]}")
    return Mutant(library=str(result.library))


def run_mutant(
    mutant: Mutant, start: Callable[[], AbstractContextManager[Child]], arena: Arena, held: Held, limits: Limits
) -> Mutated:
    """Call the mutant once on the first published set, in a child of its own, and compare its outputs.

    Args:
        mutant: what ``start`` loads.
        start: starts a child of the mutated library.
        arena: where the child's arguments lie.
        held: the workload.
        limits: of loading and of the call.

    """
    if mutant.library is None:
        return _unknown(mutant.why or "there is no mutated library")
    against = held.published(0)
    if against.oracle is None:
        # Where all of an output is small, zeros are inside of the element rule: only the norm tells them from the answer.
        against = replace(against, oracle=against.expected)
    arena.write(0, against.inputs)
    with start() as child:
        for answer in (child.load(), child.call([0], limits.run_s)):
            if isinstance(answer, RunFailure):
                return _unknown(f"the mutated kernel failed: {answer.text}")
        outputs = arena.outputs(0)
    judged = [judge_output(held.task, name, got, against, against, held.rules) for name, got in outputs.items()]
    if not all(one.strict for one in judged):
        return Mutated("wrong")
    return Mutated("right", Flag(code="mma_not_needed", text="the outputs stay right when every matrix instruction gives zero"))


def _unknown(why: str) -> Mutated:
    return Mutated("unknown", Flag(code="mutation_unknown", text=why))
