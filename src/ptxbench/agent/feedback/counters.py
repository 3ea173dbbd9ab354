"""Hardware counters in few words: how busy each kernel keeps what it uses, and what its warps wait for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from ptxbench.agent.feedback.digest import Digest, Item, fit
from ptxbench.agent.feedback.profile import CHARACTERS_PER_TOKEN, COUNTERS_BUDGET
from ptxbench.agent.templating import figure
from ptxbench.schema import Counters, KernelCounters

LEAST_CONFLICTS = 0.01
"""Share of all accesses to shared memory from which on bank conflicts are worth a word."""


def digest_counters(counters: Counters | None) -> Digest:
    """Digest one call's counters: a line a kernel, the longest first; nothing where nothing was counted."""
    if counters is None or not counters.kernels:
        return Digest()
    return fit([Item("", "", _line(kernel)) for kernel in counters.kernels], COUNTERS_BUDGET * CHARACTERS_PER_TOKEN)


@cache
def stall_meanings() -> Mapping[str, str]:
    """Return what warps wait for, by Nsight Compute's name of the reason."""
    text = files("ptxbench.agent.feedback").joinpath("stalls.toml").read_text(encoding="utf-8")
    meanings: dict[str, str] = tomllib.loads(text)
    return meanings


def _line(kernel: KernelCounters) -> str:
    parts = [
        f"{label} {figure(value)} %"
        for label, value in (
            ("multiprocessors", kernel.sm_percent),
            ("tensor cores", kernel.tensor_percent),
            ("device memory", kernel.dram_percent),
            ("achieved occupancy", kernel.occupancy_percent),
        )
        if value is not None
    ]
    conflicts, accesses = kernel.shared_conflicts, kernel.shared_accesses
    if conflicts is not None and accesses and conflicts >= LEAST_CONFLICTS * accesses:
        parts.append(f"{figure(100 * conflicts / accesses)} % of the accesses to shared memory are bank conflicts")
    if kernel.stalls:
        waits = (f"{stall_meanings().get(one.reason, one.reason)} {figure(100 * one.share)} %" for one in kernel.stalls)
        parts.append(f"warps wait for: {', '.join(waits)}")
    times = "" if kernel.launches == 1 else f" ({kernel.launches} launches)"
    duration = "" if kernel.duration_us is None else f" {figure(kernel.duration_us)} us;"
    return f"{kernel.kernel}{times}:{duration} {'; '.join(parts) or 'nothing was counted'}"
