"""Where CUPTI is: its library, found without loading anything."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from ptxbench.core.settings import Settings

LIBRARY = "libcupti.so.13"
_TOOLKITS = ("/usr/local/cuda",)


def locate(settings: Settings) -> str | None:
    """Return the file of CUPTI's library, None when there is none: as set, in a wheel (torch brings one), in a toolkit.

    One that is set need not be there: whoever loads it says so.
    """
    if settings.cupti is not None:
        return str(settings.cupti.expanduser().absolute())
    for folder in (*_wheel_folders(), *_toolkit_folders()):
        path = folder / LIBRARY
        if path.is_file():
            return str(path.resolve())
    return None


def _wheel_folders() -> list[Path]:
    spec = find_spec("nvidia")
    roots = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    return [root / part for root in roots for part in ("cu13/lib", "cuda_cupti/lib")]


def _toolkit_folders() -> list[Path]:
    roots = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)] + list(_TOOLKITS)
    return [
        Path(root) / part for root in roots for part in ("extras/CUPTI/lib64", "lib64", f"targets/{os.uname().machine}-linux/lib")
    ]
