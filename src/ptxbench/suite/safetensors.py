"""The safetensors container: named tensors in one file, with all NumPy types that tasks use, bfloat16 among them.

Eight bytes hold the header's length (little endian), the header is a JSON object of name to type, shape and byte range, and
the tensors' bytes follow in row-major order (format description of the safetensors project, version 0.x).
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ptxbench.core.atomic import storage_error
from ptxbench.core.errors import SuiteError
from ptxbench.suite.dtypes import NAMES, NUMPY_TYPES, Array

LARGEST_HEADER = 100 << 20
"""Bytes; the format's own limit."""

LFS_POINTER = b"version https://git-lfs"

CODES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
"""The container's name of each type. It has none for one float4 to a byte."""

TYPES = {code: name for name, code in CODES.items()}


@dataclass(frozen=True)
class TensorInfo:
    """What a header says of a tensor: FlashInfer-Trace type name, shape, and where in the file its bytes begin and end."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


def write_tensors(path: Path, tensors: Mapping[str, Array]) -> None:
    """Write tensors to a new file, in order. Raises ``ValueError`` for a type without a code, ``StorageError`` when it fails."""
    header: dict[str, Any] = {}
    offset = 0
    for name, value in tensors.items():
        if NAMES.get(value.dtype) not in CODES:
            raise ValueError(f"safetensors has no code for {value.dtype} ({name})")
        stop = offset + value.nbytes
        header[name] = {"dtype": CODES[NAMES[value.dtype]], "shape": list(value.shape), "data_offsets": [offset, stop]}
        offset = stop
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as stream:
            stream.write(len(text).to_bytes(8, "little") + text)
            for value in tensors.values():
                stream.write(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    except OSError as error:
        raise storage_error(error, path) from error


def read_header(path: Path) -> dict[str, TensorInfo]:
    """Return what a file holds, without reading the tensors.

    Raises ``SuiteError`` for a file that is missing, a Git LFS pointer, cut off, or not in the format.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # Opening a pipe might never end.
            raise _damaged(path, "it is not a regular file")
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            start = stream.read(max(8, len(LFS_POINTER)))
            if start.startswith(LFS_POINTER):
                raise SuiteError(f"{path} is a Git LFS pointer, not the file itself", next_step="fetch it with `git lfs pull`")
            length = int.from_bytes(start[:8], "little")
            if len(start) < 8 or length > min(LARGEST_HEADER, size - 8):
                raise _damaged(path, "its header is longer than the file")
            stream.seek(8)
            text = stream.read(length)
    except OSError as error:
        step = "check the path in the workload, and that the suite's blobs were downloaded"
        raise SuiteError(f"{path} cannot be read: {error.strerror or error}", next_step=step) from error
    try:
        header = json.loads(text)
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        infos = {
            name: TensorInfo(
                TYPES[entry["dtype"]], tuple(map(int, entry["shape"])), *(8 + length + int(at) for at in entry["data_offsets"])
            )
            for name, entry in entries.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(path, f"its header cannot be understood ({type(error).__name__}: {error})") from error
    for name, info in infos.items():
        expected = math.prod(info.shape) * NUMPY_TYPES[info.dtype].itemsize
        if (
            min(info.shape, default=0) < 0
            or info.stop - info.start != expected
            or not 8 + length <= info.start <= info.stop <= size
        ):
            raise _damaged(path, f"the byte range of {name} does not fit its shape or the file")
    return infos


def read_tensor(path: Path, name: str) -> Array:
    """Return one tensor of a file. Raises ``SuiteError`` as ``read_header`` does, and when there is none of that name."""
    infos = read_header(path)
    if name not in infos:
        raise SuiteError(f"{path} has no tensor {name!r}", next_step=f"it holds {', '.join(sorted(infos)) or 'nothing'}")
    info = infos[name]
    data = np.fromfile(path, dtype=np.uint8, count=info.stop - info.start, offset=info.start)
    return data.view(NUMPY_TYPES[info.dtype]).reshape(info.shape)


def _damaged(path: Path, why: str) -> SuiteError:
    return SuiteError(f"{path} is not a safetensors file: {why}", next_step="download or write the file again")
