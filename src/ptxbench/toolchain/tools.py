"""The tools of a build: where they are and which versions they have.

A toolkit that the user names comes first, then the wheels of the ``compile`` extra, then a toolkit of the system. Only files
are looked at; neither ``tvm_ffi`` nor anything of CUDA is imported (importing ``tvm_ffi`` would pull torch where it is installed).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ptxbench.core.errors import ToolMissing
from ptxbench.core.extras import how_to_install
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.core.settings import Settings
from ptxbench.schema import ToolchainVersions

Origin = Literal["setting", "wheels", "system"]

INSTALL = how_to_install("compile")
CHOOSE = f"{INSTALL}, or set PTXBENCH_TOOLKIT to the root of a CUDA toolkit (13.0 or newer)"
SYSTEM_PATH = "/usr/bin:/bin"
"""Where the shell and the assembler and linker of the host compiler live; a build sees no more of the user's PATH."""

_RUNTIME = re.compile(r"libcudart\.so\.\d+")
_LIBRARY_FOLDERS = ("lib", "lib64", f"targets/{os.uname().machine}-linux/lib", "targets/sbsa-linux/lib")


@dataclass(frozen=True)
class HostToolchain:
    """What builds C++ candidates: the host compiler and TVM-FFI's headers and library."""

    host_compiler: Path
    tvm_include: Path
    tvm_library: Path

    @cached_property
    def versions(self) -> ToolchainVersions:
        """Versions of the host compiler and of TVM-FFI; the rest is None."""
        return ToolchainVersions(
            nvcc=None,
            ptxas=None,
            host_compiler=tool_version(self.host_compiler),
            nvdisasm=None,
            tvm_ffi=_tvm_version(self.tvm_include),
        )

    @property
    def path(self) -> str:
        """The PATH of a build."""
        return f"{self.host_compiler.parent}:{SYSTEM_PATH}"


@dataclass(frozen=True)
class Toolchain(HostToolchain):
    """What builds CUDA candidates. ``root`` holds ``bin/nvcc``; nvdisasm and cuobjdump may come from elsewhere."""

    origin: Origin
    root: Path
    nvcc: Path
    ptxas: Path
    nvdisasm: Path
    cuobjdump: Path | None
    cudart: Path
    """``libcudart.so.<major>``: what a candidate is linked with and what must be loaded before it."""

    @cached_property
    def versions(self) -> ToolchainVersions:
        """Versions of every tool."""
        return ToolchainVersions(
            nvcc=tool_version(self.nvcc),
            ptxas=tool_version(self.ptxas),
            host_compiler=tool_version(self.host_compiler),
            nvdisasm=tool_version(self.nvdisasm),
            tvm_ffi=_tvm_version(self.tvm_include),
        )


def locate(settings: Settings) -> Toolchain:
    """Return the tools that build CUDA candidates. Raises ``ToolMissing`` that names what to install or set."""
    host = locate_host(settings)
    origin, root = _toolkit(settings)
    ptxas = root / "bin" / "ptxas"
    if not _runs(ptxas):
        raise ToolMissing(f"{root} holds nvcc but no ptxas", next_step=CHOOSE, tool="ptxas")
    nvdisasm = _companion("nvdisasm", root)
    if nvdisasm is None:
        raise ToolMissing(
            "nvdisasm was not found: without it no kernel's instructions can be counted", next_step=CHOOSE, tool="nvdisasm"
        )
    return Toolchain(
        host_compiler=host.host_compiler,
        tvm_include=host.tvm_include,
        tvm_library=host.tvm_library,
        origin=origin,
        root=root,
        nvcc=root / "bin" / "nvcc",
        ptxas=ptxas,
        nvdisasm=nvdisasm,
        cuobjdump=_companion("cuobjdump", root),
        cudart=_runtime(root),
    )


def locate_host(settings: Settings) -> HostToolchain:
    """Return the tools that build C++ candidates. Raises ``ToolMissing`` that names what to install or set."""
    found = shutil.which(settings.host_compiler) or shutil.which(settings.host_compiler, path=SYSTEM_PATH)
    if found is None:
        step = "install g++ (Debian, Ubuntu: apt install g++), or set PTXBENCH_HOST_COMPILER to a C++ compiler"
        raise ToolMissing(f"the C++ compiler {settings.host_compiler!r} was not found", next_step=step, tool=settings.host_compiler)
    package = _package_folder("tvm_ffi")
    include = package / "include" if package else None
    library = package / "lib" / "libtvm_ffi.so" if package else None
    if include is None or library is None or not (include / "tvm" / "ffi" / "tvm_ffi.h").is_file() or not library.is_file():
        raise ToolMissing(
            "TVM-FFI's headers and library were not found", next_step=f"{INSTALL} (it brings apache-tvm-ffi)", tool="tvm_ffi"
        )
    return HostToolchain(host_compiler=Path(found).absolute(), tvm_include=include, tvm_library=library)


def _toolkit(settings: Settings) -> tuple[Origin, Path]:
    if settings.toolkit is not None:
        root = settings.toolkit.expanduser().absolute()
        if not _runs(root / "bin" / "nvcc"):
            step = "set PTXBENCH_TOOLKIT to a folder that holds bin/nvcc, or unset it to use the wheels"
            raise ToolMissing(f"PTXBENCH_TOOLKIT is {root}, which holds no bin/nvcc", next_step=step, tool="nvcc")
        return "setting", root
    for root in _wheel_roots():
        if _runs(root / "bin" / "nvcc"):
            return "wheels", root
    for root in _system_roots():
        if _runs(root / "bin" / "nvcc"):
            return "system", root
    raise ToolMissing("no CUDA compiler was found (no wheel, no CUDA_HOME, no nvcc on PATH)", next_step=CHOOSE, tool="nvcc")


def _wheel_roots() -> Iterator[Path]:
    """Folders where NVIDIA's wheels put a toolkit (``site-packages/nvidia/cu13``), the newest CUDA first."""
    spec = find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        yield from sorted((path for path in Path(folder).glob("cu[0-9]*") if path.is_dir()), key=_cuda_major, reverse=True)


def _cuda_major(folder: Path) -> int:
    digits = folder.name.removeprefix("cu")
    return int(digits) if digits.isdigit() else 0


def _system_roots() -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if value := os.environ.get(variable):
            yield Path(value).absolute()
    if nvcc := shutil.which("nvcc"):
        yield Path(nvcc).resolve().parents[1]
    yield Path("/usr/local/cuda")


def _companion(name: str, root: Path) -> Path | None:
    """Find a tool that need not be of the compiler's own toolkit: nvdisasm of 13.2 reads what ptxas of 13.0 wrote."""
    for other in (root, *_wheel_roots(), *_system_roots()):
        if _runs(other / "bin" / name):
            return other / "bin" / name
    found = shutil.which(name)
    return Path(found).absolute() if found else None


def _runtime(root: Path) -> Path:
    for folder in _LIBRARY_FOLDERS:
        found = [path for path in (root / folder).glob("libcudart.so.*") if _RUNTIME.fullmatch(path.name)]
        if found:
            return max(found, key=lambda path: int(path.name.rpartition(".")[2]))
    raise ToolMissing(f"{root} holds no libcudart.so", next_step=CHOOSE, tool="libcudart")


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _package_folder(name: str) -> Path | None:
    spec = find_spec(name)
    locations = list(spec.submodule_search_locations or ()) if spec else []
    return Path(locations[0]) if locations else None


def _tvm_version(include: Path) -> str:
    try:
        return metadata.version("apache-tvm-ffi")
    except metadata.PackageNotFoundError:
        # A source tree on PYTHONPATH carries no metadata; its version file does say.
        text = (include.parent / "_version.py").read_text(encoding="utf-8", errors="replace")
        found = re.search(r"version(?:__)?\s*=\s*['\"]([^'\"]+)", text)
        return found[1] if found else "unknown"


def tool_version(path: Path) -> str:
    """Return a tool's version text: ``13.0.88`` for NVIDIA's tools, the first line of ``--version`` for others.

    Asked once per process and file (path, size and time of change). Raises ``ToolMissing`` when the tool does not answer.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise ToolMissing(f"cannot use {path}: {error.strerror}", next_step=CHOOSE, tool=path.name) from error
    return _ask_version(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _ask_version(path: Path, _size: int, _changed_ns: int) -> str:
    env = {"PATH": f"{path.parent}:{SYSTEM_PATH}", "LC_ALL": "C"}
    done = run_tool([str(path), "--version"], limits=ProcessLimits(wall_seconds=60), env=env)
    lines = done.stdout.splitlines()
    if not done.ok or not lines:
        raise ToolMissing(f"{path} does not answer --version", next_step=CHOOSE, tool=path.name)
    release = re.search(r"release [\d.]+, V([\d.]+)", done.stdout)
    return release[1] if release else lines[0].strip()
