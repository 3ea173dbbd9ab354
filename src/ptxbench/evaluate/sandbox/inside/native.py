"""Candidates in C++ and CUDA: a shared object that exports ``__tvm_ffi_NAME``, called with packed TVM-FFI arguments.

Structures as in ``tvm/ffi/c_api.h`` and ``dlpack/dlpack.h`` of TVM-FFI 0.1.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .failure import CandidateError

_INT, _BOOL, _FLOAT, _DLTENSOR = 1, 2, 3, 7
_OBJECTS_FROM = 64
CPU, CUDA = 1, 2
"""Kinds of device (``DLDeviceType``)."""
DLPACK_TYPES = {
    "float64": (2, 64), "float32": (2, 32), "float16": (2, 16), "bfloat16": (4, 16),
    "float8_e4m3fn": (10, 8), "float8_e5m2": (12, 8),
    "int64": (0, 64), "int32": (0, 32), "int16": (0, 16), "int8": (0, 8), "uint8": (1, 8), "bool": (6, 8),
}  # fmt: skip
"""DLPack type code and bits of each element type."""
ELEMENT_BITS = {name: bits for name, (_, bits) in DLPACK_TYPES.items()}


class _Any(ctypes.Structure):
    _fields_ = (("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", ctypes.c_uint64))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Bytes(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t))


class _Error(ctypes.Structure):
    _fields_ = (("header", ctypes.c_uint64 * 3), ("kind", _Bytes), ("message", _Bytes))


class NativeCandidate:
    """A library with its packed arguments, one set of them per slot."""

    def __init__(self, runtime: str, symbol: str, device: tuple[int, int] = (CPU, 0)) -> None:
        self._runtime = ctypes.CDLL(runtime, mode=ctypes.RTLD_GLOBAL)
        self._runtime.TVMFFIErrorMoveFromRaised.argtypes = (ctypes.POINTER(ctypes.c_void_p),)
        self._runtime.TVMFFIErrorMoveFromRaised.restype = None
        self._runtime.TVMFFIObjectDecRef.argtypes = (ctypes.c_void_p,)
        self._symbol = f"__tvm_ffi_{symbol}"
        self._device = device
        self._function: Any = None
        self._slots: list[Any] = []
        self._keep: list[object] = []

    def place(self, base: int, arguments: list[list[dict[str, Any]]]) -> None:
        """Pack the arguments of every slot; ``base`` is where the staging buffer is mapped."""
        for slot in arguments:
            packed = (_Any * len(slot))()
            for cell, argument in zip(packed, slot, strict=True):
                self._pack(cell, base, argument)
            self._slots.append(packed)

    def _pack(self, cell: _Any, base: int, argument: dict[str, Any]) -> None:
        if "value" in argument:
            value = argument["value"]
            if isinstance(value, float):
                cell.type_index, cell.value = _FLOAT, ctypes.c_uint64.from_buffer_copy(ctypes.c_double(value)).value
            else:
                cell.type_index, cell.value = _BOOL if isinstance(value, bool) else _INT, int(value) & (2**64 - 1)
            return
        sizes = argument["shape"]
        shape = (ctypes.c_int64 * max(1, len(sizes)))(*sizes)
        strides = (ctypes.c_int64 * max(1, len(sizes)))()
        step = 1
        for axis in reversed(range(len(sizes))):
            strides[axis] = step
            step *= sizes[axis]
        code, bits = DLPACK_TYPES[argument["dtype"]]
        tensor = _Tensor(base + argument["offset"], *self._device, len(sizes), code, bits, 1, shape, strides, 0)
        self._keep.append((shape, strides, tensor))
        cell.type_index, cell.value = _DLTENSOR, ctypes.addressof(tensor)

    def load(self, library: int) -> None:
        """Load the shared object behind a descriptor. Raises ``CandidateError``."""
        try:
            self._function = getattr(ctypes.CDLL(f"/proc/self/fd/{library}"), self._symbol)
        except AttributeError:
            raise CandidateError("missing_symbol", f"the library does not export {self._symbol}") from None
        except OSError as error:
            raise CandidateError("load", str(error).replace(f"/proc/self/fd/{library}", "candidate")) from None

    def call(self, slot: int) -> object:
        """Call the candidate on one slot. Raises ``CandidateError`` with the message of a raised TVM-FFI error."""
        arguments, result = self._slots[slot], _Any()
        if self._function(None, arguments, ctypes.c_int32(len(arguments)), ctypes.byref(result)) != 0:
            raise CandidateError("exception", self._raised())
        if result.type_index >= _OBJECTS_FROM:
            self._runtime.TVMFFIObjectDecRef(ctypes.c_void_p(result.value))
        return None

    def _raised(self) -> str:
        handle = ctypes.c_void_p()
        self._runtime.TVMFFIErrorMoveFromRaised(ctypes.byref(handle))
        if not handle.value:
            return "the function failed without saying why"
        error = _Error.from_address(handle.value)
        parts = [_text(error.kind), _text(error.message)]
        self._runtime.TVMFFIObjectDecRef(handle)
        return ": ".join(part for part in parts if part)


def _text(cell: _Bytes) -> str:
    if not cell.data:
        return ""
    return ctypes.string_at(cell.data, min(cell.size, 1 << 20)).decode("utf-8", "replace")
