"""The judge's side of the CUDA driver, through ctypes: physical memory that can be lent by file descriptor.

Source: CUDA driver API, virtual memory management. Calls act on the current context, which is torch's primary one.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint64, c_ushort, c_void_p
from functools import lru_cache

from ptxbench.core.errors import DeviceMemoryFull, InfrastructureError, JudgeError
from ptxbench.evaluate.sandbox.inside.driver import OUT_OF_MEMORY

FILE_DESCRIPTOR = 1
"""``CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR``."""
_PINNED, _ON_DEVICE, _READ_WRITE = 1, 1, 3
"""``CU_MEM_ALLOCATION_TYPE_PINNED``, ``CU_MEM_LOCATION_TYPE_DEVICE``, ``CU_MEM_ACCESS_FLAGS_PROT_READWRITE``."""
_MINIMUM = 0
"""``CU_MEM_ALLOC_GRANULARITY_MINIMUM``."""


class _Location(ctypes.Structure):
    _fields_ = (("type", c_int), ("id", c_int))


class _Flags(ctypes.Structure):
    _fields_ = (("compression", c_ubyte), ("rdma", c_ubyte), ("usage", c_ushort), ("reserved", c_ubyte * 4))


class _Properties(ctypes.Structure):
    _fields_ = (
        ("type", c_int), ("handle_types", c_int), ("location", _Location), ("win32", c_void_p), ("flags", _Flags),
    )  # fmt: skip


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", c_int))


@lru_cache(maxsize=1)
def _cuda() -> ctypes.CDLL:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise JudgeError(f"the CUDA driver's library cannot be loaded: {error}") from error


def check(code: int, what: str) -> None:
    """Raise for a driver call that failed: ``DeviceMemoryFull`` or ``JudgeError``."""
    if not code:
        return
    name = c_char_p()
    _cuda().cuGetErrorName(code, byref(name))
    text = f"{what}: {name.value.decode() if name.value else f'CUDA error {code}'}"
    if code == OUT_OF_MEMORY:
        raise no_room(text)
    raise JudgeError(text)


def no_room(what: str) -> DeviceMemoryFull:
    """Return the error of a GPU that is full, with how full it is."""
    free, total = c_size_t(), c_size_t()
    known = _cuda().cuMemGetInfo_v2(byref(free), byref(total)) == 0
    room = f" ({free.value / 2**30:.1f} of {total.value / 2**30:.1f} GiB are free)" if known else ""
    return DeviceMemoryFull(f"the GPU has not enough memory{room}: {what}")


def free_bytes() -> int:
    """Return how much of the device's memory is free."""
    free, total = c_size_t(), c_size_t()
    check(_cuda().cuMemGetInfo_v2(byref(free), byref(total)), "asking for free memory")
    return int(free.value)


class ContextLost(Exception):
    """The device no longer works for this process, and never will again: what is left is to end, and a new judge to begin."""


def require_context() -> None:
    """Raise ``ContextLost`` when an error of the device (an illegal access, a memory error) has ended this process's context."""
    code = _cuda().cuCtxSynchronize()
    if code:
        raise ContextLost(f"the judge's context on the GPU is lost: CUDA error {code}")


class Allocation:
    """Physical device memory, mapped readable and writable here, with a descriptor to lend it by. Freed by ``close``.

    ``size_bytes`` is the size asked for, rounded up to what the device maps at once (2 MiB on today's GPUs).
    """

    def __init__(self, size_bytes: int, ordinal: int) -> None:
        cuda = _cuda()
        properties = _Properties(_PINNED, FILE_DESCRIPTOR, _Location(_ON_DEVICE, ordinal), None, _Flags())
        granularity = c_size_t()
        check(cuda.cuMemGetAllocationGranularity(byref(granularity), byref(properties), _MINIMUM), "asking for the granularity")
        self.size_bytes = -(-max(1, size_bytes) // granularity.value) * granularity.value
        self.address = 0
        self.descriptor = -1
        self._handle: c_uint64 | None = None
        handle, address, size = c_uint64(), c_uint64(), c_size_t(self.size_bytes)
        none = c_uint64(0)
        self._mapped = False
        try:
            check(cuda.cuMemCreate(byref(handle), size, byref(properties), none), f"staging {self.size_bytes / 2**20:.0f} MiB")
            self._handle = handle
            check(cuda.cuMemAddressReserve(byref(address), size, c_size_t(0), none, none), "reserving addresses")
            self.address = int(address.value)
            check(cuda.cuMemMap(address, size, c_size_t(0), handle, none), "mapping")
            self._mapped = True
            access = _Access(_Location(_ON_DEVICE, ordinal), _READ_WRITE)
            check(cuda.cuMemSetAccess(address, size, byref(access), c_size_t(1)), "allowing access")
            descriptor = c_int(-1)
            check(cuda.cuMemExportToShareableHandle(byref(descriptor), handle, FILE_DESCRIPTOR, none), "exporting")
            self.descriptor = descriptor.value
        except InfrastructureError:
            self.close()
            raise

    def close(self) -> None:
        """Unmap and release; the memory is gone when nobody else maps it any more. May be called again."""
        cuda, size, address = _cuda(), c_size_t(self.size_bytes), c_uint64(self.address)
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
        if self._mapped:
            self._mapped = False
            check(cuda.cuMemUnmap(address, size), "unmapping")
        if self.address:
            self.address = 0
            check(cuda.cuMemAddressFree(address, size), "freeing addresses")
        if self._handle is not None:
            handle, self._handle = self._handle, None
            check(cuda.cuMemRelease(handle), "releasing")
