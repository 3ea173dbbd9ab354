"""Start modules of ours in processes of their own: the same import path, and of the environment only what is needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")
"""What a process of ours inherits by name, beside ``PTXBENCH_*``: no key of any provider is among it."""

SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
"""A variable of ours whose name holds one of these stays behind as well."""


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module with this interpreter, without the current folder on its path."""
    return [sys.executable, "-P", "-s", "-m", module, *arguments]


def module_environment(**more: str) -> dict[str, str]:
    """Return the environment of such a process: what is kept, this process's import path, and ``more``."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or _ours(name)}
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    return {**kept, "PYTHONPATH": path, **more}


def _ours(name: str) -> bool:
    return name.startswith("PTXBENCH_") and not any(word in name for word in SECRET_WORDS)
