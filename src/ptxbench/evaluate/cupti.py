"""Where CUPTI is: the library and the Python packages, found without importing or loading anything."""

from __future__ import annotations

import os
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

from ptxbench.evaluate.sandbox.launch import CuptiPaths

LIBRARY = "libcupti.so.13"
PACKAGES = ("cupti", "numpy", "cuda")
"""What ``import cupti`` needs: itself, NumPy, and NVIDIA's search for libraries."""
_TOOLKITS = ("/usr/local/cuda",)


def locate() -> CuptiPaths:
    """Return where CUPTI's library and its Python packages are; None in place of what is not installed."""
    return CuptiPaths(library=_library(), packages=_packages())


def _packages() -> tuple[str, ...] | None:
    """Return the folders that hold the packages, None when one of those that are needed is missing."""
    folders: list[str] = []
    for name in PACKAGES:
        spec = find_spec(name)
        places = list(spec.submodule_search_locations or ()) if spec else []
        if not places and name != "cuda":
            return None
        folders += [str(Path(place).resolve().parent) for place in places]
    return tuple(dict.fromkeys(folders))


def _library() -> str | None:
    """Return the first of: the wheel's library, one beside a toolkit that a variable names, the usual folders."""
    for folder in (*_wheel_folders(), *_toolkit_folders()):
        path = folder / LIBRARY
        if path.is_file():
            return str(path.resolve())
    return None


def _wheel_folders() -> list[Path]:
    spec = PathFinder.find_spec("nvidia")
    roots = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    return [root / part for root in roots for part in ("cu13/lib", "cuda_cupti/lib")]


def _toolkit_folders() -> list[Path]:
    roots = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)] + list(_TOOLKITS)
    return [Path(root) / part for root in roots for part in ("extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib")]
