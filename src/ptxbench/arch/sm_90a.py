"""Hopper with its architecture-specific instructions: ``wgmma`` and TMA."""

import re

from ptxbench.arch.architecture import Architecture

ARCH = Architecture(
    name="sm_90a",
    compute="compute_90a",
    mma=re.compile(r"[A-Z]GMMA"),
    readback=None,
    payload=frozenset({"UTMALDG", "UTMASTG", "UTMAREDG"}),
    bookkeeping=frozenset({"WARPGROUP", "SYNCS", "ELECT", "USETMAXREG", "UTMAPF", "UBLKPF", "UTMACCTL", "UTMACMDFLUSH"}),
    devices=("h100", "h200"),
    mma_shape=re.compile(r"\.(\d+)x(\d+)x(\d+)(?:\.|$)"),
    mma_warps=4,  # a warpgroup (PTX ISA, asynchronous warpgroup level matrix instructions)
)
