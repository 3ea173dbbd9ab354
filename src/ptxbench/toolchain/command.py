"""The command lines of a build (protocol section 2), and the environment that they see."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ptxbench import arch as architectures
from ptxbench.schema import Candidate, Language
from ptxbench.toolchain.headers import TvmHeaders
from ptxbench.toolchain.mutation import Mutation, environment
from ptxbench.toolchain.tools import HostToolchain, Toolchain

SOURCES = "src"
"""Folder, in the scratch folder, that holds the candidate's sources and is the compiler's working folder."""
OUTPUT = "out"
"""Folder, in the scratch folder, of the library and of what the compiler's stages hand to each other."""
LIBRARY = "candidate.so"
DRIVER_ENTRY = "driver_entry.o"
"""Beside these folders: in the output folder a candidate named ``driver_entry.cu`` would take its place."""
MODULE_ID = "PTXBENCH_MODULE_ID"
"""Environment variable of the id that names of a candidate's unnamed namespaces get."""

COMPILE = ("-O3", "-std=c++17")
DEVICE = ("-lineinfo", "--ptxas-options=-v")
HOST = ("-fPIC", "-fvisibility=hidden")
LINK = "-Wl,-z,defs,--warn-unresolved-symbols"
"""Undefined symbols are reported and do not stop the linker: which of them are errors is for ``diagnostics`` to say."""


@dataclass(frozen=True)
class PolicyInputs:
    """What the policy adds to a build: a folder of marker headers, and an object that is linked in with its linker flags."""

    headers: Path
    driver_entry: Path | None = None
    link_flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """One compiler run, in the scratch folder's ``src``."""

    argv: tuple[str, ...]
    env: dict[str, str]


def flags(candidate: Candidate, policy: PolicyInputs) -> tuple[str, ...]:
    """Return the flags that decide what is made: part of the cache key, free of this machine's folders."""
    if candidate.language is not Language.CUDA:
        return (*COMPILE, *HOST, "-shared", f"-frandom-seed={_seed(candidate)}", LINK)
    gencode = architectures.get(candidate.arch).gencode
    linker = [text for flag in (LINK, *policy.link_flags) for text in _for_nvcc(flag)]
    return (
        *COMPILE, *DEVICE, "-gencode", gencode, "-shared", "-cudart", "none", f"--frandom-seed={_seed(candidate)}",
        "-Xcompiler", ",".join(HOST), *linker,
    )  # fmt: skip


def command(
    candidate: Candidate,
    tools: HostToolchain,
    policy: PolicyInputs,
    scratch: Path,
    headers: TvmHeaders,
    mutation: Mutation | None = None,
) -> Command:
    """Return the one compiler run of a CUDA or C++ candidate whose sources are in ``scratch/src``; a mutation is for CUDA."""
    if candidate.language is not Language.CUDA:
        return _cpp_command(candidate, tools, policy, scratch)
    if not isinstance(tools, Toolchain):
        raise TypeError("CUDA candidates need a CUDA toolchain")
    run = _cuda_command(candidate, tools, policy, scratch, headers)
    return Command(run.argv, run.env | environment(mutation))


def _cuda_command(candidate: Candidate, tools: Toolchain, policy: PolicyInputs, scratch: Path, headers: TvmHeaders) -> Command:
    """Make SASS for exactly the candidate's architecture, the stages' files kept, linked against the shared CUDA runtime alone."""
    toolkit_include = f"{tools.root}/bin/..//include"  # as nvcc spells it
    maps = [f"-ffile-prefix-map={folder}/=" for folder in (toolkit_include, headers.folder)]
    argv = (
        str(tools.nvcc), "-v", *flags(candidate, policy), "-ccbin", str(tools.host_compiler),
        "--cudafe-prefix", f"/bin/sh {_script('nvcc_cudafe.sh')}", "--ptxas-prefix", f"/bin/sh {_script('nvcc_ptxas.sh')}",
        *(text for flag in maps for text in ("-Xcompiler", _quoted(flag))),
        f"-I{policy.headers}", "-isystem", str(headers.folder), *(f"-D{macro}" for macro in headers.macros),
        f"-L{tools.cudart.parent}", f"-l:{tools.cudart.name}", f"-L{tools.tvm_library.parent}", "-ltvm_ffi",
        *(("-Xlinker", f"../{DRIVER_ENTRY}") if policy.driver_entry else ()),
        "-keep", "-keep-dir", f"../{OUTPUT}", "-o", f"../{OUTPUT}/{LIBRARY}", "-x", "cu", candidate.entry_file,
    )  # fmt: skip
    folders = (str(scratch / SOURCES), toolkit_include, str(headers.folder))
    relocate = ";".join(f's|"{_pattern(folder)}/*|"|' for folder in folders)
    return Command(argv, _environment(tools, scratch) | {"PTXBENCH_RELOCATE": relocate, MODULE_ID: f"_{_seed(candidate)}_kernel"})


def _cpp_command(candidate: Candidate, tools: HostToolchain, policy: PolicyInputs, scratch: Path) -> Command:
    """Make a shared library by the host compiler, its preprocessed source and object kept."""
    argv = (
        str(tools.host_compiler), *flags(candidate, policy),
        "-save-temps=obj", "-dumpdir", f"../{OUTPUT}/", f"-ffile-prefix-map={tools.tvm_include}/=",
        f"-I{policy.headers}", "-isystem", str(tools.tvm_include),
        "-x", "c++", candidate.entry_file, "-x", "none",
        f"-L{tools.tvm_library.parent}", "-ltvm_ffi", "-o", f"../{OUTPUT}/{LIBRARY}",
    )  # fmt: skip
    return Command(argv, _environment(tools, scratch))


def _quoted(flag: str) -> str:
    """Quote a flag that nvcc hands on through a shell of its own."""
    return "'" + flag.replace("'", "'\\''") + "'"


def driver_entry_command(source: Path, tools: Toolchain, target: Path) -> Command:
    """Return the run that compiles the policy's driver look-up into an object."""
    argv = (
        str(tools.host_compiler), "-O2", "-std=c++17", *HOST, f"-ffile-prefix-map={source.parent}/=",
        "-isystem", str(tools.root / "include"), "-c", str(source), "-o", str(target),
    )  # fmt: skip
    return Command(argv, _environment(tools, target.parent))


def _environment(tools: HostToolchain, scratch: Path) -> dict[str, str]:
    """Everything that a compiler sees of the environment: nothing of the user's that could change what it makes."""
    temporary = scratch / OUTPUT
    return {"PATH": tools.path, "LC_ALL": "C", "TMPDIR": str(temporary if temporary.is_dir() else scratch), "HOME": str(scratch)}


def _for_nvcc(flag: str) -> tuple[str, ...]:
    """Spell a flag that is written for the host compiler (``-Wl,a,b``) the way nvcc takes it."""
    return ("-Xlinker", flag.removeprefix("-Wl,")) if flag.startswith("-Wl,") else (flag,)


def _seed(candidate: Candidate) -> str:
    return candidate.hash.removeprefix("sha256:")[:16]


def _pattern(text: str) -> str:
    """Quote a path for sed."""
    return re.sub(r"([][.*^$\\|])", r"\\\1", text)


def _script(name: str) -> str:
    return shlex.quote(str(files("ptxbench.toolchain") / name))
