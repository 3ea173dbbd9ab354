"""Everything that a candidate's process gives up before the candidate is loaded, in two steps.

What new threads inherit comes first; then the CUDA driver may start, with threads of its own; then what binds threads that run
already and what the driver's start would not survive.

There are three kinds of sandbox: ``full``; ``tool`` for a child under a memory checker or profiler, which has to reach files and
a parent of its own; ``dump``, the full one but that the filter of system calls does not bind the threads which the driver has made
by then: one of them will start a helper that writes a core dump.
"""

from __future__ import annotations

import os
from typing import Any

from . import identity, landlock, limits, seccomp, watch
from .libc import PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, prctl

SIGKILL = 9
PARAMETERS = "/proc/driver/nvidia/params"
ALLOWED: dict[str, tuple[str, ...]] = {"full": (seccomp.HANDLERS,), "tool": (seccomp.FILE_CHANGES, seccomp.HANDLERS), "dump": ()}
"""Groups of the refused system calls that each kind of sandbox lets through. A handler runs in whatever thread a signal is sent to,
so there is none where some threads have no filter."""


class Protections:
    """The protections that this machine offers, applied; ``report`` says which ones hold."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._setup = setup
        self._device: dict[str, Any] | None = setup.get("device")
        self._sandbox: str = setup["sandbox"]
        self._confinable = landlock.abi() > 0
        # A GPU's device files are opened for writing all the time.
        refuse = not self._confinable and self._device is None
        allowed = ALLOWED[self._sandbox]
        self._filter = seccomp.program(os.uname().machine, os.getpid(), refuse_write_opens=refuse, allowed=allowed)
        self._counters = (identity.CAP_PERFMON,) if self._device is not None and counters_are_guarded() else ()
        self._kept: tuple[int, ...] = ()
        is_root = os.geteuid() == 0
        self.report: dict[str, Any] = {
            "limits": False, "no_new_privs": False, "user": None, "root": is_root, "landlock": 0, "seccomp": False,
        }  # fmt: skip

    def restrict(self) -> None:
        """Limits, another user, death with the judge, no new privileges, files. Raises ``OSError``."""
        setup, report = self._setup, self.report
        memory = limits.ADDRESSES if self._device is None else limits.DATA
        limits.apply(memory, setup["memory_bytes"], setup["file_bytes"], setup["cpu_seconds"])
        report["limits"] = True
        if setup["cpus"]:
            os.sched_setaffinity(0, setup["cpus"])
        confined = self._sandbox != "tool"
        if confined:
            self._drop()
        else:
            watch.end_with(setup["judge"])
        prctl(PR_SET_PDEATHSIG, SIGKILL)
        if confined and os.getppid() != setup["judge"]:
            os._exit(0)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        report["no_new_privs"] = True
        if not confined:
            return
        if self._device is None:
            self._confine()
        elif self._kept:
            # The driver's threads come before Landlock and are never confined: they must not read what only root may.
            identity.keep_only(self._kept, asleep=(identity.CAP_DAC_READ_SEARCH,))

    def seal(self) -> None:
        """Own files closed to others, system calls filtered in every thread. Raises ``OSError``."""
        if self._sandbox != "tool":
            if self._device is not None:
                if self._kept:
                    identity.keep_only(self._kept)
                # Confined earlier, cuInit fails with error 304: it writes its threads' names below /proc.
                self._confine()
            identity.hide()
        else:
            if self.report["root"]:
                identity.keep_only(self._counters)
            if self._device is not None:
                # Where that can be done it is the user's own files that are out of reach: a tool's child has the judge's user.
                self._confine()
        if self._filter:
            # Behind a filter, even one that lets processes start and look into others, the driver's helper wrote nothing.
            self.report["seccomp"] = seccomp.install(self._filter, every_thread=self._sandbox != "dump")

    def _confine(self) -> None:
        nodes = tuple(self._device["nodes"]) if self._device else ()
        scratch = tuple(self._setup["scratch"])
        self.report["landlock"] = landlock.confine(tuple(self._setup["readable"]), nodes, scratch)

    def _drop(self) -> None:
        is_root, readable = self.report["root"], bool(self._setup["readable"])
        if not is_root or not readable or self._confinable:
            # As another user the interpreter's own files may be out of reach. Only Landlock tames the capability to read them.
            reading = (identity.CAP_DAC_READ_SEARCH,) if readable else ()
            kept = (*reading, *self._counters) if is_root else ()
            self.report["user"] = identity.drop(self._setup["processes"], kept)
            self._kept = kept if self.report["user"] is not None else ()
        if self._sandbox == "dump" and self.report["user"] is None and not is_root:
            limits.bound_processes(self._setup["processes"])
        if self._device is not None:
            identity.own_files()


def counters_are_guarded() -> bool:
    """Whether the NVIDIA driver lets only those read a GPU's counters who have the capability to."""
    try:
        with open(PARAMETERS, encoding="ascii", errors="replace") as stream:  # noqa: PTH123 (no pathlib here)
            return any(line.split() == ["RmProfilingAdminOnly:", "1"] for line in stream)
    except OSError:  # no such driver here
        return False
