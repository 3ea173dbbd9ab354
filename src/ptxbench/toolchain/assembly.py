"""PTX of our own, assembled once for an architecture and kept in the build cache."""

from __future__ import annotations

from pathlib import Path

from ptxbench.core.canonical import content_hash, sha256
from ptxbench.core.errors import InfrastructureError
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.toolchain.cache import BuildCache
from ptxbench.toolchain.compile import ensure_space
from ptxbench.toolchain.scratch import scratch_folder
from ptxbench.toolchain.tools import Toolchain

_LIMITS = ProcessLimits(wall_seconds=60, memory_bytes=8 << 30)


def assemble(source: Path, arch: str, tools: Toolchain, cache: BuildCache) -> Path:
    """Return the cubin of a PTX file of ours. Raises ``InfrastructureError`` where ptxas does not work, ``StorageError``."""
    text = source.read_bytes()
    key = content_hash({"ptx": sha256(text), "arch": arch, "tools": tools.versions.model_dump()})
    with cache.building(key):
        data = cache.get_blob(key)
        digest = sha256(data) if data is not None else cache.put_blob(key, _assembled(source, arch, tools, cache))
    return cache.blobs.path(digest)


def _assembled(source: Path, arch: str, tools: Toolchain, cache: BuildCache) -> bytes:
    with scratch_folder(cache.scratch) as folder:
        target = folder / f"{source.stem}.cubin"
        argv = [str(tools.ptxas), f"-arch={arch}", str(source), "-o", str(target)]
        done = run_tool(argv, limits=_LIMITS, env={"PATH": tools.path, "TMPDIR": str(folder)}, cwd=folder)
        if not done.ok:
            ensure_space(folder)
            step = "check the CUDA toolkit (ptxbench doctor)"
            raise InfrastructureError(f"ptxas does not take {source.name}", next_step=step, stderr=done.stderr[:2000])
        return target.read_bytes()
