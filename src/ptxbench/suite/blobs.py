"""Inputs that are stored in files below a suite's folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ptxbench.core.errors import SuiteError
from ptxbench.schema import Definition, SafetensorsInput


def blob_problem(root: Path, definition: Definition, axes: Mapping[str, int], name: str, stored: SafetensorsInput) -> str | None:
    """Return what is wrong with the file of the input ``name``, None when it is there with the right shape and type."""
    from ptxbench.suite.safetensors import read_header

    try:
        infos = read_header(root / stored.path)
    except SuiteError as error:
        return error.message
    info = infos.get(stored.tensor_key)
    if info is None:
        return f"{root / stored.path} has no tensor {stored.tensor_key!r}"
    shape, dtype = definition.shape(name, dict(axes)) or (), definition.inputs[name].dtype
    if (info.shape, info.dtype) != (shape, dtype):
        return f"{root / stored.path}: {stored.tensor_key} is {info.dtype}{list(info.shape)}, not {dtype}{list(shape)}"
    return None
