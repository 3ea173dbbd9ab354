"""Child of the tests: call the functions that a library exports, with good and bad arguments, and print what came of it.

    python header_calls.py LIBCUDART LIBTVM_FFI LIBRARY FIRST

Standard input holds a JSON list of calls, each a function's name and the kinds of its arguments (letters, see ``KINDS``). Each call
from number FIRST on prints one JSON line: the return code, then the result, or the kind and message of the error that was raised.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any


class Any_(ctypes.Structure):
    class Value(ctypes.Union):
        _fields_ = (
            ("integer", ctypes.c_int64), ("real", ctypes.c_double), ("pointer", ctypes.c_void_p), ("bytes", ctypes.c_char * 8),
            ("pair", ctypes.c_int32 * 2), ("text", ctypes.c_char_p),
        )  # fmt: skip

    _fields_ = (("type_index", ctypes.c_int32), ("small", ctypes.c_uint32), ("value", Value))


class ByteArray(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("size", ctypes.c_size_t))


class DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("dtype", DataType), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


DATA = 0x10000
"""Address of every tensor: nothing reads it."""
KINDS = "tTheZnijbfsSLyYdvpBE"
LONG = b"longer than seven bytes"


class Zoo:
    """Makes arguments of every kind; what they point to lives as long as the zoo."""

    def __init__(self, ffi: ctypes.CDLL) -> None:
        self.ffi = ffi
        self.kept: list[Any] = []

    def tensor(self, device: int, code: int, bits: int, shape: list[int], strides: list[int] | None, offset: int = 0) -> Tensor:
        extents = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        steps = (ctypes.c_int64 * max(1, len(shape)))(*strides) if strides is not None else None
        made = Tensor(DATA, device, 0, len(shape), DataType(code, bits, 1), extents, steps, offset)
        self.kept += [extents, steps, made]
        return made

    def object(self, kind: str) -> Any_:
        """Let libtvm_ffi make a tensor (T), a long string (L), long bytes (Y), or an error (E)."""
        made, handle = Any_(), ctypes.c_void_p()
        text = ByteArray(LONG, len(LONG))
        if kind == "T":
            managed = Managed(self.tensor(2, 2, 32, [4, 8], [8, 1]), None, None)
            self.kept.append(managed)
            assert self.ffi.TVMFFITensorFromDLPack(ctypes.byref(managed), 0, 0, ctypes.byref(handle)) == 0
            made.type_index, made.value.pointer = 70, handle
        elif kind == "E":
            assert self.ffi.TVMFFIErrorCreate(*(ctypes.byref(text) for _ in range(3)), ctypes.byref(handle)) == 0
            made.type_index, made.value.pointer = 67, handle
        else:
            make = self.ffi.TVMFFIStringFromByteArray if kind == "L" else self.ffi.TVMFFIBytesFromByteArray
            assert make(ctypes.byref(text), ctypes.byref(made)) == 0
        return made

    def make(self, kind: str) -> Any_:
        """Return an argument of a kind."""
        made = Any_()
        if kind in "theZ":
            view = {
                "t": lambda: self.tensor(2, 2, 32, [4, 8], [8, 1]),
                "h": lambda: self.tensor(1, 4, 16, [6, 1], [2, 5], 16),
                "e": lambda: self.tensor(2, 2, 32, [], None),
                "Z": lambda: None,
            }[kind]()
            made.type_index = 7
            made.value.pointer = ctypes.addressof(view) if view is not None else None
        elif kind in "TLYE":
            made = self.object(kind)
        elif kind in "ijb":
            made.type_index, made.value.integer = (2, 1) if kind == "b" else (1, 5 if kind == "i" else -1)
        elif kind == "f":
            made.type_index, made.value.real = 3, 2.5
        elif kind == "s":
            made.type_index, made.value.text = 8, b"float32"
        elif kind in "Sy":
            made.type_index, made.small = (11 if kind == "S" else 12), 6
            ctypes.memmove(ctypes.addressof(made) + Any_.value.offset, b"cuda:1\0", 7)
        elif kind == "d":
            made.type_index = 5
            ctypes.memmove(ctypes.addressof(made) + Any_.value.offset, bytes(DataType(4, 16, 1)), 4)
        elif kind == "v":
            made.type_index, made.value.pair = 6, (ctypes.c_int32 * 2)(2, 1)
        elif kind == "p":
            made.type_index, made.value.pointer = 4, DATA
        elif kind == "B":
            text = ByteArray(b"int8", 4)
            self.kept.append(text)
            made.type_index, made.value.pointer = 9, ctypes.addressof(text)
        return made


def text_of(ffi: ctypes.CDLL, value: Any_) -> str:
    if value.type_index in (11, 12):
        return value.value.bytes.decode()
    pointer = ctypes.cast(value.value.pointer + 24, ctypes.POINTER(ByteArray))
    return ctypes.string_at(pointer[0].data, pointer[0].size).decode()


def outcome(ffi: ctypes.CDLL, code: int, result: Any_) -> list[Any]:
    """Return what a call came to, free of addresses of objects."""
    if code == 0:
        if result.type_index in (11, 12, 65, 66):
            return [code, result.type_index, text_of(ffi, result)]
        if result.type_index >= 64:
            return [code, result.type_index]
        return [code, result.type_index, result.small, result.value.integer]
    handle = ctypes.c_void_p()
    ffi.TVMFFIErrorMoveFromRaised(ctypes.byref(handle))
    cell = ctypes.cast(handle.value + 24, ctypes.POINTER(ByteArray))
    return [code, *(ctypes.string_at(cell[i].data, cell[i].size).decode() for i in range(2))]


def main(cudart: str, tvm: str, library: str, first: str) -> None:
    ctypes.CDLL(cudart, mode=ctypes.RTLD_GLOBAL)
    ffi = ctypes.CDLL(tvm, mode=ctypes.RTLD_GLOBAL)
    candidate = ctypes.CDLL(library)
    for name, kinds in json.load(sys.stdin)[int(first) :]:
        zoo = Zoo(ffi)
        arguments = (Any_ * max(1, len(kinds)))(*(zoo.make(kind) for kind in kinds))
        result = Any_()
        code = getattr(candidate, f"__tvm_ffi_{name}")(None, arguments, len(kinds), ctypes.byref(result))
        print(json.dumps(outcome(ffi, code, result)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
