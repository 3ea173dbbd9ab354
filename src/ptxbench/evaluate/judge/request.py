"""What the judge is asked, and the lines it answers with."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from ptxbench.core.errors import JudgeError
from ptxbench.evaluate.findings import Findings
from ptxbench.evaluate.options import EvaluateOptions
from ptxbench.schema import KernelBuild, Language, Source, Task
from ptxbench.schema.base import Record

LINE_BYTES = 16 << 20
"""Longest line either side reads."""


class Mutant(Record):
    """The candidate's library with every matrix instruction giving zero, or why there is none that could tell anything."""

    library: str | None
    why: str | None = None


class GpuRequest(Record):
    """What an evaluation on a GPU needs beside: files of the build and of the toolchain that made it.

    ``sass`` names every instruction of the cubin by function and position (``Build.artifacts``); ``kernels`` is the build's own
    record of them; ``libraries`` must be loaded before the candidate; ``mutant`` is there when a proof by mutation is asked for;
    ``fill_shared`` is the cubin of the kernel that poisons shared memory.
    """

    sass: str | None
    kernels: tuple[KernelBuild, ...]
    libraries: tuple[str, ...]
    mutant: Mutant | None = None
    fill_shared: str | None = None


class Request(Record):
    """One evaluation. ``library`` is the built shared object (C++, CUDA); Python candidates come as ``sources``."""

    task: Task
    options: EvaluateOptions
    language: Language
    symbol: str
    entry_file: str
    library: str | None
    sources: tuple[Source, ...]
    cpus: tuple[int, ...]
    gpu: GpuRequest | None = None
    only_reference: bool = False
    """Measure the reference and nothing else: there is no candidate."""

    @classmethod
    def for_reference(cls, task: Task, options: EvaluateOptions) -> Self:
        """Return the request that measures a task's reference."""
        return cls(
            task=task, options=options, language=Language.CUDA, symbol="", entry_file="", library=None, sources=(), cpus=(),
            only_reference=True,
        )  # fmt: skip


def read_library(path: str) -> bytes:
    """Return the bytes of a built library. Raises ``JudgeError``."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise JudgeError(f"cannot read the built library: {error}") from error


class Reply(Record):
    """A line of the judge.

    ``working`` announces a stage and how long the judge may now be silent; ``findings`` and ``fault`` (an error of ours or of
    the machine, with its stable code) end an evaluation.
    """

    kind: Literal["ready", "working", "findings", "fault"]
    stage: str | None = None
    quiet_s: float | None = None
    findings: Findings | None = None
    code: str | None = None
    message: str | None = None
    next_step: str | None = None
