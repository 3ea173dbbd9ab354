"""Names as people write them, from the names that linkers use."""

from __future__ import annotations

import ctypes
import re
from functools import lru_cache

MAX_NAME = 2000
MAX_REFERENCES = 24
"""A mangled name refers back to its own parts, so that each reference can multiply the result: a short name of a candidate's
choice can spell out to gigabytes. With these bounds it cannot exceed a few megabytes; longer names stay as they are."""
MAX_SHORT = 200

_MANGLED = re.compile(r"\b_Z[A-Za-z0-9_$.]+")
_REFERENCE = re.compile(r"[ST][0-9A-Z]*_")


@lru_cache(maxsize=1)
def _runtime() -> tuple[ctypes.CDLL, ctypes.CDLL] | None:
    """Return the C++ runtime's own demangler (a machine with a C++ compiler has it) and the C library that frees its result."""
    try:
        runtime = ctypes.CDLL("libstdc++.so.6")
        library = ctypes.CDLL(None)
    except OSError:
        return None
    runtime.__cxa_demangle.restype = ctypes.c_void_p
    runtime.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    library.free.argtypes = [ctypes.c_void_p]
    return runtime, library


@lru_cache(maxsize=4096)
def demangle(name: str) -> str:
    """Return the C++ spelling of a mangled name, or the name itself when it is not one."""
    runtime = _runtime()
    if runtime is None or not name.startswith("_Z") or len(name) > MAX_NAME or len(_REFERENCE.findall(name)) > MAX_REFERENCES:
        return name
    status = ctypes.c_int()
    pointer = runtime[0].__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if not pointer:
        return name
    try:
        return ctypes.string_at(pointer).decode("utf-8", "replace")
    finally:
        runtime[1].free(pointer)


def demangle_text(text: str) -> str:
    """Return the text with every mangled name in it spelled out."""
    return _MANGLED.sub(lambda match: demangle(match[0]), text)


def short_name(mangled: str) -> str:
    """Return a kernel's name without namespaces, return type and parameters; template arguments stay: ``gemm<128, 64>``."""
    full = demangle(mangled)
    if full == mangled:
        return mangled[:MAX_SHORT]
    full = full.replace("(anonymous namespace)", "{anonymous}")
    depth, start, end = 0, 0, len(full)
    for index, char in enumerate(full):
        if char in "<[{":
            depth += 1
        elif char in ">]}":
            depth -= 1
        elif depth == 0 and char == "(":
            end = index
            break
        elif depth == 0 and char in ": ":
            start = index + 1
    return (full[start:end] or full)[:MAX_SHORT]
