"""Try a foreign task in a process of its own: its reference is somebody's code, and may loop or ask for all memory there is.

Run as a module it reads a task's record from standard input and writes findings, one a line, to standard output.
"""

from __future__ import annotations

import sys

from ptxbench.core.interpreter import module_command, module_environment
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.schema import TaskSpec
from ptxbench.suite.degenerate import degenerate
from ptxbench.suite.finding import Finding

LIMITS = ProcessLimits(wall_seconds=60, cpu_seconds=60, memory_bytes=8 << 30, file_bytes=1 << 20)


def tried(spec: TaskSpec, limits: ProcessLimits = LIMITS) -> list[Finding]:
    """Return what ``degenerate`` finds; a reference that ends by a limit, or ends its process, is a finding."""
    done = run_tool(
        module_command("ptxbench.suite.trial"),
        limits=limits,
        env=module_environment(OPENBLAS_NUM_THREADS="1"),
        stdin=spec.model_dump_json().encode(),
    )
    if done.ok:
        return [Finding.model_validate_json(line) for line in done.stdout.splitlines()]
    if done.timed_out:
        what = f"took longer than {limits.wall_seconds:g} s"
    else:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        what = f"ended its process with status {done.returncode}: {said[-1][:300]}"
    text = f"the reference, tried on the default workload, {what}"
    return [Finding(severity="error", code="reference", task=spec.name, workload=spec.default_workload, text=text)]


def main() -> None:
    """Serve one task."""
    spec = TaskSpec.model_validate_json(sys.stdin.buffer.read())
    # What the reference prints must not be taken for findings.
    findings, sys.stdout = sys.stdout, sys.stderr
    for finding in degenerate(spec):
        findings.write(finding.model_dump_json() + "\n")
    findings.flush()


if __name__ == "__main__":
    main()
