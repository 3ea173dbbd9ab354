"""Compilations that a limit ended: time, memory, file size."""

from __future__ import annotations

import re
import signal

from ptxbench.core.process import Completed
from ptxbench.schema import Diagnostic, Limits

_MEMORY = re.compile(
    r"^\S*cc1plus: out of memory|virtual memory exhausted|^terminate called after .*std::bad_alloc|^LLVM ERROR: out of memory"
    r"|memory exhausted$|: Cannot allocate memory$|^Out of memory"
    r"|: failed to map segment from"
)
_FRONT_MEMORY = re.compile(r"^[^\n]*\(\d+\): catastrophic error: out of memory$", re.MULTILINE)
"""cudafe++ and cicc say where they were; no source can make them call its own text a catastrophic error."""
_TIME = re.compile(r"died due to signal 24\b|CPU time limit exceeded")
_SIZE = re.compile(r"died due to signal 25\b|File size limit exceeded|: File too large$")
_LOCATED = re.compile(r"^[^\s:(]+(?::\d+:|\(\d+\):)")
"""A message about the candidate's own text, which may say anything."""

_TEXTS = {
    "time": "the compilation took longer than its limit of {limits.compile_s:g} s",
    "memory": "the compilation needed more memory than its limit of {limits.compile_bytes} bytes a process",
    "file_size": "the compilation wrote a file larger than a kernel can need",
    "code_size": "the machine code is too large to be disassembled and counted",
}
_SIGNALS = {signal.SIGXCPU: "time", signal.SIGXFSZ: "file_size"}
_KILLED = re.compile(r"died due to signal 9\b|Killed signal terminated program")
"""SIGKILL comes from no limit of ours while there is CPU time left: memory limits make allocations fail."""


def ended_by_limit(completed: Completed, explained: bool, limits: Limits) -> Diagnostic | None:
    """Return the record of the limit that ended a compilation, None when none did.

    ``explained`` says that the compiler reported errors of the candidate: then only the clock can have ended it.
    """
    if completed.timed_out:
        return limit_record("time", limits)
    if completed.ok:
        return None
    if _FRONT_MEMORY.search(completed.stderr):
        return limit_record("memory", limits)
    if explained:
        return None
    if completed.returncode < 0:
        code = _SIGNALS.get(signal.Signals(-completed.returncode))
        if code is not None:
            return limit_record(code, limits)
    for line in completed.stderr.splitlines():
        if line.startswith("#$") or _LOCATED.match(line):
            continue
        for code, pattern in (("memory", _MEMORY), ("time", _TIME), ("file_size", _SIZE)):
            if pattern.search(line):
                return limit_record(code, limits)
    return None


def killed_from_outside(completed: Completed, explained: bool) -> bool:
    """Return whether something that is no limit of ours, such as a machine out of memory, killed a compiler stage."""
    if completed.ok or completed.timed_out or explained:
        return False
    if completed.returncode == -signal.SIGKILL:
        return True
    lines = (line for line in completed.stderr.splitlines() if not line.startswith("#$") and not _LOCATED.match(line))
    return any(_KILLED.search(line) for line in lines)


def limit_record(code: str, limits: Limits) -> Diagnostic:
    """Return the record of a limit: ``time``, ``memory``, ``file_size`` or ``code_size``."""
    text = _TEXTS[code].format(limits=limits)
    return Diagnostic(severity="error", file=None, line=None, column=None, code=code, text=text, stage="limit")
