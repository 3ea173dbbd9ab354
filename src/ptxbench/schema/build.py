"""``Build``: what the compiler said and made."""

from __future__ import annotations

from typing import Literal

from ptxbench.schema.base import Record


class Diagnostic(Record):
    """One message of a compiler stage, with its place in the candidate when it has one (lines and columns count from 1)."""

    severity: Literal["error", "warning", "note"]
    file: str | None
    line: int | None
    column: int | None
    code: str | None
    text: str
    stage: Literal["preprocess", "front", "host", "ptxas", "link", "limit"] = "front"


class KernelBuild(Record):
    """Resources of one kernel and its static census: SASS opcode with modifiers to number of instructions."""

    name: str
    mangled: str
    registers: int | None
    spill_bytes: int | None
    stack_bytes: int | None
    shared_bytes: int | None
    opcodes: dict[str, int]


class ToolchainVersions(Record):
    """The tools that made a build, by version text; None where a tool took no part."""

    nvcc: str | None
    ptxas: str | None
    host_compiler: str | None
    nvdisasm: str | None
    tvm_ffi: str | None


class Build(Record):
    """A compilation.

    ``artifacts`` names the stored files by hash: ``library`` (.so), ``cubin``, ``ptx``, and ``sass`` (JSON: by function the
    opcode of each instruction, see ``BuildResult.artifact``). ``warnings`` are ptxas performance warnings; ``diagnostics``
    everything else. ``header`` says which TVM-FFI headers were used.
    """

    ok: bool
    cached: bool
    seconds: float
    arch: str
    header: Literal["full", "slim"] | None
    diagnostics: tuple[Diagnostic, ...]
    warnings: tuple[Diagnostic, ...]
    kernels: tuple[KernelBuild, ...]
    artifacts: dict[str, str]
    toolchain: ToolchainVersions
    key: str
    """Cache key: hash of sources, flags, architecture and toolchain versions."""
