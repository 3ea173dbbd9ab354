"""Our look-up of driver functions, with an allow-list of names, in place of ``cudaGetDriverEntryPoint*``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

WRAPPED = (
    "cudaGetDriverEntryPoint",
    "cudaGetDriverEntryPoint_ptsz",
    "cudaGetDriverEntryPointByVersion",
    "cudaGetDriverEntryPointByVersion_ptsz",
)
"""Every name under which the CUDA runtime exports its look-up (``cuda_runtime_api.h`` 13.0 maps to ``_ptsz`` by macro)."""


@dataclass(frozen=True)
class DriverEntry:
    """What is compiled and linked into every CUDA candidate.

    Attributes:
        source: C++ source that needs ``cuda_runtime_api.h``; it includes a table from its own folder.
        link_flags: flags, as the host compiler takes them, that send the candidate's calls to it.
    """

    source: Path
    link_flags: tuple[str, ...]


def driver_entry() -> DriverEntry:
    """Return the guarded look-up."""
    source = Path(str(files("ptxbench.toolchain.policy").joinpath("data", "driver_entry.cc")))
    return DriverEntry(source, ("-Wl," + ",".join(f"--wrap={name}" for name in WRAPPED),))
