"""Which library, of which version, measures a task's reference in this process."""

from __future__ import annotations

import ctypes
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from ptxbench.schema import Task

_MAJOR, _MINOR, _PATCH = 0, 1, 2
"""``libraryPropertyType`` of CUDA's ``library_types.h``, which cuBLAS and cuDNN answer alike."""

LIBRARIES = {"cuBLAS": ("libcublas.so", "cublasGetProperty"), "cuDNN": ("libcudnn.so", "cudnnGetProperty")}
"""Libraries that torch calls: the shared object that is loaded, and its function that tells its version."""

DISTRIBUTIONS = {"FlashInfer": "flashinfer-python"}
"""Python distributions that are named otherwise than the library."""


def reference_version(task: Task, device: str) -> str:
    """Return the library that runs the task's reference on a device, with its version and that of torch.

    Such as ``cuBLAS 13.1.0 (torch 2.11.0)``. Call it after the reference has run, when its library is loaded: the version is asked
    of the shared object in this process, not of a package. On the host torch's references are torch's own arithmetic.
    """
    if task.reference.needs == "numpy":
        return f"NumPy {np.__version__}"
    import torch

    torch_version = f"torch {torch.__version__}"
    library = task.reference.library
    if torch.device(device).type == "cpu":
        return f"{torch_version} on the CPU"
    if library == "torch":
        return torch_version
    known = _loaded_version(*LIBRARIES[library]) if library in LIBRARIES else _distribution_version(library)
    return f"{library} {known or 'of unknown version'} ({torch_version})"


def _distribution_version(library: str) -> str | None:
    try:
        return version(DISTRIBUTIONS.get(library, library))
    except PackageNotFoundError:
        return None


def _loaded_version(name: str, function: str) -> str | None:
    """Ask a shared object that this process has loaded; None when it has not, or does not tell."""
    path = loaded_library(name)
    if path is None:
        return None
    ask = getattr(ctypes.CDLL(str(path)), function, None)
    if ask is None:
        return None
    parts = []
    for part in (_MAJOR, _MINOR, _PATCH):
        value = ctypes.c_int()
        if ask(part, ctypes.byref(value)):
            return None
        parts.append(str(value.value))
    return ".".join(parts)


def loaded_library(name: str) -> Path | None:
    """Return the file of a shared object that this process has mapped, by the beginning of its name: ``libcublas.so``."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.partition("/")[2]
        if path and Path("/" + path).name.startswith(name):
            return Path("/" + path)
    return None
