"""The CUDA driver through ctypes: one device, its primary context, and the few calls that a runner needs.

Names, numbers and structures as in CUDA 13.0's ``cuda.h``.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .failure import CandidateError

OUT_OF_MEMORY = 2
"""``CUDA_ERROR_OUT_OF_MEMORY``."""
LEGACY_STREAM = 0
"""The default stream: every other stream waits for it and it for them, but those made with ``cudaStreamNonBlocking``."""
_NON_BLOCKING = 1
_DEFAULT_EVENT = 0
_RELEASE_THRESHOLD = 4
"""``CU_MEMPOOL_ATTR_RELEASE_THRESHOLD``."""


class CudaError(CandidateError):
    """A call of the CUDA driver failed; ``details`` has its number."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__("cuda_error", text, cuda=code)


def load_driver() -> ctypes.CDLL:
    """Load the driver's library and do nothing with it yet. Raises ``OSError``."""
    return ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)


class Driver:
    """One device with its primary context current in this thread. Raises ``CudaError`` wherever a call fails."""

    def __init__(self, cuda: ctypes.CDLL, ordinal: int) -> None:
        self._cuda = cuda
        self.ordinal = ordinal
        self.context = ctypes.c_void_p()
        device = ctypes.c_int()
        self.run("cuInit", ctypes.c_uint(0))
        self.run("cuDeviceGet", ctypes.byref(device), ctypes.c_int(ordinal))
        self._device = device
        self.run("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.run("cuCtxSetCurrent", self.context)

    def run(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver."""
        code = self._cuda[name](*arguments)
        if code != 0:
            raise CudaError(code, self.describe(code))

    def describe(self, code: int) -> str:
        """Return an error with its number, its name and what the driver says of it."""
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        self._cuda.cuGetErrorName(ctypes.c_int(code), ctypes.byref(name))
        self._cuda.cuGetErrorString(ctypes.c_int(code), ctypes.byref(text))
        return f"CUDA error {code} ({(name.value or b'?').decode()}): {(text.value or b'unknown').decode()}"

    def synchronise(self) -> None:
        """Wait for all work of the context, on whatever stream, and raise what went wrong in it."""
        # A candidate may have left another context current.
        self.run("cuCtxSetCurrent", self.context)
        self.run("cuCtxSynchronize")

    def attribute(self, number: int) -> int:
        """Return one of the device's attributes (``CUdevice_attribute``)."""
        value = ctypes.c_int()
        self.run("cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(number), self._device)
        return value.value

    def allocate(self, size: int) -> int:
        """Allocate device memory of exactly this size and return its address."""
        address = ctypes.c_uint64()
        self.run("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy device memory."""
        self.run("cuMemcpyDtoD_v2", ctypes.c_uint64(target), ctypes.c_uint64(source), ctypes.c_size_t(size))

    def fill(self, address: int, value: int, size: int, stream: int) -> None:
        """Set bytes of device memory, on a stream."""
        arguments = ctypes.c_uint64(address), ctypes.c_ubyte(value), ctypes.c_size_t(size), ctypes.c_void_p(stream)
        self.run("cuMemsetD8Async", *arguments)

    def keep_pooled_memory(self) -> None:
        """Let the device's memory pool keep what is freed, as the caching allocator of a framework does.

        By default it goes back at each synchronisation, and a workspace by ``cudaMallocAsync`` costs every call hundreds of
        microseconds of host time. A device without pools has nothing to keep.
        """
        pool, everything = ctypes.c_void_p(), ctypes.c_uint64(2**64 - 1)
        if self._cuda.cuDeviceGetDefaultMemPool(ctypes.byref(pool), ctypes.c_int(self.ordinal)) == 0:
            self._cuda.cuMemPoolSetAttribute(pool, ctypes.c_int(_RELEASE_THRESHOLD), ctypes.byref(everything))

    def make_stream(self) -> int:
        """Make a stream that waits for no other."""
        stream = ctypes.c_void_p()
        self.run("cuStreamCreate", ctypes.byref(stream), ctypes.c_uint(_NON_BLOCKING))
        return stream.value or 0

    def make_event(self) -> ctypes.c_void_p:
        """Make an event that takes the time."""
        event = ctypes.c_void_p()
        self.run("cuEventCreate", ctypes.byref(event), ctypes.c_uint(_DEFAULT_EVENT))
        return event

    def record(self, event: ctypes.c_void_p) -> None:
        """Record an event on the default stream."""
        self.run("cuEventRecord", event, ctypes.c_void_p(LEGACY_STREAM))

    def elapsed_ns(self, start: ctypes.c_void_p, end: ctypes.c_void_p) -> int:
        """Return the time between two recorded events in nanoseconds."""
        milliseconds = ctypes.c_float()
        self.run("cuEventElapsedTime_v2", ctypes.byref(milliseconds), start, end)
        return max(0, round(milliseconds.value * 1e6))

    def forget_persisting_lines(self) -> None:
        """Return every line of the L2 cache that was set aside as persisting to normal use."""
        self.run("cuCtxResetPersistingL2Cache")
