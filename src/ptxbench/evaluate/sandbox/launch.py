"""How a candidate's process is started: the command, its environment, and the first message that sets it up."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ptxbench.core.errors import JudgeError
from ptxbench.core.extras import how_to_install
from ptxbench.evaluate.sandbox.staging import POISON, Staging
from ptxbench.schema import Language, Limits

BOOT = Path(__file__).parent / "inside" / "boot.py"
INHERITED = ("LD_LIBRARY_PATH",)
"""All that a child inherits from the environment: some interpreters need it to find their own library."""
CUDA_ENVIRONMENT = {"CUDA_CACHE_DISABLE": "1", "CUDA_MODULE_LOADING": "LAZY"}
"""A candidate is machine code, so nothing is compiled at run time and no cache is kept; its modules are loaded when first used."""
SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-caps", "/dev/dxg")
"""Device files that every user of a GPU opens, whichever it is."""
PYTHON_PACKAGES = ("numpy", "numpy.libs", "ml_dtypes")
"""Folders that the packages have beside each other which a candidate in Python may import."""
RESULTS_BYTES = 8 << 20
"""Room for an answer that is too long for a message."""


@dataclass(frozen=True)
class Program:
    """What a child runs: the library's bytes (C++), or entry file and sources as JSON (Python)."""

    language: Language
    symbol: str
    payload: bytes


@dataclass(frozen=True)
class Tool:
    """A tool that runs a child: its command, put in front of the child's own, and what it needs in the environment.

    ``sandbox`` is ``tool`` for a child with a command in front of it, ``dump`` for one whose driver will start a helper that
    writes a core dump (see ``inside/protect.py``). ``poisoned`` says whether outputs of exactly their sizes begin as poison: who
    looks for reads of what nobody wrote must not see that written.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    poisoned: bool = True
    sandbox: Literal["tool", "dump"] = "tool"


@dataclass(frozen=True)
class LentBuffer:
    """Device memory of the judge's as a POSIX file descriptor (``cuMemExportToShareableHandle``) that a child maps."""

    descriptor: int
    size_bytes: int
    writable: bool


@dataclass(frozen=True)
class DeviceSetup:
    """What a child on a GPU gets beside its program.

    Attributes:
        uuid: the only device that it sees (``GPU-…``); None leaves the judge's own choice of devices as it is.
        buffers: what it may map, in the order that the arguments count them in.
        arguments: of each slot, every argument of a call: ``{"buffer", "offset", "shape", "dtype"}`` or ``{"value"}``.
        flush_bytes: size of the buffer that is written before each timed call to empty the L2 cache; 0 when nothing is timed.
        exact: give the calls copies of slot 0 in allocations of exactly the tensors' sizes, for a memory checker to watch.
        cupti: the file of CUPTI's library, None for a child that neither times by it nor counts.
        libraries: what the candidate is linked with, loaded before it (the CUDA runtime).
        fill_shared: the cubin of the kernel that poisons shared memory before each compared call; None where nothing is compared.
    """

    uuid: str | None
    buffers: tuple[LentBuffer, ...]
    arguments: list[list[dict[str, Any]]]
    flush_bytes: int
    exact: bool
    cupti: str | None
    libraries: tuple[str, ...]
    fill_shared: str | None = None


def start(
    channel: int, shared: Sequence[int], device: DeviceSetup | None = None, tool: Tool | None = None
) -> subprocess.Popen[bytes]:
    """Start a process that knows the descriptors ``channel`` and ``shared`` and nothing else. Raises ``OSError``."""
    command = [sys.executable, "-I", "-S", "-u", str(BOOT), str(channel)]
    return subprocess.Popen(
        [*tool.argv, *command] if tool else command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(channel, *shared),
        env=_environment(device, tool),
        cwd="/",
        start_new_session=True,
        bufsize=0,
    )


def _environment(device: DeviceSetup | None, tool: Tool | None) -> dict[str, str]:
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    kept |= {"LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    if device is not None:
        visible = device.uuid or os.environ.get("CUDA_VISIBLE_DEVICES")
        kept |= CUDA_ENVIRONMENT | ({"CUDA_VISIBLE_DEVICES": visible} if visible else {})
    return kept | dict(tool.env if tool else {})


def setup_message(
    program: Program | None,
    staging: Staging | None,
    limits: Limits,
    cpus: Sequence[int],
    payload: int,
    device: DeviceSetup | None = None,
    tool: Tool | None = None,
    results: int = -1,
) -> dict[str, Any]:
    """Return the first message: what to map, which limits to set, what to run."""
    staging_bytes = staging.layout.size_bytes if staging else 0
    calls = 64 * max(limits.run_s, 1.0) + limits.load_s
    setup: dict[str, Any] = {
        "judge": os.getpid(),
        "sandbox": "full" if tool is None else tool.sandbox,
        "staging": staging.descriptor if staging else -1,
        "staging_bytes": staging_bytes,
        "memory_bytes": limits.child_bytes,
        "file_bytes": limits.file_bytes,
        "cpu_seconds": int(calls * 4) + 60,
        "processes": limits.processes,
        "cpus": list(cpus),
        "readable": [],
        "scratch": [tool.env["TMPDIR"]] if tool and tool.sandbox == "tool" and "TMPDIR" in tool.env else [],
        "language": program.language.value if program else None,
        "payload": payload,
        "arguments": [slot.arguments() for slot in staging.layout.slots] if staging else [],
    }
    if device is not None:
        setup |= _device_message(device, tool, results)
    if program is None:
        return setup
    setup["symbol"] = program.symbol
    if program.language is Language.PYTHON:
        folders = _package_folders()
        setup |= {"packages": folders, "readable": [*_interpreter_folders(), *_packages(folders, PYTHON_PACKAGES)]}
    else:
        setup["runtime"] = tvm_ffi_library()
    return setup


def _device_message(device: DeviceSetup, tool: Tool | None, results: int) -> dict[str, Any]:
    readable = [*_interpreter_folders(), *([str(Path(device.cupti).parent)] if device.cupti else [])]
    if tool is not None and tool.argv:
        # A tool's library is loaded into the child from below the tool's own folder.
        readable.append(str(Path(tool.argv[0]).resolve().parents[1]))
    return {
        "arguments": device.arguments,
        "libraries": list(device.libraries),
        "readable": readable,
        "device": {
            "ordinal": 0,
            "nodes": device_nodes(device.uuid),
            "buffers": [{"fd": one.descriptor, "bytes": one.size_bytes, "writable": one.writable} for one in device.buffers],
            "exact": device.exact,
            "flush_bytes": device.flush_bytes,
            "results": results,
            "results_bytes": RESULTS_BYTES,
            "poison": POISON if tool is None or tool.poisoned else None,
            "cupti": device.cupti,
            "fill_shared": base64.b64encode(Path(device.fill_shared).read_bytes()).decode() if device.fill_shared else None,
        },
    }


def device_nodes(uuid: str | None) -> list[str]:
    """Return the device files of one GPU and those that all share; of every GPU where it cannot be told apart."""
    minors = []
    for information in Path("/proc/driver/nvidia/gpus").glob("*/information"):
        facts = dict(line.split(":", 1) for line in information.read_text(encoding="utf-8").splitlines() if ":" in line)
        if facts.get("GPU UUID", "").strip() == uuid and "Device Minor" in facts:
            minors.append(facts["Device Minor"].strip())
    own = [Path(f"/dev/nvidia{minor}") for minor in minors] or sorted(Path("/dev").glob("nvidia[0-9]*"))
    return [*map(str, own), *SHARED_NODES]


def _package_folders() -> list[str]:
    """Return the folders that hold the packages a Python candidate may import."""
    import ml_dtypes
    import numpy

    return list(dict.fromkeys(str(Path(module.__file__).resolve().parents[1]) for module in (numpy, ml_dtypes) if module.__file__))


def _packages(folders: Sequence[str], names: Sequence[str]) -> list[str]:
    places = [Path(folder) / name for folder in folders for name in names]
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
