"""How a candidate's process is started: the command, its environment, and the first message that sets it up."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptxbench.core.errors import JudgeError
from ptxbench.core.extras import how_to_install
from ptxbench.evaluate.sandbox.staging import Staging
from ptxbench.schema import Language, Limits

BOOT = Path(__file__).parent / "inside" / "boot.py"
HOST_BYTES = 4 << 30
"""Address space of a CPU candidate beside its staging buffer (a task may set less)."""
INHERITED = ("LD_LIBRARY_PATH",)
"""All that a child inherits from the environment: some interpreters need it to find their own library."""


@dataclass(frozen=True)
class Program:
    """What a child runs: the library's bytes (C++), or entry file and sources as JSON (Python)."""

    language: Language
    symbol: str
    payload: bytes


def start(channel: int, shared: Sequence[int]) -> subprocess.Popen[bytes]:
    """Start a process that knows the descriptors ``channel`` and ``shared`` and nothing else. Raises ``OSError``."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-u", str(BOOT), str(channel)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(channel, *shared),
        env=_environment(),
        cwd="/",
        start_new_session=True,
        bufsize=0,
    )


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return kept | {"LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def setup_message(
    program: Program | None, staging: Staging | None, limits: Limits, cpus: Sequence[int], payload: int
) -> dict[str, Any]:
    """Return the first message: what to map, which limits to set, what to run."""
    staging_bytes = staging.layout.size_bytes if staging else 0
    calls = 64 * max(limits.run_s, 1.0) + limits.load_s
    setup: dict[str, Any] = {
        "judge": os.getpid(),
        "staging": staging.descriptor if staging else -1,
        "staging_bytes": staging_bytes,
        "memory_bytes": min(limits.child_bytes, HOST_BYTES + staging_bytes),
        "file_bytes": limits.file_bytes,
        "cpu_seconds": int(calls * 4) + 60,
        "processes": limits.processes,
        "cpus": list(cpus),
        "readable": [],
        "language": program.language.value if program else None,
        "payload": payload,
        "arguments": [slot.arguments() for slot in staging.layout.slots] if staging else [],
    }
    if program is None:
        return setup
    setup["symbol"] = program.symbol
    if program.language is Language.PYTHON:
        folders = _package_folders()
        setup |= {"packages": folders, "readable": [*_interpreter_folders(), *_packages(folders)]}
    else:
        setup["runtime"] = tvm_ffi_library()
    return setup


def _package_folders() -> list[str]:
    """Return the folders that hold the packages a Python candidate may import."""
    import ml_dtypes
    import numpy

    return list(dict.fromkeys(str(Path(module.__file__).resolve().parents[1]) for module in (numpy, ml_dtypes) if module.__file__))


def _packages(folders: Sequence[str]) -> list[str]:
    places = [Path(folder) / name for folder in folders for name in ("numpy", "numpy.libs", "ml_dtypes")]
    return [str(place) for place in places if place.is_dir()]


def _interpreter_folders() -> list[str]:
    """Return the folders of the standard library (a system's lies below ``/usr``, which every child may read)."""
    import sysconfig

    return list(dict.fromkeys(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")))


def tvm_ffi_library() -> str:
    """Return the path of ``libtvm_ffi.so`` without importing its package. Raises ``JudgeError`` when it is not installed."""
    from importlib.util import find_spec

    spec = find_spec("tvm_ffi")
    if spec is None or spec.origin is None:
        raise JudgeError("apache-tvm-ffi is not installed", next_step=how_to_install("compile"))
    return str(Path(spec.origin).parent / "lib" / "libtvm_ffi.so")
