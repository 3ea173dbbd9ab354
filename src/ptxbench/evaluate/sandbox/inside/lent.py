"""Device memory that the judge lends by file descriptor: mapped as long as the process lives, read-only where it says so."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from .driver import Driver

_POSIX_FILE_DESCRIPTOR = 1
_DEVICE = 1
_READ, _READ_WRITE = 1, 3


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


def map_buffer(driver: Driver, buffer: dict[str, Any]) -> int:
    """Map a lent buffer, close its descriptor and return its address. Raises ``CudaError``."""
    handle, address, size = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_size_t(buffer["bytes"])
    nothing = ctypes.c_uint64(0)
    descriptor = ctypes.c_void_p(buffer["fd"])
    driver.run("cuMemImportFromShareableHandle", ctypes.byref(handle), descriptor, ctypes.c_int(_POSIX_FILE_DESCRIPTOR))
    os.close(buffer["fd"])
    driver.run("cuMemAddressReserve", ctypes.byref(address), size, ctypes.c_size_t(0), nothing, nothing)
    driver.run("cuMemMap", address, size, ctypes.c_size_t(0), handle, nothing)
    access = _Access(_Location(_DEVICE, driver.ordinal), _READ_WRITE if buffer["writable"] else _READ)
    driver.run("cuMemSetAccess", address, size, ctypes.byref(access), ctypes.c_size_t(1))
    # The mapping keeps the memory; without the handle nobody here can map it again with other rights.
    driver.run("cuMemRelease", handle)
    return address.value
