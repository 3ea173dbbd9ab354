"""Settings of this machine: environment variables ``PTXBENCH_*``, nothing hidden in code."""

from __future__ import annotations

import os
import tempfile
from functools import cached_property
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


def _cache_home() -> Path:
    """Return the user's folder for caches; a user without a home gets one of their own among the temporary files."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base)
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"ptxbench-of-{os.getuid()}"


class Settings(BaseSettings):
    """What a user can set for a machine; every field is also the environment variable ``PTXBENCH_<NAME>``."""

    model_config = SettingsConfigDict(env_prefix="PTXBENCH_", frozen=True, extra="ignore")

    cache_dir: Path = Field(default_factory=lambda: _cache_home() / "ptxbench")
    """Build cache and other things that may be deleted at any time."""
    toolkit: Path | None = None
    """Root of a CUDA toolkit to use in place of the wheels (it holds ``bin/nvcc``)."""
    host_compiler: str = "g++"
    """The C++ compiler: nvcc's host compiler, and the compiler of CPU candidates."""
    suite: str = ""
    """More suite folders, separated by ``:``."""
    compute_sanitizer: Path | None = None
    """The program compute-sanitizer to use in place of the one that is found; likewise ``ncu`` and ``cuda_gdb``."""
    ncu: Path | None = None
    cuda_gdb: Path | None = None
    cupti: Path | None = None
    """CUPTI's library (``libcupti.so.13``) to use in place of the one that is found."""
    jobs: int = Field(default=0, ge=0)
    """How many compilations run at once; 0 means one per CPU."""

    @cached_property
    def suite_paths(self) -> tuple[Path, ...]:
        """The folders named by ``suite``."""
        return tuple(Path(part) for part in self.suite.split(":") if part)
