"""Poison for shared memory: what a kernel reads there before it wrote it must not happen to be zero."""

from __future__ import annotations

import ctypes

from .driver import LEGACY_STREAM, Driver

_MULTIPROCESSORS, _MOST_PER_BLOCK = 16, 97
"""``CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT``, ``…_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN``."""
_DYNAMIC_SIZE = 8
"""``CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES``."""
_THREADS = 1024


class SharedMemory:
    """The shared memory of every multiprocessor, filled by a small kernel of ours (``fill_shared.ptx``) from its cubin.

    What is left unfilled is the kilobyte of each block that belongs to the system. Raises ``CudaError``.
    """

    def __init__(self, driver: Driver, cubin: bytes, value: int) -> None:
        self._driver = driver
        self._module, self._kernel = ctypes.c_void_p(), ctypes.c_void_p()
        driver.run("cuModuleLoadData", ctypes.byref(self._module), cubin)
        driver.run("cuModuleGetFunction", ctypes.byref(self._kernel), self._module, b"fill_shared")
        self._size, self._blocks = driver.attribute(_MOST_PER_BLOCK), driver.attribute(_MULTIPROCESSORS)
        driver.run("cuFuncSetAttribute", self._kernel, ctypes.c_int(_DYNAMIC_SIZE), ctypes.c_int(self._size))
        word, size = ctypes.c_uint32(value * 0x01010101), ctypes.c_uint32(self._size // 16 * 16)
        self._values = word, size
        self._parameters = (ctypes.c_void_p * 2)(*(ctypes.addressof(one) for one in self._values))

    def fill(self) -> None:
        """Enqueue the filling on the default stream. A block takes a multiprocessor's shared memory whole, so each gets one."""
        one, none = ctypes.c_uint(1), ctypes.c_void_p()
        grid, block = (ctypes.c_uint(self._blocks), one, one), (ctypes.c_uint(_THREADS), one, one)
        stream, size = ctypes.c_void_p(LEGACY_STREAM), ctypes.c_uint(self._size)
        self._driver.run("cuLaunchKernel", self._kernel, *grid, *block, size, stream, self._parameters, none)
