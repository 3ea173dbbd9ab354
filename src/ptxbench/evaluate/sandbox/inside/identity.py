"""Give up root: a user id that nobody else has, so that files, other processes and their memory are out of reach."""

from __future__ import annotations

import ctypes
import os
import resource

from .libc import PR_SET_DUMPABLE, PR_SET_KEEPCAPS, last_error, libc, prctl
from .limits import lower

FIRST_UNIQUE = 1 << 30
"""User ids from here on belong to no account; the process id makes one that is unique while the process lives."""
NOBODY = 65534
CAP_DAC_READ_SEARCH, CAP_PERFMON = 2, 38
_CAPABILITY_VERSION_3 = 0x20080522


def drop(processes: int, keep: tuple[int, ...] = ()) -> int | None:
    """Become an unprivileged user with at most ``processes`` threads; return its id, or None when that is not possible.

    ``keep`` are the capabilities that stay: that to read files whatever their mode (an interpreter may lie in a folder that only
    root may enter), where the caller confines what can be read by Landlock; that to read a GPU's counters.
    """
    if os.geteuid() != 0:
        return None
    if keep:
        prctl(PR_SET_KEEPCAPS, 1)
    user = _become_first((FIRST_UNIQUE + os.getpid(), NOBODY))
    if user is not None and user != NOBODY:
        # The limit counts all threads of a user: it binds only where the user is this process alone.
        lower(resource.RLIMIT_NPROC, processes)
    if keep:
        keep_only(keep if user is not None else ())
    return user


def own_files() -> None:
    """Make this process's files below ``/proc`` its own again, which they are not after a change of user.

    The CUDA driver opens some of them when it starts, and fails with error 304 when it cannot.
    """
    prctl(PR_SET_DUMPABLE, 1)


def hide() -> None:
    """Close this process's memory and files below ``/proc`` to other processes of the same user, for good (``seccomp.py``)."""
    prctl(PR_SET_DUMPABLE, 0)


def _become_first(users: tuple[int, ...]) -> int | None:
    for user in users:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        except OSError:  # not mapped in this user namespace, or no right to change: the next one, or stay
            continue
        return user
    return None


def keep_only(capabilities: tuple[int, ...], asleep: tuple[int, ...] = ()) -> None:
    """Reduce this thread's capabilities to these; those ``asleep`` have no effect until they are kept once more without that.

    A thread that is made meanwhile can wake its own only by ``capset(2)``, which ``seccomp.py`` refuses.
    """
    low, high = _halves(capabilities)
    low_now, high_now = _halves(tuple(one for one in capabilities if one not in asleep))
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(low_now, low, 0, high_now, high, 0)
    if libc.capset(header, data) != 0:
        raise last_error("capset")


def _halves(capabilities: tuple[int, ...]) -> tuple[int, int]:
    low, high = (sum(1 << one % 32 for one in capabilities if one // 32 == half) for half in (0, 1))
    return low, high
