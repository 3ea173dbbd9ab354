"""Memory safety by compute-sanitizer (protocol section 4): one call of the candidate in a process of its own, as a record.

The verdict comes from the XML report and the exit status together: findings are findings only when the tool also ended with the
status that it was told to use for them, and nothing was found only when it ended with 0 after a whole, empty report. Anything else
is ``unknown``, which never counts against a candidate.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ptxbench.core.errors import ToolMissing
from ptxbench.core.settings import Settings
from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.launch import Tool
from ptxbench.evaluate.tools import locate
from ptxbench.evaluate.tools.early import Go
from ptxbench.evaluate.tools.sanitizer_report import UnreadableReport, read_findings
from ptxbench.evaluate.tools.under import Ended, Start, environment, in_one_line, run_under, scratch_folder
from ptxbench.schema import Checker, KernelBuild, Limits, RunFailure, Sanitizer, SanitizerFinding, Task

ERROR_STATUS = 86
"""Exit status of the tool when it found something; the candidate's process has no say in it then."""
PADDING = 4096
"""Bytes behind each allocation that belong to none: large tensors would lie wall to wall, and an access past one be another's."""
OF_ITS_OWN: Mapping[Checker, tuple[str, ...]] = {
    "memcheck": ("--report-api-errors", "no", "--leak-check", "no", "--padding", str(PADDING)),
    "racecheck": ("--racecheck-detect-level", "error"),
}
"""Options of one checker. Races within a warp are warnings of racecheck's, and no findings."""
PRINT_LIMIT = 200
"""Records that a report holds. Each costs a millisecond, and threads that do the same say the same."""


def memcheck(
    start: Start,
    limits: Limits,
    *,
    task: Task | None = None,
    kernels: Sequence[KernelBuild] = (),
    settings: Settings | None = None,
    go: Go | None = None,
) -> Sanitizer:
    """Check the memory accesses of one call, with tensors in allocations of exactly their sizes (see ``check``)."""
    return check("memcheck", start, limits, task=task, kernels=kernels, settings=settings, go=go)


def check(
    checker: Checker,
    start: Start,
    limits: Limits,
    *,
    task: Task | None = None,
    kernels: Sequence[KernelBuild] = (),
    settings: Settings | None = None,
    go: Go | None = None,
) -> Sanitizer:
    """Run one call of the candidate under a checker, within ``limits.sanitize_s``.

    ``task`` is what the call computes, for the record. ``kernels`` are the build's: the report leaves out template arguments, the
    record need not. A tool that is missing, cannot run the candidate, takes too long or contradicts itself gives ``unknown`` with
    ``why``.

    With ``go`` the process starts early and waits there before it loads the candidate. Then ``Abandoned`` comes from there, and
    ``NotStarted`` where the process did not start.
    """
    started = time.monotonic()
    waits: list[float] = []

    def wait() -> float:
        assert go is not None
        waits.append(go())
        return waits[-1]

    found = _run(checker, start, limits, kernels, settings or Settings(), None if go is None else wait)
    workload = {} if task is None else {"workload": task.workload.uuid, "axes": task.axes}
    taken = {"limit_s": limits.sanitize_s, "seconds": time.monotonic() - started - sum(waits)}
    return found.model_copy(update=workload | taken)


def _run(
    checker: Checker, start: Start, limits: Limits, kernels: Sequence[KernelBuild], settings: Settings, go: Go | None
) -> Sanitizer:
    try:
        program = locate.compute_sanitizer(settings)
    except ToolMissing as error:
        return _unknown(checker, in_one_line(error.message))
    with scratch_folder() as folder:
        report, log = folder / "report.xml", folder / "log"
        tool = Tool(_command(program, checker, report, log), environment(folder), poisoned=checker != "initcheck")
        ended = run_under(tool, start, _call, exact=True, seconds=limits.sanitize_s, go=go)
        if ended.why is not None:
            return _unknown(checker, ended.why)
        try:
            findings = read_findings(report, log, kernels, PRINT_LIMIT, checker=checker, tensors=ended.tensors)
        except UnreadableReport as error:
            return _unknown(checker, _with_failure(in_one_line(str(error)), ended))
    return _decide(checker, ended, findings)


def _call(child: Child, seconds: float) -> Answer | RunFailure:
    return child.call([0], seconds)


def _command(program: Path, checker: Checker, report: Path, log: Path) -> tuple[str, ...]:
    """Return the command that runs a process under a checker.

    Errors of CUDA calls are not reported: a candidate may ask for what it does not get and go on. Names stay mangled and paths
    whole, because the build made them relative already; host stacks would name files of this machine. Text goes to a file, or what
    the candidate prints could pass for the tool's.
    """
    return (
        str(program), "--tool", checker, *OF_ITS_OWN.get(checker, ()),
        "--xml", "--save", str(report), "--log-file", str(log),
        "--error-exitcode", str(ERROR_STATUS), "--print-limit", str(PRINT_LIMIT),
        "--show-backtrace", "device", "--demangle", "no", "--strip-paths", "no",
        "--launch-timeout", "60", "--kill", "--target-processes", "all",
    )  # fmt: skip


def _decide(checker: Checker, ended: Ended, findings: tuple[SanitizerFinding, ...]) -> Sanitizer:
    if findings and ended.status == ERROR_STATUS:
        return Sanitizer(tool=checker, status="findings", findings=findings)
    if not findings and ended.status == 0 and ended.failure is None:
        return Sanitizer(tool=checker, status="clean", findings=())
    if findings:
        return _unknown(checker, f"its report has findings and its exit status is {ended.status}")
    if ended.status == ERROR_STATUS:
        return _unknown(checker, "its exit status says that it found something, and its report does not say what")
    return _unknown(checker, _with_failure(f"it found nothing and ended with status {ended.status}", ended))


def _with_failure(why: str, ended: Ended) -> str:
    return why if ended.failure is None else f"{why}, after the candidate failed under it: {in_one_line(ended.failure.text)}"


def _unknown(checker: Checker, why: str) -> Sanitizer:
    return Sanitizer(tool=checker, status="unknown", findings=(), why=why)
