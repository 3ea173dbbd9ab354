"""What an evaluation found, in one line: the first thing that is wrong, or what the compiler made."""

from __future__ import annotations

from ptxbench import arch as architectures
from ptxbench.schema import Build, Evaluation, KernelBuild

LONGEST = 160
"""Characters of a compiler's message that are shown; ptxas quotes whole instructions."""


def finding(evaluation: Evaluation) -> str:
    """Return the line that says most about an evaluation; it states nothing that the evaluation does not hold."""
    if evaluation.policy and evaluation.policy.violations:
        first = evaluation.policy.violations[0]
        return f"{first.file}:{first.line or '?'}: {first.rule}: {first.text}"
    if evaluation.build and not evaluation.build.ok:
        return _first_error(evaluation.build)
    if evaluation.debug:
        return evaluation.debug.text
    wrong = _first_mismatch(evaluation)
    if wrong:
        return wrong
    if evaluation.build and evaluation.build.kernels:
        return "; ".join(kernel_line(kernel, evaluation.arch) for kernel in evaluation.build.kernels)
    if evaluation.correctness:
        sets = evaluation.correctness.sets
        return f"right on {len(sets)} input sets of {sets[0].elements} elements" if sets else ""
    return ""


def kernel_line(kernel: KernelBuild, arch: str) -> str:
    """Return a kernel's resources and the target instructions that stand in its binary."""
    counted = architectures.get(arch).qualifying(kernel.opcodes)
    census = ", ".join(f"{opcode} {counted[opcode]}" for opcode in sorted(counted)) or "no target instruction"
    return f"{kernel.name}: {kernel.registers} registers, {kernel.spill_bytes} B spilled; in the binary: {census}"


def _first_error(build: Build) -> str:
    error = next((item for item in build.diagnostics if item.severity == "error"), None)
    if error is None:
        return ""
    place = f"{error.file}:{error.line}: " if error.file and error.line else ""
    text = error.text.splitlines()[0]
    return place + (text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …")


def _first_mismatch(evaluation: Evaluation) -> str:
    for output in evaluation.correctness.outputs if evaluation.correctness else ():
        if output.mismatches or output.unwritten:
            pattern = f": {output.pattern.text}" if output.pattern else ""
            return f"{output.name} is wrong in {output.mismatches} elements{pattern}"
    return ""
