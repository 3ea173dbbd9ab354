"""``Builder``: candidate in, ``Build`` out, through the cache."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.atomic import storage_error
from ptxbench.core.canonical import canonical_json, content_hash
from ptxbench.core.errors import InfrastructureError, StorageError
from ptxbench.core.fingerprint import code_fingerprint
from ptxbench.core.settings import Settings
from ptxbench.core.store import ContentStore
from ptxbench.schema import Build, Candidate, Diagnostic, Language, Limits, ToolchainVersions, Violation
from ptxbench.toolchain.ahead import Ahead
from ptxbench.toolchain.assembly import assemble
from ptxbench.toolchain.cache import BuildCache, CachedBuild
from ptxbench.toolchain.command import PolicyInputs, flags
from ptxbench.toolchain.compile import How, compile_candidate
from ptxbench.toolchain.disassembly import sass
from ptxbench.toolchain.fitness import fit_macros
from ptxbench.toolchain.headers import Header
from ptxbench.toolchain.mutation import REPORT, Mutation
from ptxbench.toolchain.policing import PolicyParts, inspected, screened
from ptxbench.toolchain.probe import ensure_works
from ptxbench.toolchain.python_source import python_diagnostics
from ptxbench.toolchain.reading import Reading, read, unexplained
from ptxbench.toolchain.refusal import check_language, refusal, too_large
from ptxbench.toolchain.scratch import scratch_folder
from ptxbench.toolchain.tools import HostToolchain, Toolchain, locate, locate_host

COMPILED = (Language.CUDA, Language.CPP)
"""Languages whose candidates a compiler makes libraries of."""
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
        A mutated build has ``mutation`` too, JSON: how many instructions were rewritten, by PTX opcode.
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


@dataclass(frozen=True)
class _Job:
    candidate: Candidate
    tools: HostToolchain
    policy: PolicyInputs
    screened: tuple[Violation, ...]
    key: str
    limits: Limits
    cancel: threading.Event | None
    mutation: Mutation | None


class Builder:
    """Compiles candidates, each at most once. One instance may serve many threads; many processes may share the cache."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.cache = BuildCache(settings.cache_dir / "builds")
        self._slots = threading.BoundedSemaphore(settings.jobs or len(os.sched_getaffinity(0)))
        self._parts = PolicyParts(self.cache)
        self.cache.sweep()

    def build(
        self,
        candidate: Candidate,
        limits: Limits = _DEFAULT_LIMITS,
        *,
        cancel: threading.Event | None = None,
        mutation: Mutation | None = None,
    ) -> BuildResult:
        """Compile a candidate, or return what is remembered of it. With a ``mutation`` the device code of a CUDA candidate differs.

        A candidate that does not compile is a result (``build.ok`` is False, ``build.diagnostics`` say why). Compilations that a
        limit ended are not remembered. Raises ``ToolMissing``, ``StorageError`` (disk full), ``UnknownArch``, ``SourceError`` for a
        language that the architecture does not take, ``Cancelled`` soon after ``cancel`` is set, and ``InfrastructureError`` when
        something else than its limits killed the compiler.
        """
        started = time.monotonic()
        check_language(candidate)
        oversize = too_large(candidate)
        violations = () if oversize else screened(candidate)
        refused = oversize or refusal(candidate, violations)
        if refused is not None or candidate.language not in COMPILED:
            found = refused or python_diagnostics(candidate)
            build = _build(candidate, started, not any(one.severity == "error" for one in found), found, _NO_TOOLS, candidate.hash)
            return BuildResult(build, violations, None)
        tools = self._tools(candidate.language)
        policy = self._parts.inputs(tools)
        key = _key(candidate, tools, policy, mutation)
        with self.cache.building(key):
            known = self.cache.get(key)
            cached = known is not None
            if known is None:
                with self._slots:
                    known = self._compile(_Job(candidate, tools, policy, violations, key, limits, cancel, mutation))
                if not any(one.stage == "limit" for one in known.build.diagnostics):
                    self.cache.put(key, known)
        build = known.build.model_copy(update={"cached": cached, "seconds": time.monotonic() - started})
        library = build.artifacts.get("library")
        return BuildResult(build, known.violations, self.cache.blobs.path(library) if library else None, self.cache.blobs)

    def ensure_works(self, language: Language, arch: str) -> None:
        """Compile the least kernel, unless nothing of a language is compiled.

        Raises ``ToolMissing``, ``StorageError``, and ``InfrastructureError`` for tools that are here and do not work.
        """
        if language in COMPILED:
            tools = self._tools(language)
            with self._slots:
                ensure_works(language, arch, tools, self._parts.inputs(tools), self.cache.scratch, _DEFAULT_LIMITS)

    def assemble(self, source: Path, arch: str) -> Path:
        """Return the cubin of a PTX file of ours. Raises ``ToolMissing``, ``InfrastructureError``, ``StorageError``."""
        return assemble(source, arch, locate(self.settings), self.cache)

    def _tools(self, language: Language) -> HostToolchain:
        return locate(self.settings) if language is Language.CUDA else locate_host(self.settings)

    def _compile(self, job: _Job) -> CachedBuild:
        """Compile with the slim headers where they fit, and with the full ones where they do not or where anything is wrong."""
        slim = fit_macros(job.candidate, job.tools) if job.candidate.language is Language.CUDA else None
        if slim is not None:
            with scratch_folder(self.cache.scratch) as scratch:
                reading, violations = self._run(job, scratch, slim)
                if reading.ok and not violations:
                    return self._record(job, reading, violations)
        with scratch_folder(self.cache.scratch) as scratch:
            return self._record(job, *self._run(job, scratch, None))

    def _run(self, job: _Job, scratch: Path, slim: tuple[str, ...] | None) -> tuple[Reading, tuple[Violation, ...]]:
        """Compile, and return what came of it and what the policy says to it."""
        how: How = "steps" if self.settings.jobs == 1 else "halves"
        ahead = Ahead(job.candidate, job.tools) if isinstance(job.tools, Toolchain) else None
        compilation = compile_candidate(
            job.candidate,
            job.tools,
            job.policy,
            scratch,
            job.limits,
            job.cancel,
            slim=slim,
            how=how,
            mutation=job.mutation,
            ahead=ahead,
        )
        reading = read(job.candidate, job.tools, compilation, job.limits, ahead.disassembly if ahead else None)
        if reading.over or reading.killed:
            return reading, job.screened
        found = ahead.violations(compilation) if ahead else inspected(job.candidate, compilation)
        return reading, tuple(dict.fromkeys((*job.screened, *found)))

    def _record(self, job: _Job, reading: Reading, violations: tuple[Violation, ...]) -> CachedBuild:
        """Return what is remembered of a compilation, its artifacts stored."""
        if reading.killed:
            raise InfrastructureError(
                "the compiler was killed from outside, by this machine's lack of memory perhaps",
                next_step="run the command again with fewer jobs at once (PTXBENCH_JOBS=1)",
            )
        records = (reading.over,) if reading.over else reading.said.records
        silent = not reading.ok and not any(one.severity == "error" for one in records)
        if silent or reading.unreadable:
            language, arch = job.candidate.language, job.candidate.arch
            ensure_works(language, arch, job.tools, job.policy, self.cache.scratch, job.limits)
        if silent:
            records = (*records, unexplained(reading.compilation, job.tools))
        build = _build(job.candidate, 0.0, reading.ok, records, job.tools.versions, job.key, reading.compilation.header)
        if reading.ok:
            found = {"warnings": reading.said.warnings, "kernels": reading.kernels, "artifacts": self._store(reading)}
            build = build.model_copy(update=found)
        return CachedBuild(build=build, violations=violations)

    def _store(self, reading: Reading) -> dict[str, str]:
        compilation = reading.compilation
        files = {"library": compilation.library, "cubin": compilation.kept(".cubin"), "ptx": compilation.kept(".ptx")}
        files |= {"mutation": compilation.kept(REPORT)}
        try:
            stored = {name: self.cache.blobs.put(path.read_bytes()) for name, path in files.items() if path is not None}
        except OSError as error:
            raise storage_error(error, compilation.scratch) from error
        if reading.functions is not None:
            stored["sass"] = self.cache.blobs.put(canonical_json(sass(reading.functions)))
        return stored


def _key(candidate: Candidate, tools: HostToolchain, policy: PolicyInputs, mutation: Mutation | None) -> str:
    runtime = tools.cudart.name if isinstance(tools, Toolchain) else None
    return content_hash(
        {
            "candidate": candidate.hash,
            "mutation": mutation,
            "flags": flags(candidate, policy),
            "runtime": runtime,
            "tools": tools.versions.model_dump(),
            "code": code_fingerprint("toolchain"),
        }
    )


def _build(
    candidate: Candidate,
    started: float,
    ok: bool,
    diagnostics: tuple[Diagnostic, ...],
    versions: ToolchainVersions,
    key: str,
    header: Header | None = None,
) -> Build:
    return Build(
        ok=ok,
        cached=False,
        seconds=time.monotonic() - started if started else 0.0,
        arch=candidate.arch,
        header=header,
        diagnostics=diagnostics,
        warnings=(),
        kernels=(),
        artifacts={},
        toolchain=versions,
        key=key,
    )
