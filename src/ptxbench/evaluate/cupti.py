"""Where CUPTI is: its library, found without loading anything."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from ptxbench.evaluate.sandbox.launch import CuptiPaths

LIBRARY = "libcupti.so.13"
_TOOLKITS = ("/usr/local/cuda",)


def locate() -> CuptiPaths:
    """Return where CUPTI's library is: in a wheel (torch brings one), in a toolkit that a variable names, or in the usual place."""
    for folder in (*_wheel_folders(), *_toolkit_folders()):
        path = folder / LIBRARY
        if path.is_file():
            return CuptiPaths(library=str(path.resolve()))
    return CuptiPaths(library=None)


def _wheel_folders() -> list[Path]:
    spec = find_spec("nvidia")
    roots = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    return [root / part for root in roots for part in ("cu13/lib", "cuda_cupti/lib")]


def _toolkit_folders() -> list[Path]:
    roots = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)] + list(_TOOLKITS)
    return [
        Path(root) / part for root in roots for part in ("extras/CUPTI/lib64", "lib64", f"targets/{os.uname().machine}-linux/lib")
    ]
