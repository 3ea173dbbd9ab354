"""The debug stage: what can be said of a failure beyond that it happened. For people; it changes no verdict."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Waited
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ptxbench.core.atomic import write_atomic
from ptxbench.core.errors import DeviceMemoryFull, JudgeError
from ptxbench.core.settings import Settings
from ptxbench.evaluate.cuda_error import is_kernel_fault
from ptxbench.evaluate.tools import sanitizer
from ptxbench.evaluate.tools.core_dump import core_dump
from ptxbench.evaluate.tools.hang import SECONDS, describe, read_hang
from ptxbench.evaluate.tools.under import Start
from ptxbench.schema import KernelBuild, Limits, RunFailure, Sanitizer, StuckThreads

HANG_SECONDS = 2.0
"""How long a call that hung once is given when it is looked at again."""
MOST_FINDINGS = 3


class Hang(NamedTuple):
    """Where threads stood while a call hung, and in one line."""

    stuck: tuple[StuckThreads, ...]
    text: str


def explain(
    failure: RunFailure,
    checked: Sanitizer | None,
    start: Start,
    limits: Limits,
    *,
    kernels: Sequence[KernelBuild] = (),
    settings: Settings | None = None,
    keep: Path | None = None,
) -> RunFailure | None:
    """Return the failure with what is known of its place, None when there is nothing to add.

    A fault of the device is looked for with memcheck: ``checked`` is its record if that stage ran, None to run it now. A call that
    timed out is made once more, and while it hangs the driver writes down where its threads stand; that dump goes to ``keep``.

    Raises ``StorageError`` when it cannot be written there.
    """
    if is_kernel_fault(failure):
        found = _findings(checked or sanitizer.memcheck(start, limits, kernels=kernels, settings=settings))
        return RunFailure(kind=failure.kind, text=f"{failure.text}; {found}")
    if failure.kind == "timeout" and (hang := _hang(start, limits, settings, keep)) is not None:
        return RunFailure(kind=failure.kind, text=f"{failure.text}; {hang.text}", stuck=hang.stuck)
    return None


def _findings(checked: Sanitizer) -> str:
    if checked.status == "findings":
        more = len(checked.findings) - MOST_FINDINGS
        texts = [one.text for one in checked.findings[:MOST_FINDINGS]] + ([f"{more} more findings"] if more > 0 else [])
        return f"{checked.tool}: " + "; ".join(texts)
    if checked.status == "clean":
        return f"{checked.tool} saw nothing wrong in a run of its own: it may depend on timing"
    return f"{checked.tool} could not look: {checked.why}"


def _hang(start: Start, limits: Limits, settings: Settings | None, keep: Path | None) -> Hang | None:
    """Make the call again and take a GPU core dump while it hangs; None when nothing comes of that."""
    wait = min(HANG_SECONDS, limits.run_s)
    try:
        with core_dump() as dumping, start(dumping.tool, False) as child, ThreadPoolExecutor(1) as pool:
            if isinstance(child.load(), RunFailure):
                return None
            call = pool.submit(child.call, [0], wait + SECONDS + 10.0)
            try:
                call.result(wait)
            except Waited:
                try:
                    dump = dumping.take(child.pid, SECONDS)
                finally:
                    with suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)
            else:
                return Hang((), f"in a run of its own the call came back within {wait:g} s: it does not hang every time")
    except (JudgeError, DeviceMemoryFull):  # what cannot be started once more has nothing to add
        return None
    if dump is None:
        return None
    if keep is not None:
        write_atomic(keep, dump)
    stuck = read_hang(dump, settings)
    return Hang(stuck, describe(stuck)) if stuck else None
