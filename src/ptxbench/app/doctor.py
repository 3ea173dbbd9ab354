"""Doctor: what is here and what is missing, each line with its fix."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Literal

from ptxbench.core.errors import InfrastructureError, PtxbenchError, StorageError, ToolMissing
from ptxbench.core.extras import how_to_install
from ptxbench.core.settings import Settings
from ptxbench.schema import SCHEMA_VERSION, Language, Record

LEAST_FREE_BYTES = 2 << 30
"""Less free space than this is reported: a build needs tens of MB, a long run some GB."""

LEAST_DRIVER = 580
"""Major version of the first driver for CUDA 13 (CUDA 13.0 release notes)."""

KEYS = ("PTXBENCH_MODEL_KEY", "OPENAI_API_KEY", "PTXBENCH_MODEL_URL", "OPENAI_BASE_URL")
"""Environment variables that openai/NAME reads; their presence (never their value) is reported."""

REPORT = "run the command again with -v, and report what it says"

Status = Literal["ok", "missing", "failed"]


class Check(Record):
    """One line: ``required`` says whether a machine without a GPU needs it too."""

    name: str
    status: Status
    value: str | None
    where: str | None
    fix: str | None
    required: bool = False


class DoctorReport(Record):
    """All checks. ``ok``: nothing is missing at all; ``usable``: what every machine needs is here."""

    schema_version: int = SCHEMA_VERSION
    ok: bool
    usable: bool
    summary: str
    checks: tuple[Check, ...]


def examine(settings: Settings) -> DoctorReport:
    """Look at this machine and return what was found."""
    looks: dict[str, Callable[[], Iterator[Check]]] = {
        "python": _python,
        "compiler": partial(_toolchain, settings),
        "gpu": _gpu,
        "profilers": partial(_profilers, settings),
        "sandbox": _sandbox,
        "models": _models,
        "disk": partial(_disk, settings),
    }
    checks = tuple(check for name, look in looks.items() for check in _looked(name, look))
    usable = all(check.status == "ok" for check in checks if check.required)
    gpu = any(check.name == "gpu" and check.status == "ok" for check in checks)
    if not usable:
        first = ", ".join(dict.fromkeys(check.name for check in checks if check.required and check.status != "ok"))
        summary = f"Not usable yet: fix these lines first: {first}."
    elif gpu and find_spec("torch") is not None:
        summary = "Ready: kernels are compiled, run, measured and proven here."
    elif gpu:
        summary = f"A GPU is here, but not what judges on it: {how_to_install('gpu')}"
    else:
        summary = "Ready without a GPU: policy, compilation and static census of CUDA kernels, and full verdicts of CPU tasks."
    return DoctorReport(ok=all(check.status == "ok" for check in checks), usable=usable, summary=summary, checks=checks)


def _looked(name: str, look: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """Yield the checks of one look; what it trips over is a failed line, and the other looks go on."""
    try:
        yield from look()
    except PtxbenchError as error:
        yield Check(name=name, status="failed", value=error.message, where=None, fix=error.next_step or REPORT, required=True)


def _python() -> Iterator[Check]:
    good = sys.version_info >= (3, 11)
    fix = None if good else "use Python 3.11 or newer: make setup PYTHON=python3.12"
    yield Check(
        name="python", status="ok" if good else "failed", value=platform.python_version(), where=None, fix=fix, required=True
    )


def _toolchain(settings: Settings) -> Iterator[Check]:
    from ptxbench.arch import ARCHITECTURES
    from ptxbench.toolchain import locate, locate_host
    from ptxbench.toolchain.tools import CHOOSE

    try:
        tools = locate(settings)
    except PtxbenchError as error:
        yield Check(name="nvcc", status="missing", value=error.message, where=None, fix=error.next_step, required=True)
    else:
        versions = tools.versions
        broken = _broken(settings, Language.CUDA, *(name for name, arch in ARCHITECTURES.items() if arch.is_gpu))
        mend = f"unset PTXBENCH_TOOLKIT, or {CHOOSE}" if tools.origin == "setting" else CHOOSE
        for name, value in (("nvcc", versions.nvcc), ("ptxas", versions.ptxas), ("nvdisasm", versions.nvdisasm)):
            status: Status = "ok" if value else "missing"
            fix = None if value else how_to_install("compile")
            if name == "nvcc" and broken is not None:
                status, fix = "failed", f"{broken}; {mend}"
            yield Check(name=name, status=status, value=value, where=tools.origin, fix=fix, required=True)
    try:
        host = locate_host(settings)
    except PtxbenchError as error:
        yield Check(name="host compiler", status="missing", value=error.message, where=None, fix=error.next_step, required=True)
    else:
        broken = _broken(settings, Language.CPP, "cpu")
        yield Check(
            name="host compiler",
            status="ok" if broken is None else "failed",
            value=host.versions.host_compiler,
            where=settings.host_compiler,
            fix=None
            if broken is None
            else f"{broken}; install g++ anew, or set PTXBENCH_HOST_COMPILER to a C++ compiler that works",
            required=True,
        )
        yield Check(name="tvm-ffi", status="ok", value=host.versions.tvm_ffi, where="package", fix=None, required=True)


def _broken(settings: Settings, language: Language, *archs: str) -> str | None:
    """Return what the compiler says to the least kernel that it does not compile, None when it compiles them.

    In a folder of its own: a cache that cannot be written is no fault of the compiler's.
    """
    from ptxbench.toolchain import Builder

    try:
        with TemporaryDirectory(prefix="ptxbench-doctor-") as folder:
            builder = Builder(settings.model_copy(update={"cache_dir": Path(folder)}))
            for arch in archs:
                builder.ensure_works(language, arch)
    except OSError as error:
        step = "set TMPDIR to a folder that can be written"
        raise StorageError(f"there is no folder for temporary files: {error.strerror}", next_step=step) from error
    except StorageError:
        raise
    except InfrastructureError as error:
        return error.message
    return None


def _gpu() -> Iterator[Check]:
    from ptxbench.arch import ARCHITECTURES
    from ptxbench.evaluate.gpu import visible_gpus

    found = visible_gpus()
    yield _driver(found.driver)
    if found.devices:
        names = "; ".join(device.name for device in found.devices)
        archs = [arch.name for arch in ARCHITECTURES.values() if any(device.runs(arch) for device in found.devices)]
        runs = f"runs {', '.join(archs)}" if archs else "runs no architecture of ptxbench"
        fix = None if archs else "kernels are compiled and looked into, not run: sm_90a needs an H100 or H200, sm_100a a B200"
        yield Check(name="gpu", status="ok" if archs else "failed", value=names, where=runs, fix=fix)
    else:
        fix = f"{found.reason}; kernels are compiled and looked into, not run; CPU tasks need none"
        yield Check(name="gpu", status="missing", value=None, where=None, fix=fix)
    admin_only = _counters_admin_only()
    if admin_only is None:
        yield Check(name="counters", status="missing", value=None, where=None, fix="no NVIDIA driver is loaded on this machine")
    elif admin_only:
        # Root may read them, but candidates do not run as root: they are counted where ncu runs, and nowhere else.
        fix = "load the driver with NVreg_RestrictProfilingToAdminUsers=0; until then executed instructions stay unknown"
        yield Check(name="counters", status="failed", value="admin only", where=None, fix=fix)
    else:
        yield Check(name="counters", status="ok", value="allowed", where=None, fix=None)
    yield _package("torch", "torch", "gpu")
    yield _package("nvidia-ml-py", "pynvml", "gpu")


def _driver(version: str | None) -> Check:
    """Check that the driver is one for CUDA 13, which the bundled compiler's binaries need."""
    if version is None:
        return Check(name="driver", status="missing", value=None, where=None, fix="install the NVIDIA driver 580 or newer")
    major = version.partition(".")[0]
    enough = major.isdigit() and int(major) >= LEAST_DRIVER
    fix = None if enough else f"install the NVIDIA driver {LEAST_DRIVER} or newer: binaries of CUDA 13 need it"
    return Check(name="driver", status="ok" if enough else "failed", value=version, where=None, fix=fix)


def _counters_admin_only() -> bool | None:
    """Return whether only root may read performance counters, None without a driver."""
    try:
        text = Path("/proc/driver/nvidia/params").read_text()
    except OSError:
        return None
    return "RmProfilingAdminOnly: 1" in text


def _profilers(settings: Settings) -> Iterator[Check]:
    from ptxbench.evaluate.cupti import locate as locate_cupti
    from ptxbench.evaluate.tools import locate

    tools = (("ncu", locate.ncu), ("compute-sanitizer", locate.compute_sanitizer), ("cuda-gdb", locate.cuda_gdb))
    for name, find in tools:
        try:
            path = find(settings)
            said = locate.version(path)
        except ToolMissing as error:
            yield Check(name=name, status="missing", value=None, where=None, fix=f"{error.message}; {error.next_step}")
        else:
            fix = None if said else "it does not say its version: reinstall it"
            yield Check(name=name, status="ok" if said else "failed", value=said, where=str(path), fix=fix)
    try:
        folders = locate.ncu_report_folders(settings)
    except ToolMissing as error:
        yield Check(name="ncu_report", status="missing", value=None, where=None, fix=error.next_step)
    else:
        yield Check(name="ncu_report", status="ok", value="found", where=str(folders[0]), fix=None)
    library = locate_cupti(settings)
    there = library is not None and Path(library).is_file()
    fix = None if there else f"{how_to_install('gpu')}, or install a CUDA toolkit: without CUPTI latencies are by events only"
    yield Check(name="cupti", status="ok" if there else "missing", value="found" if there else None, where=library, fix=fix)


def _package(distribution: str, module: str, extra: str) -> Check:
    """Check for a Python package without importing it."""
    if find_spec(module) is None:
        return Check(name=distribution, status="missing", value=None, where=None, fix=how_to_install(extra))
    try:
        found = version(distribution)
    except PackageNotFoundError:
        found = "unknown version"
    return Check(name=distribution, status="ok", value=found, where="package", fix=None)


def _sandbox() -> Iterator[Check]:
    from ptxbench.evaluate.sandbox import protections

    active = protections()
    missing = [name for name, on in active.items() if not on]
    yield Check(
        name="sandbox",
        status="failed" if missing else "ok",
        value=", ".join(name for name, on in active.items() if on) or None,
        where=None,
        fix=f"this kernel does not offer: {', '.join(missing)}; run only candidates that you trust" if missing else None,
    )


def _models() -> Iterator[Check]:
    yield _package("openai", "openai", "agent")
    present = [key for key in KEYS if os.environ.get(key)]
    fix = "export OPENAI_API_KEY=KEY (and OPENAI_BASE_URL for a server of your own); replay/FILE needs none"
    yield Check(
        name="model credentials",
        status="ok" if present else "missing",
        value=", ".join(present) or None,
        where="environment" if present else None,
        fix=None if present else fix,
    )


def _disk(settings: Settings) -> Iterator[Check]:
    folder = settings.cache_dir
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    try:
        with TemporaryFile(dir=folder):
            refused = None
    except OSError as error:
        refused = error.strerror
    if refused is not None:
        value = f"not writable: {refused}"
        fix = f"the cache cannot be kept: make {folder} writable, or set PTXBENCH_CACHE_DIR to a folder that is"
    else:
        value = f"{free / 2**30:.1f} GiB free"
        fix = "free some space, or set PTXBENCH_CACHE_DIR to a folder on another disk"
    enough = refused is None and free >= LEAST_FREE_BYTES
    yield Check(
        name="disk",
        status="ok" if enough else "failed",
        value=value,
        where=str(settings.cache_dir),
        fix=None if enough else fix,
        required=True,
    )
