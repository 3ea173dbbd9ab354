"""Where a build meets the policy: what the policy adds to it, and what it says of the candidate before and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ptxbench.core.canonical import content_hash, sha256
from ptxbench.core.errors import InfrastructureError
from ptxbench.core.fingerprint import code_fingerprint
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.schema import Candidate, Language, Violation
from ptxbench.toolchain.cache import BuildCache
from ptxbench.toolchain.command import PolicyInputs, driver_entry_command
from ptxbench.toolchain.compile import BuildFiles, ensure_space
from ptxbench.toolchain.scratch import scratch_folder
from ptxbench.toolchain.tools import HostToolchain, Toolchain

if TYPE_CHECKING:
    from ptxbench.toolchain.policy import Evidence, Passes

NEVER_COMPILED = frozenset({"include_path", "incbin", "unreadable_source"})
"""Rules whose breach keeps a source from every compiler, in both profiles: it would read the machine's files, or never end."""

_LIMITS = ProcessLimits(wall_seconds=120, memory_bytes=8 << 30)


def screened(candidate: Candidate) -> tuple[Violation, ...]:
    """Return what the policy finds in the raw source."""
    from ptxbench.toolchain.policy import screen

    return screen(candidate)


def read_ahead(candidate: Candidate, files: BuildFiles) -> Passes:
    """Read what the policy will judge of a candidate's text as soon as the compiler's front ends have ended."""
    from ptxbench.toolchain.policy import read_passes

    return read_passes(_evidence(candidate, files))


def inspected(candidate: Candidate, files: BuildFiles, passes: Passes | None = None) -> tuple[Violation, ...]:
    """Return what the policy finds in what the compiler made, however far it got; ``passes`` if they were read ahead."""
    from ptxbench.toolchain.policy import inspect

    return inspect(_evidence(candidate, files), passes)


def _evidence(candidate: Candidate, files: BuildFiles) -> Evidence:
    from ptxbench.toolchain.policy import Evidence

    cuda = candidate.language is Language.CUDA
    return Evidence(
        candidate=candidate,
        folder=files.folder,
        host_ii=files.kept(".cpp4.ii" if cuda else ".ii"),
        device_ii=files.kept(".cpp1.ii") if cuda else None,
        host_cpp=files.kept(".cudafe1.cpp") if cuda else None,
        object=files.kept(".o"),
        library=files.library,
    )


class PolicyParts:
    """The policy's contribution to builds; its object is compiled once and kept in the build cache."""

    def __init__(self, cache: BuildCache) -> None:
        self._cache = cache
        self._objects: dict[str, Path] = {}

    def inputs(self, tools: HostToolchain) -> PolicyInputs:
        """Return what a build with these tools takes in. Raises ``StorageError`` when the disk is full."""
        from ptxbench.toolchain.policy import driver_entry, refused_headers

        if not isinstance(tools, Toolchain):
            return PolicyInputs(headers=refused_headers())
        entry = driver_entry()
        return PolicyInputs(refused_headers(), self._object(entry.source, tools), tuple(entry.link_flags))

    def _object(self, source: Path, tools: Toolchain) -> Path:
        key = content_hash([code_fingerprint("toolchain"), tools.versions.model_dump(), source.name])
        known = self._objects.get(key)
        if known is None or not known.is_file():
            with self._cache.building(key):
                data = self._cache.get_blob(key)
                digest = sha256(data) if data is not None else self._cache.put_blob(key, self._compile(source, tools))
            known = self._objects[key] = self._cache.blobs.path(digest)
        return known

    def _compile(self, source: Path, tools: Toolchain) -> bytes:
        with scratch_folder(self._cache.scratch) as folder:
            target = folder / "driver_entry.o"
            command = driver_entry_command(source, tools, target)
            done = run_tool(command.argv, limits=_LIMITS, env=command.env, cwd=folder)
            if not done.ok:
                ensure_space(folder)
                step = "check that the C++ compiler works (ptxbench doctor)"
                raise InfrastructureError("the policy's driver look-up does not compile", next_step=step, stderr=done.stderr[:2000])
            return target.read_bytes()
