"""Element types: FlashInfer-Trace names as torch's types, and arrays as tensors of the same bits. Importing it imports torch."""

from __future__ import annotations

import numpy as np
import torch

from ptxbench.suite.dtypes import NAMES, NUMPY_TYPES, Array

TORCH_TYPES: dict[str, torch.dtype] = {
    "float64": torch.float64, "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16,
    "float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2,
    "int64": torch.int64, "int32": torch.int32, "int16": torch.int16, "int8": torch.int8, "uint8": torch.uint8, "bool": torch.bool,
}  # fmt: skip
"""Torch's type for each FlashInfer-Trace name; it has none for float4_e2m1 with one element a byte."""

TORCH_NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in TORCH_TYPES.items()}
"""FlashInfer-Trace's name for each of torch's types."""

_CARRIERS = {"bfloat16": (np.int16, torch.int16), "float8_e4m3fn": (np.uint8, torch.uint8), "float8_e5m2": (np.uint8, torch.uint8)}
"""What the bits of types that NumPy itself does not have travel as."""


def as_tensor(array: Array) -> torch.Tensor:
    """Return an array's elements as a tensor on the host, bit for bit. A contiguous, writable array shares its memory with it.

    Raises ``TypeError`` for an element type that torch does not have.
    """
    name = NAMES[array.dtype]
    if name not in TORCH_TYPES:
        raise TypeError(f"torch has no element type for {name}")
    whole = np.require(array, requirements=("C", "W"))
    if name in _CARRIERS:
        return torch.from_numpy(whole.view(_CARRIERS[name][0])).view(TORCH_TYPES[name])
    return torch.from_numpy(whole)


def as_array(tensor: torch.Tensor) -> Array:
    """Return a tensor's elements as a C-contiguous array on the host, bit for bit.

    Raises ``TypeError`` for an element type that NumPy does not have.
    """
    whole = tensor.detach().cpu().contiguous()
    name = TORCH_NAMES.get(whole.dtype)
    if name is None:
        raise TypeError(f"NumPy has no element type for {whole.dtype}")
    carried = whole.view(_CARRIERS[name][1]) if name in _CARRIERS else whole
    array: Array = carried.numpy().view(NUMPY_TYPES[name])
    return array
