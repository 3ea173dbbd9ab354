"""Element types: FlashInfer-Trace names as NumPy types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
"""A NumPy array of any shape and type."""

NUMPY_TYPES: dict[str, np.dtype[Any]] = {
    **{name: np.dtype(name) for name in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")},
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "float4_e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
}
"""NumPy's type for each FlashInfer-Trace name. A float4 array uses one byte an element here."""

NAMES: dict[np.dtype[Any], str] = {dtype: name for name, dtype in NUMPY_TYPES.items()}
"""FlashInfer-Trace's name for each NumPy type."""


def is_float(name: str) -> bool:
    """Whether the named type is a floating-point one."""
    return name.startswith("float") or name == "bfloat16"
