"""The debug stage: what can be said of a failure beyond that it happened. For people; it changes no verdict."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Waited
from contextlib import suppress
from pathlib import Path

from ptxbench.core.errors import DeviceMemoryFull, JudgeError
from ptxbench.core.settings import Settings
from ptxbench.evaluate.sandbox.launch import Tool
from ptxbench.evaluate.tools import sanitizer
from ptxbench.evaluate.tools.hang import SECONDS, inspect_hang
from ptxbench.evaluate.tools.under import Start, scratch_folder
from ptxbench.schema import KernelBuild, Limits, RunFailure, Sanitizer

DEVICE_FAULTS = {700, 702, 709, 710, 714, 715, 716, 717, 718, 719}
"""``CUresult`` of what a kernel did (CUDA driver API): illegal addresses and instructions, asserts, failed launches."""
HANG_SECONDS = 2.0
"""How long a call that hung once is given when it is looked at again."""
MOST_FINDINGS = 3
NOT_ATTACHED = "where it waits can be seen with --stages compare,debug, which runs it as root without a sandbox"

_CODE = re.compile(r"CUDA error (\d{1,4})\b")


def explain(
    failure: RunFailure,
    checked: Sanitizer | None,
    start: Start,
    limits: Limits,
    *,
    kernels: Sequence[KernelBuild] = (),
    settings: Settings | None = None,
    attach: bool = True,
) -> RunFailure | None:
    """Return the failure with what is known of its place, None when there is nothing to add.

    A fault of the device is looked for with memcheck: ``checked`` is its record if that stage ran, None to run it now. A call that
    timed out is made once more, in a process without a sandbox that a debugger may look into, when ``attach`` allows that.
    """
    found: str | None = None
    if failure.kind == "cuda_error" and _is_device_fault(failure.text):
        found = _findings(checked or sanitizer.memcheck(start, limits, kernels=kernels, settings=settings))
    elif failure.kind == "timeout":
        found = _hang(start, limits, settings) if attach else NOT_ATTACHED
    return None if found is None else RunFailure(kind=failure.kind, text=f"{failure.text}; {found}")


def _is_device_fault(text: str) -> bool:
    code = _CODE.search(text)
    return code is not None and int(code[1]) in DEVICE_FAULTS


def _findings(checked: Sanitizer) -> str:
    if checked.status == "findings":
        more = len(checked.findings) - MOST_FINDINGS
        texts = [one.text for one in checked.findings[:MOST_FINDINGS]] + ([f"{more} more findings"] if more > 0 else [])
        return f"{checked.tool}: " + "; ".join(texts)
    if checked.status == "clean":
        return f"{checked.tool} saw nothing wrong in a run of its own: it may depend on timing"
    return f"{checked.tool} could not look: {checked.why}"


def _hang(start: Start, limits: Limits, settings: Settings | None) -> str | None:
    """Make the call again without most of the sandbox, and look into the process while it hangs."""
    wait = min(HANG_SECONDS, limits.run_s)
    try:
        with scratch_folder() as folder, start(_unsandboxed(folder), False) as child, ThreadPoolExecutor(1) as pool:
            if isinstance(child.load(), RunFailure):
                return None
            call = pool.submit(child.call, [0], wait + SECONDS + 10.0)
            try:
                call.result(wait)
            except Waited:
                try:
                    return inspect_hang(child.pid, settings, folder)
                finally:
                    with suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)
            return f"in a run of its own the call came back within {wait:g} s: it does not hang every time"
    except (JudgeError, DeviceMemoryFull):  # what cannot be started once more has nothing to add
        return None


def _unsandboxed(folder: Path) -> Tool:
    """Return a tool that is none: it takes off what a debugger would trip over, and gives the process a TMPDIR to share."""
    return Tool((), {"TMPDIR": str(folder)})
