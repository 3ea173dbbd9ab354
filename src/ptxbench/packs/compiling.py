"""``packs check --compile``: every header of the packs, each in a translation unit of its own, through nvcc and the assembler."""

from __future__ import annotations

import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ptxbench.arch import get
from ptxbench.core.errors import PackError
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.packs.finding import Finding
from ptxbench.packs.loading import Fragment, Library
from ptxbench.packs.parsing import Header
from ptxbench.toolchain import Toolchain

SECONDS = 120.0
"""For one header; the largest of the packs takes a few."""
MOST_CHARACTERS = 400
"""Of a diagnostic: one line of it, and a template's name can be long."""

UNIT = """#include <cuda_runtime.h>
#undef __forceinline__
#define __forceinline__
#include "{header}"
"""
"""A function that must be inlined is left out where nobody calls it; as an ordinary one it is kept, and its PTX assembled."""

_ERROR = re.compile(r"\berror\b|\bfatal\b", re.I)


def not_compiled(library: Library, tools: Toolchain) -> list[Finding]:
    """Compile every header that a pack names for the pack's architecture; return an error for each that does not.

    Templates are parsed and not instantiated: what becomes of them, a kernel that uses them shows. What the packs name wrongly
    is for the check to say, and is passed over here. Raises ``UnknownArch`` for an architecture that ptxbench does not know.
    """
    units = sorted({(name, pack.arch) for pack in library.manifest.packs.values() for name in _headers(library, pack.entries)})
    with tempfile.TemporaryDirectory(prefix="ptxbench-") as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        said = pool.map(
            lambda unit: _fault(library, library.fragment(unit[1][0]), unit[1][1], tools, Path(folder) / str(unit[0])),
            enumerate(units),
        )
        return [
            Finding.error("not_compiled", name, f"for {arch}: {fault}")
            for (name, arch), fault in zip(units, said, strict=True)
            if fault is not None
        ]


def _headers(library: Library, entries: tuple[str, ...]) -> list[str]:
    """Return the ids of the headers among what manifest entries stand for."""
    found = []
    for entry in entries:
        try:
            found += [name for name in library.resolve([entry]) if isinstance(library.fragment(name).content, Header)]
        except PackError:
            continue  # the check has an error of its own for it
    return found


def _fault(library: Library, header: Fragment, arch: str, tools: Toolchain, folder: Path) -> str | None:
    folder.mkdir()
    source = folder / "alone.cu"
    source.write_text(UNIT.format(header=header.path.resolve()), encoding="utf-8")
    done = run_tool(
        [
            *(str(tools.nvcc), "-std=c++17", "-gencode", get(arch).gencode, "-ccbin", str(tools.host_compiler)),
            *("-keep-device-functions", f"-I{library.root.resolve() / 'include'}"),
            *("-cubin", "-o", str(folder / "alone.cubin"), str(source)),
        ],
        limits=ProcessLimits(wall_seconds=SECONDS),
        env={"PATH": tools.path, "TMPDIR": str(folder), "LC_ALL": "C"},
    )
    if done.ok:
        return None
    if done.timed_out:
        return f"not compiled within {SECONDS:g} s"
    lines = [line.strip() for line in f"{done.stderr}\n{done.stdout}".splitlines() if line.strip()]
    first = next((line for line in lines if _ERROR.search(line)), lines[0] if lines else f"nvcc ended with {done.returncode}")
    return first.replace(f"{library.root.resolve()}/", "").replace(f"{folder}/", "")[:MOST_CHARACTERS]
