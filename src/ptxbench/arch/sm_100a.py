"""Blackwell with its architecture-specific instructions: ``tcgen05``, tensor memory and TMA."""

import re

from ptxbench.arch.architecture import Architecture

ARCH = Architecture(
    name="sm_100a",
    compute="compute_100a",
    mma=re.compile(r"UTC[HQIO]MMA"),
    readback=re.compile(r"LDTM"),
    payload=frozenset({"UTMALDG", "UTMASTG", "UTMAREDG"}),
    bookkeeping=frozenset(
        {"UTCBAR", "UTCATOMSWS", "UTCCP", "UTCSHIFT", "STTM", "SYNCS", "ELECT", "USETMAXREG", "UTMAPF", "UBLKPF"}
        | {"UTMACCTL", "UTMACMDFLUSH"}
    ),
    devices=("b200",),
)
