"""Architectures: nvcc targets, SASS instruction families, and the device table. ``get(name)`` finds one."""

from __future__ import annotations

from ptxbench.arch import cpu, sm_90a, sm_100a
from ptxbench.arch.architecture import Architecture, base_opcode
from ptxbench.arch.devices import DEVICES, DeviceFacts, Figure
from ptxbench.arch.measured import Measurement, measured
from ptxbench.core.errors import UnknownArch, nearest

ARCHITECTURES: dict[str, Architecture] = {arch.name: arch for arch in (sm_90a.ARCH, sm_100a.ARCH, cpu.ARCH)}

__all__ = ["ARCHITECTURES", "DEVICES", "Architecture", "DeviceFacts", "Figure", "Measurement", "base_opcode", "get", "measured"]


def get(name: str) -> Architecture:
    """Return the architecture of that name. Raises ``UnknownArch`` with the nearest names."""
    try:
        return ARCHITECTURES[name]
    except KeyError:
        known = sorted(ARCHITECTURES)
        close = nearest(name, known) or known
        raise UnknownArch(
            f"unknown architecture {name!r}", next_step=f"did you mean {', '.join(close)}? Known: {', '.join(known)}", known=known
        ) from None
