"""Executed instructions by Nsight Compute (protocol section 6): the published rule, and the cross-check of our own counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.errors import ToolMissing
from ptxbench.core.settings import Settings
from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.launch import Tool
from ptxbench.evaluate.tools import locate
from ptxbench.evaluate.tools.ncu_report import THREADS, WARPS, UnreadableReport, join, read_report
from ptxbench.evaluate.tools.under import Start, environment, in_one_line, read_file, run_under, scratch_folder
from ptxbench.schema import KernelBuild, KernelProof, Limits, RunFailure

NO_PERMISSION = "ERR_NVGPUCTRPERM"
"""What every tool of NVIDIA's says when the driver lets only administrators read counters."""
_LOG_BYTES = 1 << 20


@dataclass(frozen=True)
class Executed:
    """What one call of a candidate executed.

    Attributes:
        kernels: executed counts per kernel, by mangled name; of the measured call alone.
        why: what stood in the way when nothing was counted, None when it was counted.
        permission: whether that was the right to read counters.
        mixed: opcodes, with their kernels, whose count may hold bookkeeping that multiplies nothing (``ncu_report.join``).
    """

    kernels: tuple[KernelProof, ...] = ()
    why: str | None = None
    permission: bool = False
    mixed: tuple[str, ...] = ()


def count(start: Start, kernels: Sequence[KernelBuild], limits: Limits, settings: Settings | None = None) -> Executed:
    """Count the instructions that one call executes, under ncu, within ``limits.prove_s``; ``kernels`` are the build's.

    A tool that is missing, may not read counters, takes too long or counts nothing gives ``why``, and no counts.
    """
    chosen = settings or Settings()
    try:
        program, folders = locate.ncu(chosen), locate.ncu_report_folders(chosen)
    except ToolMissing as error:
        return Executed(why=in_one_line(error.message))
    with scratch_folder() as folder:
        report, log = folder / "counts.ncu-rep", folder / "log"
        more = {"NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT": "1"}
        tool = Tool(_command(program, report, log), environment(folder) | more)
        ended = run_under(tool, start, _profile, exact=False, seconds=limits.prove_s)
        said = read_log(log)
        if NO_PERMISSION in said:
            return Executed(why=f"this user may not read performance counters ({NO_PERMISSION})", permission=True)
        why = ended.why
        if why is None and ended.failure is not None:
            why = f"the candidate failed under it: {in_one_line(ended.failure.text)}"
        if why is None and ended.status != 0:
            why = f"it ended with status {ended.status}: {in_one_line(error_of(said))}"
        if why is not None:
            return Executed(why=why)
        try:
            if not report.is_file() and "No kernels were profiled" in said:
                raise UnreadableReport("the call launched no kernel")
            found = read_report(report, folders)
        except UnreadableReport as error:
            return Executed(why=in_one_line(str(error)))
    if not found:
        return Executed(why="the call launched no kernel")
    counted, mixed = join(found, kernels)
    return Executed(kernels=counted, mixed=mixed)


def _profile(child: Child, seconds: float) -> Answer | RunFailure:
    return child.profile(0, seconds)


def _command(program: Path, report: Path, log: Path) -> tuple[str, ...]:
    """Return the command that runs a process under ncu, profiling what it launches between the profiler's start and stop.

    Each kernel is replayed by itself (two passes): ncu saves and restores the memory that it writes. Clocks and caches are left
    alone, since counts depend on neither. Kernels of a CUDA graph are profiled one by one.
    """
    return (
        str(program), "--metrics", f"{WARPS},{THREADS}", "--profile-from-start", "off", "--replay-mode", "kernel",
        "--graph-profiling", "node", "--clock-control", "none", "--cache-control", "none", "--target-processes", "all",
        "--log-file", str(log), "-f", "-o", str(report),
    )  # fmt: skip


def read_log(log: Path) -> str:
    """Return what ncu itself said; nothing of the candidate's output is in that file."""
    try:
        return read_file(log, _LOG_BYTES).decode("utf-8", "replace")
    except OSError:  # it did not come as far as to say anything
        return ""


def error_of(said: str) -> str:
    """Return ncu's own errors in its log as one line."""
    lines = [line.partition("==ERROR==")[2].strip() for line in said.splitlines() if "==ERROR==" in line]
    return "; ".join(lines) or "it said nothing"
