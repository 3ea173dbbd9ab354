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
CAP_DAC_READ_SEARCH = 2
_CAPABILITY_VERSION_3 = 0x20080522


def drop(processes: int, keep_reading: bool) -> int | None:
    """Become an unprivileged user with at most ``processes`` threads; return its id, or None when that is not possible.

    ``keep_reading`` keeps the one capability to read files whatever their mode (an interpreter may lie in a folder that only
    root may enter); the caller confines what can be read by Landlock.
    """
    if os.geteuid() != 0:
        prctl(PR_SET_DUMPABLE, 0)
        return None
    if keep_reading:
        prctl(PR_SET_KEEPCAPS, 1)
    user = _become_first((FIRST_UNIQUE + os.getpid(), NOBODY))
    if user is not None and user != NOBODY:
        # The limit counts all threads of a user: it binds only where the user is this process alone.
        lower(resource.RLIMIT_NPROC, processes)
    if keep_reading:
        _keep_only(CAP_DAC_READ_SEARCH if user is not None else None)
    prctl(PR_SET_DUMPABLE, 0)
    return user


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


def _keep_only(capability: int | None) -> None:
    """Reduce the capabilities to one, or to none."""
    bits = 0 if capability is None else 1 << capability
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(bits, bits, 0, 0, 0, 0)
    if libc.capset(header, data) != 0:
        raise last_error("capset")
