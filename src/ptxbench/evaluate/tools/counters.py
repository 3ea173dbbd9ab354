"""Counters of a correct candidate by Nsight Compute, on request: where the time of its kernels goes. They decide nothing.

Two steps. The candidate's child makes one call under ncu, which writes a report and whose words go to a log; then ncu, by itself,
prints the report's raw page, so that nothing the candidate prints stands beside it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.errors import ToolMissing
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.core.settings import Settings
from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.launch import Tool
from ptxbench.evaluate.tools import locate
from ptxbench.evaluate.tools.counters_report import metric_table, read_counters
from ptxbench.evaluate.tools.ncu import NO_PERMISSION, error_of, read_log
from ptxbench.evaluate.tools.ncu_report import MOST_BYTES, UnreadableReport
from ptxbench.evaluate.tools.under import Start, environment, in_one_line, run_under, scratch_folder
from ptxbench.schema import Counters, KernelBuild, Limits, RunFailure

PRINTING = ProcessLimits(wall_seconds=30, cpu_seconds=30, memory_bytes=8 << 30, file_bytes=1 << 20, output_bytes=32 << 20)
_METRIC = re.compile(r"[a-z0-9]+__[A-Za-z0-9_.]+")


@dataclass(frozen=True)
class Run:
    """One run under ncu: its report, or why there is none; what ncu said of metrics that it does not know."""

    report: Path
    why: str | None
    unknown: frozenset[str]


def count(start: Start, kernels: Sequence[KernelBuild], limits: Limits, settings: Settings | None = None) -> Counters:
    """Profile one call, within ``limits.prove_s`` for the runs together; ``kernels`` are the build's.

    Metrics that the installed ncu refuses are left out of a second run, and named. A tool that is missing, may not read counters,
    takes too long or counts nothing gives ``why``, and no counters.
    """
    chosen = settings or Settings()
    try:
        program = locate.ncu(chosen)
    except ToolMissing as error:
        return Counters(why=in_one_line(error.message))
    asked = metric_table().names
    deadline = time.monotonic() + limits.prove_s
    with scratch_folder() as folder:
        run = profile(program, start, asked, folder, limits.prove_s)
        metrics = tuple(name for name in asked if name not in run.unknown)
        if run.why is not None and run.unknown and metrics:
            run = profile(program, start, metrics, folder, max(1.0, deadline - time.monotonic()))
        if run.why is not None:
            return Counters(why=run.why)
        try:
            return read_counters(raw_page(program, run.report, folder), kernels, asked)
        except UnreadableReport as error:
            return Counters(why=in_one_line(str(error)))


def profile(program: Path, start: Start, metrics: Sequence[str], folder: Path, seconds: float) -> Run:
    """Profile one call for some metrics, within ``seconds``."""
    report, log = folder / "counters.ncu-rep", folder / "log"
    more = {"NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT": "1"}
    tool = Tool(_command(program, metrics, report, log), environment(folder) | more)
    ended = run_under(tool, start, _call, exact=False, seconds=seconds)
    said = read_log(log)
    complaints = [line for line in said.splitlines() if "==ERROR==" in line or "==WARNING==" in line]
    unknown = frozenset(name for line in complaints for name in _METRIC.findall(line)) & frozenset(metrics)
    why = ended.why
    if NO_PERMISSION in said:
        why = f"this user may not read performance counters ({NO_PERMISSION})"
    elif why is None and ended.failure is not None:
        why = f"the candidate failed under it: {in_one_line(ended.failure.text)}"
    elif why is None and ended.status != 0:
        why = f"it ended with status {ended.status}: {in_one_line(error_of(said))}"
    elif why is None and "No kernels were profiled" in said:
        why = "the call launched no kernel"
    return Run(report, why, unknown)


def _call(child: Child, seconds: float) -> Answer | RunFailure:
    return child.profile(0, seconds)


def _command(program: Path, metrics: Sequence[str], report: Path, log: Path) -> tuple[str, ...]:
    """Return the command that runs a process under ncu, profiling what it launches between the profiler's start and stop.

    Each kernel is replayed by itself, once for each pass that the metrics need, from an empty cache as in timing. The clock is left
    alone: shares of peaks do not depend on it, and no other work of the machine shall notice.
    """
    return (
        str(program), "--metrics", ",".join(metrics), "--profile-from-start", "off", "--replay-mode", "kernel",
        "--graph-profiling", "node", "--clock-control", "none", "--cache-control", "all", "--target-processes", "all",
        "--log-file", str(log), "-f", "-o", str(report),
    )  # fmt: skip


def raw_page(program: Path, report: Path, folder: Path) -> str:
    """Return a report's raw page as CSV. Raises ``UnreadableReport``."""
    try:
        size = report.stat().st_size
    except OSError as error:
        raise UnreadableReport(f"it wrote no report ({error.strerror})") from error
    if size > MOST_BYTES:
        raise UnreadableReport(f"its report is larger than {MOST_BYTES >> 20} MiB")
    command = (
        str(program), "--import", str(report), "--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "mangled",
    )  # fmt: skip
    done = run_tool(command, limits=PRINTING, env=environment(folder) | {"LC_ALL": "C"})
    if not done.ok:
        said = "it took too long" if done.timed_out else (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UnreadableReport(f"its report cannot be printed: {said}")
    if done.dropped_bytes:
        raise UnreadableReport("its raw page is too long")
    return done.stdout
