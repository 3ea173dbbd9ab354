"""``Builder``: candidate in, ``Build`` out, through the cache."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxbench import arch as architectures
from ptxbench.core.atomic import storage_error
from ptxbench.core.canonical import canonical_json, content_hash
from ptxbench.core.errors import InfrastructureError, SourceError, StorageError
from ptxbench.core.fingerprint import code_fingerprint
from ptxbench.core.settings import Settings
from ptxbench.core.store import ContentStore
from ptxbench.schema import Build, Candidate, Diagnostic, KernelBuild, Language, Limits, ToolchainVersions, Violation
from ptxbench.toolchain.cache import BuildCache, CachedBuild
from ptxbench.toolchain.census import census
from ptxbench.toolchain.command import PolicyInputs, flags
from ptxbench.toolchain.compile import Compilation, compile_candidate
from ptxbench.toolchain.demangle import short_name
from ptxbench.toolchain.diagnostics import Diagnostics, Stage, diagnose
from ptxbench.toolchain.disassembly import Function, TooLarge, Undisassembled, disassemble, sass
from ptxbench.toolchain.ending import ended_by_limit, killed_from_outside, limit_record
from ptxbench.toolchain.paths import RecordPaths
from ptxbench.toolchain.policing import NEVER_COMPILED, PolicyParts, inspected, screened
from ptxbench.toolchain.probe import ensure_works
from ptxbench.toolchain.ptx import PtxLines
from ptxbench.toolchain.python_source import python_diagnostics
from ptxbench.toolchain.recursion import endless_include
from ptxbench.toolchain.resources import Resources, resources
from ptxbench.toolchain.scratch import scratch_folder
from ptxbench.toolchain.sources import MAX_BYTES
from ptxbench.toolchain.tools import HostToolchain, Toolchain, locate, locate_host

_PLAIN_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+=-]*)*")
"""Source paths that every tool of a build, down to its shells, takes as they are."""
MAX_PATH = 200
_NO_TOOLS = ToolchainVersions(nvcc=None, ptxas=None, host_compiler=None, nvdisasm=None, tvm_ffi=None)
_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class BuildResult:
    """A build, what the policy found (for ``policy.verdict``), and the shared library when there is one.

    ``library`` lies in the build cache, as do the other artifacts: verified when handed out, and gone when the user clears the
    cache.
    """

    build: Build
    violations: tuple[Violation, ...]
    library: Path | None
    blobs: ContentStore | None = None
    """Where the artifacts are; None for a build that has none."""

    def artifact(self, name: str) -> Path | None:
        """Return the file of an artifact (``library``, ``cubin``, ``ptx``, ``sass``), its content verified; None if there is none.

        ``sass`` is JSON: by function (mangled name) the opcodes of its instructions, that of pc offset ``16 * i`` at index i.
        Raises ``StorageError`` when the file was removed or damaged meanwhile.
        """
        digest = self.build.artifacts.get(name)
        if digest is None or self.blobs is None:
            return None
        try:
            self.blobs.get(digest)
        except KeyError:
            step = "run the command again: what the cache lacks is built anew"
            raise StorageError(f"the artifact {name} is no longer in the build cache", next_step=step) from None
        return self.blobs.path(digest)


class Builder:
    """Compiles candidates, each at most once. One instance may serve many threads; many processes may share the cache."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.cache = BuildCache(settings.cache_dir / "builds")
        self._slots = threading.BoundedSemaphore(settings.jobs or len(os.sched_getaffinity(0)))
        self._parts = PolicyParts(self.cache)
        self.cache.sweep()

    def build(
        self, candidate: Candidate, limits: Limits = _DEFAULT_LIMITS, *, cancel: threading.Event | None = None
    ) -> BuildResult:
        """Compile a candidate, or return what is remembered of it.

        A candidate that does not compile is a result (``build.ok`` is False, ``build.diagnostics`` say why). Compilations that a
        limit ended are not remembered. Raises ``ToolMissing``, ``StorageError`` (disk full), ``UnknownArch``, ``SourceError`` for a
        language that the architecture does not take, ``Cancelled`` soon after ``cancel`` is set, and ``InfrastructureError`` when
        something else than its limits killed the compiler.
        """
        started = time.monotonic()
        _check_language(candidate)
        too_large = _too_large(candidate)
        violations = () if too_large else screened(candidate)
        refusal = too_large or _refusal(candidate, violations)
        if refusal is not None or candidate.language not in (Language.CUDA, Language.CPP):
            found = refusal or python_diagnostics(candidate)
            build = _build(candidate, started, not any(one.severity == "error" for one in found), found, _NO_TOOLS, candidate.hash)
            return BuildResult(build, violations, None)
        tools: HostToolchain = locate(self.settings) if candidate.language is Language.CUDA else locate_host(self.settings)
        policy = self._parts.inputs(tools)
        key = _key(candidate, tools, policy)
        with self.cache.building(key):
            known = self.cache.get(key)
            if known is None:
                with self._slots, scratch_folder(self.cache.scratch) as scratch:
                    compilation = compile_candidate(candidate, tools, policy, scratch, limits, cancel)
                    known = self._record(candidate, tools, compilation, violations, key, limits)
                if not any(one.stage == "limit" for one in known.build.diagnostics):
                    self.cache.put(key, known)
                cached = False
            else:
                cached = True
        build = known.build.model_copy(update={"cached": cached, "seconds": time.monotonic() - started})
        library = build.artifacts.get("library")
        return BuildResult(build, known.violations, self.cache.blobs.path(library) if library else None, self.cache.blobs)

    def _record(
        self,
        candidate: Candidate,
        tools: HostToolchain,
        compilation: Compilation,
        screened: tuple[Violation, ...],
        key: str,
        limits: Limits,
    ) -> CachedBuild:
        """Read everything that is worth knowing from a compilation's output and files, and store its artifacts."""
        paths = RecordPaths(compilation.scratch, tools)
        said = _said(candidate, compilation, paths)
        over = ended_by_limit(compilation.completed, said.explained, limits)
        if over is None and killed_from_outside(compilation.completed, said.explained):
            raise InfrastructureError(
                "the compiler was killed from outside, by this machine's lack of memory perhaps",
                next_step="run the command again with fewer jobs at once (PTXBENCH_JOBS=1)",
            )
        ok = compilation.completed.ok and compilation.library is not None and not said.has_error and over is None
        functions: tuple[Function, ...] = ()
        kernels: tuple[KernelBuild, ...] = ()
        if ok and isinstance(tools, Toolchain):
            try:
                functions = _functions(compilation, tools)
                kernels = _kernels(compilation, functions)
            except TooLarge:
                ok, over = False, limit_record("code_size", limits)
            except Undisassembled as error:
                ensure_works(candidate, tools, self._parts.inputs(tools), self.cache.scratch, limits)
                ok, over = False, _undisassembled(error, paths)
        records = (over,) if over else said.records
        if not ok and not any(one.severity == "error" for one in records):
            ensure_works(candidate, tools, self._parts.inputs(tools), self.cache.scratch, limits)
            records = (*records, _unexplained(compilation, paths))
        build = _build(candidate, 0.0, ok, records, tools.versions, key)
        if ok:
            artifacts = self._store(compilation, functions if isinstance(tools, Toolchain) else None)
            build = build.model_copy(update={"warnings": said.warnings, "kernels": kernels, "artifacts": artifacts})
        violations = screened if over else tuple(dict.fromkeys((*screened, *inspected(candidate, compilation))))
        return CachedBuild(build=build, violations=violations)

    def _store(self, compilation: Compilation, functions: tuple[Function, ...] | None) -> dict[str, str]:
        """Store what a build made; ``functions`` are those of its cubin, None for a build without device code."""
        files = {"library": compilation.library, "cubin": compilation.kept(".cubin"), "ptx": compilation.kept(".ptx")}
        try:
            stored = {name: self.cache.blobs.put(path.read_bytes()) for name, path in files.items() if path is not None}
        except OSError as error:
            raise storage_error(error, compilation.scratch) from error
        if functions is not None:
            stored["sass"] = self.cache.blobs.put(canonical_json(sass(functions)))
        return stored


def _check_language(candidate: Candidate) -> None:
    arch = architectures.get(candidate.arch)
    wants_gpu = candidate.language in (Language.CUDA, Language.TRITON)
    if wants_gpu != arch.is_gpu:
        takes = "CUDA (.cu)" if arch.is_gpu else "C++ (.cpp) and Python (.py)"
        step = f"the architecture {arch.name} takes {takes}"
        raise SourceError(f"a {candidate.language.value} candidate cannot be built for {arch.name}", next_step=step)


def _too_large(candidate: Candidate) -> tuple[Diagnostic, ...] | None:
    """Return the refusal of sources that no person or model would write, None for others."""
    size = sum(len(source.content) for source in candidate.sources)
    if size <= MAX_BYTES:
        return None
    text = f"the sources have {size} characters; a candidate may have {MAX_BYTES}"
    return (Diagnostic(severity="error", file=None, line=None, column=None, code="source_size", text=text, stage="preprocess"),)


def _refusal(candidate: Candidate, violations: Sequence[Violation]) -> tuple[Diagnostic, ...] | None:
    """Return why no compiler may see the candidate, None when it may."""

    def refuse(text: str, file: str | None, line: int | None = None) -> tuple[Diagnostic, ...]:
        return (Diagnostic(severity="error", file=file, line=line, column=None, code=None, text=text, stage="preprocess"),)

    paths = {source.path for source in candidate.sources}
    for path in paths:
        if not _PLAIN_PATH.fullmatch(path) or len(path) > MAX_PATH:
            return refuse(
                f"a source's path may hold letters, digits and _ . + = - only, {MAX_PATH} of them at most", path[:MAX_PATH]
            )
        if any(f"{path}/".startswith(f"{other}/") for other in paths - {path}):
            return refuse("a source's path may not be inside another source", path)
    for violation in violations:
        if violation.rule in NEVER_COMPILED:
            return refuse(
                f"not compiled, since the policy refuses it ({violation.rule}): {violation.text}", violation.file, violation.line
            )
    if candidate.language in (Language.CUDA, Language.CPP):
        endless = endless_include(candidate)
        if endless is not None:
            trail = " -> ".join(endless.cycle)
            return refuse(f"include without end: {trail} (add #pragma once, or remove the include)", endless.file, endless.line)
    return None


def _key(candidate: Candidate, tools: HostToolchain, policy: PolicyInputs) -> str:
    runtime = tools.cudart.name if isinstance(tools, Toolchain) else None
    return content_hash(
        {
            "candidate": candidate.hash,
            "flags": flags(candidate, policy),
            "runtime": runtime,
            "tools": tools.versions.model_dump(),
            "code": code_fingerprint("toolchain"),
        }
    )


def _said(candidate: Candidate, compilation: Compilation, paths: RecordPaths) -> Diagnostics:
    ptx = compilation.kept(".ptx")
    lines = PtxLines(ptx.read_text(encoding="utf-8", errors="replace")) if ptx else None
    first: Stage = "preprocess" if candidate.language is Language.CUDA else "host"
    return diagnose(_output(compilation), candidate, first_stage=first, paths=paths, ptx=lines)


def _output(compilation: Compilation) -> str:
    return compilation.completed.stdout + compilation.completed.stderr


def _undisassembled(error: Undisassembled, paths: RecordPaths) -> Diagnostic:
    text = f"the machine code cannot be disassembled: {paths.scrub(str(error))}"
    return Diagnostic(severity="error", file=None, line=None, column=None, code="unreadable_code", text=text, stage="ptxas")


def _unexplained(compilation: Compilation, paths: RecordPaths) -> Diagnostic:
    lines = [line for line in _output(compilation).splitlines() if line.strip() and not line.startswith("#")]
    tail = paths.scrub("\n".join(lines[-10:]))[-1000:] or "it said nothing"
    text = f"the compiler ended with status {compilation.completed.returncode}: {tail}"
    return Diagnostic(severity="error", file=None, line=None, column=None, code=None, text=text, stage="link")


def _functions(compilation: Compilation, tools: Toolchain) -> tuple[Function, ...]:
    """Disassemble the cubin. Raises ``TooLarge``, and ``Undisassembled`` also when a kernel that ptxas made is not listed."""
    cubin = compilation.kept(".cubin")
    if cubin is None:
        raise Undisassembled("the compiler left no cubin")
    functions = disassemble(cubin, tools)
    unlisted = resources(_output(compilation)).keys() - {function.name for function in functions}
    if unlisted:
        raise Undisassembled(f"nvdisasm does not list the kernel {min(unlisted)}")
    return functions


def _kernels(compilation: Compilation, functions: tuple[Function, ...]) -> tuple[KernelBuild, ...]:
    """Join ptxas's report with the census; device functions that belong to no kernel follow, without resources."""
    used = resources(_output(compilation))
    counted = census(functions)
    names = [*used, *(name for name in counted if name not in used)]
    return tuple(_kernel(name, used.get(name, Resources()), counted.get(name, {})) for name in names)


def _kernel(mangled: str, used: Resources, opcodes: dict[str, int]) -> KernelBuild:
    return KernelBuild(
        name=short_name(mangled),
        mangled=mangled,
        registers=used.registers,
        spill_bytes=used.spill_bytes,
        stack_bytes=used.stack_bytes,
        shared_bytes=used.shared_bytes,
        opcodes=dict(sorted(opcodes.items())),
    )


def _build(
    candidate: Candidate, started: float, ok: bool, diagnostics: tuple[Diagnostic, ...], versions: ToolchainVersions, key: str
) -> Build:
    compiled = candidate.language in (Language.CUDA, Language.CPP)
    return Build(
        ok=ok,
        cached=False,
        seconds=time.monotonic() - started if started else 0.0,
        arch=candidate.arch,
        header="full" if compiled else None,
        diagnostics=diagnostics,
        warnings=(),
        kernels=(),
        artifacts={},
        toolchain=versions,
        key=key,
    )
