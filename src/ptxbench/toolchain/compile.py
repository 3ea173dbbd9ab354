"""Run the compiler over a candidate in its scratch folder, within limits, and say which files came out."""

from __future__ import annotations

import math
import os
import shutil
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from ptxbench.core.atomic import storage_error
from ptxbench.core.errors import StorageError
from ptxbench.core.process import Completed, ProcessLimits, run_tool
from ptxbench.schema import Candidate, Language, Limits
from ptxbench.toolchain.command import DRIVER_ENTRY, LIBRARY, OUTPUT, SOURCES, PolicyInputs, command
from ptxbench.toolchain.halves import run_plan
from ptxbench.toolchain.headers import Header, full_headers, slim_headers
from ptxbench.toolchain.mutation import Mutation
from ptxbench.toolchain.plan import plan
from ptxbench.toolchain.tools import HostToolchain

FILE_BYTES = 256 << 20
"""Largest file that a compiler stage may write: sixty times what a kernel with heavy headers makes."""
OUTPUT_BYTES = 1 << 20
LEAST_FREE_BYTES = 32 << 20
"""A compiler that failed on a disk with less room than this is not believed: the disk, not the candidate, may be why."""

How = Literal["halves", "steps", "nvcc"]
"""Who runs the steps of a CUDA build: we, two at a time or one at a time, or nvcc itself."""

_EPOCH = 1_000_000_000
"""Time of change of every source: ptxas writes it into the cubin's line table."""


@dataclass(frozen=True)
class BuildFiles:
    """The files of a build, below ``scratch``; a stage that did not run, or not yet, left none."""

    scratch: Path
    stem: str

    @property
    def folder(self) -> Path:
        """Where the candidate's sources are."""
        return self.scratch / SOURCES

    def kept(self, suffix: str) -> Path | None:
        """Return the file of that suffix which a stage left (``.ptx``, ``.cubin``, ``.o``, ``.cpp1.ii``, …), None if none did."""
        path = self.scratch / OUTPUT / f"{self.stem}{suffix}"
        return path if path.is_file() else None

    @property
    def library(self) -> Path | None:
        """The shared library, if the linker got that far."""
        path = self.scratch / OUTPUT / LIBRARY
        return path if path.is_file() else None


@dataclass(frozen=True)
class Compilation(BuildFiles):
    """How the compiler ended, and the files that it left."""

    completed: Completed
    header: Header = "full"


class Ahead(Protocol):
    """Who reads a build's files before it is done, each as soon as it can be."""

    def text(self, files: BuildFiles) -> None:
        """Take note that everything has been preprocessed and the host's front end has ended."""

    def device_code(self, files: BuildFiles) -> None:
        """Take note that the device half has ended well."""

    def library(self, files: BuildFiles) -> None:
        """Take note that the library is linked; the others may still be at work, each in a thread of its own."""


def compile_candidate(
    candidate: Candidate,
    tools: HostToolchain,
    policy: PolicyInputs,
    scratch: Path,
    limits: Limits,
    cancel: threading.Event | None = None,
    *,
    slim: tuple[str, ...] | None = None,
    how: How = "halves",
    mutation: Mutation | None = None,
    ahead: Ahead | None = None,
) -> Compilation:
    """Compile a CUDA or C++ candidate in ``scratch``, an empty folder.

    ``slim`` asks for the slim TVM-FFI headers, with these macros (``fitness.fit_macros``). ``how`` says who runs nvcc's steps; it
    does not change what they make. ``mutation`` does (``mutation.py``). ``ahead`` may be called while steps go on, in several
    threads. A failure of the compiler is part of the result. Raises ``StorageError`` when the disk is full, ``Cancelled`` when
    ``cancel`` is set.
    """
    try:
        (scratch / OUTPUT).mkdir()
        write_sources(candidate, scratch / SOURCES)
        if policy.driver_entry is not None:
            shutil.copyfile(policy.driver_entry, scratch / DRIVER_ENTRY)
    except OSError as error:
        raise storage_error(error, scratch) from error
    headers = full_headers(tools) if slim is None else slim_headers(tools, scratch, slim)
    run = command(candidate, tools, policy, scratch, headers, mutation)
    bounds = ProcessLimits(
        wall_seconds=limits.compile_s,
        cpu_seconds=math.ceil(limits.compile_s),
        memory_bytes=limits.compile_bytes,
        file_bytes=FILE_BYTES,
        output_bytes=OUTPUT_BYTES,
    )
    stem = Path(candidate.entry_file).stem
    planned = candidate.language is Language.CUDA and how != "nvcc"
    steps = plan(run, scratch / SOURCES, stem, bounds, cancel) if planned else None
    if steps is None:
        completed = run_tool(run.argv, limits=bounds, env=run.env, cwd=scratch / SOURCES, cancel=cancel)
    else:
        files = BuildFiles(scratch, stem)
        read_by = (ahead.text, ahead.device_code, ahead.library) if ahead else ()
        on_text, on_device_code, on_library = (partial(reader, files) for reader in read_by) if ahead else (None, None, None)
        completed = run_plan(
            steps,
            scratch / SOURCES,
            bounds,
            cancel,
            parallel=how == "halves",
            on_text=on_text,
            on_device_code=on_device_code,
            on_library=on_library,
        )
    if not completed.ok:
        ensure_space(scratch)
    return Compilation(scratch, stem, completed, headers.kind)


def write_sources(candidate: Candidate, folder: Path) -> None:
    """Write a candidate's sources below ``folder``, all with the same time of change."""
    folder.mkdir()
    for source in candidate.sources:
        path = folder / source.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.content.encode())
        os.utime(path, (_EPOCH, _EPOCH))


def ensure_space(folder: Path) -> None:
    """Raise ``StorageError`` when the disk, or the user's share of it, has no room for a build."""
    probe = folder / "space"
    try:
        with probe.open("wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, LEAST_FREE_BYTES)
    except OSError as error:
        raised: StorageError = storage_error(error, folder)
        raise raised from error
    finally:
        probe.unlink(missing_ok=True)
