"""The C library through ctypes: the few calls that Python has no name for."""

from __future__ import annotations

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.setvbuf.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t)
libc.fflush.argtypes = (ctypes.c_void_p,)

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_SET_MM = 35
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_SCHED_CORE = 62
PR_SET_PTRACER = 0x59616D61
"""Numbers of ``prctl(2)`` (Linux ``include/uapi/linux/prctl.h``)."""

_PROT_READ_WRITE, _MAP_SHARED, _LINE_BUFFERED = 3, 1, 1


def prctl(option: int, argument: int = 0) -> None:
    """Call ``prctl(2)``. Raises ``OSError``."""
    if libc.prctl(option, ctypes.c_ulong(argument), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        raise last_error(f"prctl {option}")


def last_error(what: str) -> OSError:
    """Return the error of the last failed call."""
    code = ctypes.get_errno()
    return OSError(code, f"{what}: {os.strerror(code)}")


def map_shared(descriptor: int, size: int) -> int:
    """Map a file shared, readable and writable, for as long as the process lives; return its address. Raises ``OSError``."""
    address = libc.mmap(None, size, _PROT_READ_WRITE, _MAP_SHARED, descriptor, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        raise last_error("mmap")
    return int(address)


def buffer_lines() -> None:
    """Make C's stdout line-buffered, so that what was printed before a crash is not lost."""
    stdout = ctypes.c_void_p.in_dll(libc, "stdout")
    libc.setvbuf(stdout, None, _LINE_BUFFERED, 0)


def flush_output() -> None:
    """Write out what C's output streams hold."""
    libc.fflush(None)
