"""Compile a kernel file and judge its policy."""

from __future__ import annotations

from pathlib import Path

from ptxbench import arch as architectures
from ptxbench.core.settings import Settings
from ptxbench.schema import SCHEMA_VERSION, Build, PolicyVerdict, Profile, Record
from ptxbench.toolchain import Builder, read_candidate
from ptxbench.toolchain.policy import verdict


class CompileReport(Record):
    """What ``ptxbench compile`` found."""

    schema_version: int = SCHEMA_VERSION
    arch: str
    policy: PolicyVerdict
    build: Build


def compile_file(path: Path, *, arch: str, profile: Profile, settings: Settings) -> CompileReport:
    """Compile ``path`` for ``arch``. Raises ``SourceError``, ``UnknownArch`` or ``ToolMissing``."""
    architectures.get(arch)
    candidate = read_candidate(path, arch=arch)
    result = Builder(settings).build(candidate)
    return CompileReport(arch=arch, policy=verdict(result.violations, profile), build=result.build)
