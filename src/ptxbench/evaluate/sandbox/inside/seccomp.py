"""A seccomp filter: no new processes, no reach for other ones, no network, no lasting change of the machine.

The lists are in ``syscalls.json``. Refused calls fail with EPERM, so that a candidate that tries one goes on or ends by its own
code; ``clone3`` fails with ENOSYS, since its flags lie in memory that a filter cannot read and libraries then use ``clone``.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os

from .libc import (
    PR_SCHED_CORE,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_MM,
    PR_SET_PDEATHSIG,
    PR_SET_PTRACER,
    PR_SET_SECCOMP,
    last_error,
    libc,
)

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
UNKNOWN_FROM = 463
"""Calls from here on are newer than our lists (numbers are the same on every machine); x32 calls have bit 30 and are beyond too."""
CLONE_THREAD = 0x00010000
FILE_CHANGES = "changes of the file system"
"""The group that a profiler's part in the process cannot do without: it makes a lock file of its own."""
HANDLERS = "handlers of signals"
"""The group that no candidate can use against anybody as long as all threads of its process are bound."""
WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
REFUSED_PRCTL = (
    PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_MM, PR_SET_CHILD_SUBREAPER, PR_SCHED_CORE, PR_SET_PTRACER,
)  # fmt: skip
F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE = 8, 10, 15, 1024
REFUSED_FCNTL = (F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE)
"""A descriptor that signals its owner: any process, with any signal (``fcntl(2)``)."""
FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX = 0x8901, 0x8902, 0x5412, 0x541C
REFUSED_IOCTL = (FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX)
"""The same by another name, and input put into somebody's terminal."""

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER, _ALL_THREADS = 1, 1
"""Of ``seccomp(2)``: its number, the operation, and the flag by which threads that run already are bound too."""

Instruction = tuple[int, int, int, int]


class _Filter(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Filter)))


def load_table() -> dict[str, dict[str, dict[str, int]] | dict[str, list[str]]]:
    """Return the lists of refused calls and the numbers per machine."""
    path = __file__.rpartition("/")[0] + "/syscalls.json"
    with open(path, encoding="utf-8") as stream:  # noqa: PTH123 (no pathlib here)
        table: dict[str, dict[str, dict[str, int]] | dict[str, list[str]]] = json.load(stream)
    return table


def program(machine: str, process: int, refuse_write_opens: bool, allowed: tuple[str, ...] = ()) -> list[Instruction]:
    """Return the filter for a kind of machine and the process that it binds; empty for a machine that we do not know.

    ``allowed`` are groups of the refused calls that are let through all the same.
    """
    if machine not in AUDIT_ARCH:
        return []
    table = load_table()
    numbers: dict[str, int] = table["numbers"][machine]  # type: ignore[assignment]
    groups: dict[str, list[str]] = table["refused"]  # type: ignore[assignment]
    refuse = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    missing = (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)
    allow = (_RETURN, 0, 0, _ALLOW)
    steps: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_JUMP_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_AT_LEAST, 0, 1, UNKNOWN_FROM),
        missing,
    ]

    def when(name: str, block: list[Instruction]) -> None:
        if name in numbers:
            steps.extend([(_JUMP_EQUAL, 0, len(block), numbers[name]), *block])

    for group, names in groups.items():
        for name in names if group not in allowed else ():
            when(name, [refuse])
    own = [_argument(0), (_JUMP_EQUAL, 0, 1, process), allow, refuse]
    when("clone", [_argument(0), (_JUMP_SET, 0, 1, CLONE_THREAD), allow, refuse])
    when("clone3", [missing])
    when("kill", own)
    when("tgkill", own)
    nothing_new = [_argument(2), (_JUMP_EQUAL, 1, 0, 0), refuse, _argument(2, high=True), (_JUMP_EQUAL, 1, 0, 0), refuse]
    when("prlimit64", [*nothing_new, _argument(0), (_JUMP_EQUAL, 1, 0, 0), (_JUMP_EQUAL, 0, 1, process), allow, refuse])
    for name, place, options in (("prctl", 0, REFUSED_PRCTL), ("fcntl", 1, REFUSED_FCNTL), ("ioctl", 1, REFUSED_IOCTL)):
        tests = [step for option in options for step in ((_JUMP_EQUAL, 0, 1, option), refuse)]
        when(name, [_argument(place), *tests, allow])
    if refuse_write_opens:
        when("open", [_argument(1), (_JUMP_SET, 0, 1, WRITE_FLAGS), refuse, allow])
        when("openat", [_argument(2), (_JUMP_SET, 0, 1, WRITE_FLAGS), refuse, allow])
        when("openat2", [missing])
    steps.append(allow)
    return steps


def _argument(index: int, high: bool = False) -> Instruction:
    """Load one half of a 64-bit argument (both supported machines are little-endian)."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * index + (4 if high else 0))


def install(steps: list[Instruction], every_thread: bool = True) -> bool:
    """Bind a filter for good: to all threads of this process, or to this one and those that it makes from now on.

    Return whether it holds: a kernel may have no such thing. Needs no-new-privs. Raises ``OSError`` when the kernel refuses.
    """
    table = (_Filter * len(steps))(*(_Filter(code, yes, no, value) for code, yes, no, value in steps))
    bound = _Program(len(steps), table)
    flags = _ALL_THREADS if every_thread else 0
    result = libc.syscall(_SECCOMP[os.uname().machine], _SET_MODE_FILTER, flags, ctypes.byref(bound))
    if result > 0:
        raise OSError(f"seccomp: the thread {result} cannot be bound")
    if result < 0 and ctypes.get_errno() != errno.ENOSYS:
        raise last_error("seccomp")
    return bool(result == 0)
