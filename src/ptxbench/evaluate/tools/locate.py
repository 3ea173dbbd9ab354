"""Where compute-sanitizer, Nsight Compute and cuda-gdb are. Only files are looked at: nothing is imported, nothing is started.

A program that the user names comes first, then the PATH, the wheels' folders, the toolkit that a variable names, and the folders
that NVIDIA's installers use.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from ptxbench.core.errors import ToolMissing
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.core.settings import Settings

SYSTEM_PATH = "/usr/bin:/bin"
"""PATH of every tool: some are shell scripts that look for their own folder with the system's programs."""
LAUNCHER = "TreeLauncherSubreaper"
"""What compute-sanitizer starts programs with. The wheel of its API holds the program without it (13.0) or with it (13.5)."""

_TOOLKITS = (Path("/usr/local/cuda"),)
_NSIGHT = Path("/opt/nvidia/nsight-compute")
_VERSION = re.compile(r"(?:^Version |cuda-gdb\S* )(\d+(?:\.\d+)+)", re.MULTILINE)
_LIMITS = ProcessLimits(wall_seconds=20, output_bytes=1 << 16)


@dataclass(frozen=True)
class _Sought:
    """A program, how a user can name another one, and where it comes from."""

    name: str
    setting: str
    source: str
    needs: str | None = None
    """A file without which the program, where it is no script, cannot start anything."""


_SANITIZER = _Sought(
    "compute-sanitizer",
    "compute_sanitizer",
    "install a CUDA toolkit (13.0 or newer), or pip install 'nvidia-cuda-sanitizer-api>=13.5'",
    needs=LAUNCHER,
)
_NCU = _Sought("ncu", "ncu", "install Nsight Compute (it comes with a CUDA toolkit)")
_CUDA_GDB = _Sought("cuda-gdb", "cuda_gdb", "install a CUDA toolkit (13.0 or newer)")


def compute_sanitizer(settings: Settings) -> Path:
    """Return the program compute-sanitizer. Raises ``ToolMissing``."""
    return _locate(_SANITIZER, settings.compute_sanitizer)


def ncu(settings: Settings) -> Path:
    """Return the program ncu. Raises ``ToolMissing``."""
    return _locate(_NCU, settings.ncu)


def cuda_gdb(settings: Settings) -> Path:
    """Return the program cuda-gdb. Raises ``ToolMissing``."""
    return _locate(_CUDA_GDB, settings.cuda_gdb)


def ncu_report_folders(settings: Settings) -> tuple[Path, ...]:
    """Return the folders whose ``ncu_report`` can be tried, the package's first, then Nsight Compute's own.

    A newer ncu may write what an older package does not read, so the second is worth a try. Raises ``ToolMissing`` for none.
    """
    spec = PathFinder.find_spec("ncu_report")
    found = (
        [Path(spec.origin).parent.parent if spec.submodule_search_locations else Path(spec.origin).parent]
        if (spec and spec.origin)
        else []
    )
    for root in _nsight_roots(settings):
        folder = root / "extras" / "python"
        if (folder / "ncu_report.py").is_file():
            found.append(folder)
    if not found:
        step = f"pip install ncu-report, or {_NCU.source}"
        raise ToolMissing("ncu_report was not found: without it no report of ncu can be read", next_step=step, tool="ncu_report")
    return tuple(dict.fromkeys(found))


def version(program: Path) -> str | None:
    """Return a tool's version (``2025.3.1.0``), None when it does not say one. Raises ``ToolMissing`` when it cannot be started."""
    done = run_tool([str(program), "--version"], limits=_LIMITS, env={"PATH": SYSTEM_PATH, "LC_ALL": "C"})
    found = _VERSION.search(done.stdout)
    return found[1] if done.ok and found else None


def _locate(sought: _Sought, chosen: Path | None) -> Path:
    variable = f"PTXBENCH_{sought.setting.upper()}"
    if chosen is not None:
        path = chosen.expanduser().absolute()
        if not _runs(path):
            step = f"set {variable} to the program {sought.name}, or unset it"
            raise ToolMissing(f"{variable} is {path}, which is no program", next_step=step, tool=sought.name)
        return path
    broken = None
    for path in _places(sought.name):
        if not _runs(path):
            continue
        if _is_complete(path, sought.needs):
            return path
        broken = broken or path
    step = f"{sought.source}, or set {variable} to the program"
    if broken is not None:
        raise ToolMissing(f"{broken} cannot start programs: {sought.needs} is not beside it", next_step=step, tool=sought.name)
    raise ToolMissing(f"{sought.name} was not found", next_step=step, tool=sought.name)


def _places(name: str) -> Iterator[Path]:
    on_path = shutil.which(name)
    if on_path:
        yield Path(on_path).absolute()
    for root in (*_wheel_roots(), *_toolkit_roots()):
        yield root / "bin" / name
        yield root / name / name
    for root in _newest_first(_NSIGHT):
        yield root / name


def _nsight_roots(settings: Settings) -> Iterator[Path]:
    """Folders of Nsight Compute: that of the ncu in use first."""
    with contextlib.suppress(ToolMissing):  # without an ncu of this machine its reports can still be read
        yield ncu(settings).resolve().parent
    yield from _newest_first(_NSIGHT)
    for root in _toolkit_roots():
        yield from _newest_first(root, "nsight-compute-*")


def _newest_first(folder: Path, pattern: str = "*") -> list[Path]:
    return sorted((path for path in folder.glob(pattern) if path.is_dir()), key=lambda path: _numbers(path.name), reverse=True)


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", name)))


def _wheel_roots() -> list[Path]:
    """Folders where NVIDIA's wheels put programs (``site-packages/nvidia/cu13``), the newest CUDA first."""
    spec = PathFinder.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return [root for folder in folders for root in _newest_first(Path(folder), "cu[0-9]*")]


def _toolkit_roots() -> list[Path]:
    named = [Path(os.environ[name]).absolute() for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    return [*named, *_TOOLKITS]


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _is_complete(path: Path, needs: str | None) -> bool:
    """Whether what a program needs lies beside it; a script knows by itself where the program is that it starts."""
    if needs is None:
        return True
    program = path.resolve()
    with program.open("rb") as stream:
        is_binary = stream.read(4) == b"\x7fELF"
    return not is_binary or (program.parent / needs).is_file()
