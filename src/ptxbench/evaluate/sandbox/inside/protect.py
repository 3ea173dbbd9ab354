"""Everything that a candidate's process gives up before the candidate is loaded, in two steps.

What new threads inherit comes first, then the CUDA driver may start with its threads, then what binds threads that run already
and what the driver's start would not survive.
"""

from __future__ import annotations

import os
from typing import Any

from . import identity, landlock, limits, seccomp, watch
from .libc import PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, prctl

SIGKILL = 9


class Protections:
    """The protections that this machine offers, applied; ``report`` says which ones hold."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._setup = setup
        self._device: dict[str, Any] | None = setup.get("device")
        self._full = setup["sandbox"] == "full"
        self._confinable = landlock.abi() > 0
        # A GPU's device files are opened for writing all the time.
        refuse = not self._confinable and self._device is None
        self._filter = seccomp.program(os.uname().machine, os.getpid(), refuse_write_opens=refuse)
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
        if self._full:
            self._drop()
        else:
            watch.end_with(setup["judge"])
        prctl(PR_SET_PDEATHSIG, SIGKILL)
        if self._full and os.getppid() != setup["judge"]:
            os._exit(0)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        report["no_new_privs"] = True
        if self._full and self._device is None:
            self._confine()

    def seal(self) -> None:
        """Own files closed to others, system calls filtered in every thread. Raises ``OSError``."""
        if not self._full:
            return
        if self._device is not None:
            self._confine()
        identity.hide()
        if self._filter:
            seccomp.install(self._filter)
            self.report["seccomp"] = True

    def _confine(self) -> None:
        nodes = tuple(self._device["nodes"]) if self._device else ()
        self.report["landlock"] = landlock.confine(tuple(self._setup["readable"]), nodes)

    def _drop(self) -> None:
        is_root, readable = self.report["root"], bool(self._setup["readable"])
        if not is_root or not readable or self._confinable:
            # As another user the interpreter's own files may be out of reach. Only Landlock tames the capability to read them.
            keep = (identity.CAP_DAC_READ_SEARCH,) if readable and is_root else ()
            self.report["user"] = identity.drop(self._setup["processes"], keep)
        if self._device is not None:
            identity.own_files()
