"""Hardware counters of a candidate's kernels: where their time goes, as Nsight Compute saw it."""

from __future__ import annotations

from pydantic import Field

from ptxbench.schema.base import Record


class Stall(Record):
    """Why warps did not issue: ``reason`` as Nsight Compute names it, and its share of the time that warps were resident."""

    reason: str
    share: float = Field(ge=0)


class KernelCounters(Record):
    """Counters of one kernel over all its launches in one call; None for what this device or this ncu does not count.

    Percentages are of the hardware's sustained peak. The kernels ran one by one, each from an empty cache, at whatever clock the
    device had: compare them with each other, not with a measured latency.
    """

    kernel: str
    launches: int = Field(ge=1)
    duration_us: float | None = None
    """Of all launches together."""
    sm_percent: float | None = None
    """Busiest pipeline of the multiprocessors, over the kernel's whole time."""
    dram_percent: float | None = None
    """Bandwidth of device memory, over the kernel's whole time."""
    tensor_percent: float | None = None
    """Tensor cores, over the cycles in which a multiprocessor had a warp."""
    occupancy_percent: float | None = None
    """Resident warps of those that fit, over the same cycles."""
    shared_conflicts: int | None = None
    """Extra accesses to shared memory for the sake of bank conflicts, by load and store instructions (not TMA, not WGMMA)."""
    shared_accesses: int | None = None
    """All accesses to shared memory by load and store instructions, the extra ones included."""
    stalls: tuple[Stall, ...] = ()
    """The most common first."""


class Counters(Record):
    """One profiled call. ``why`` says what stood in the way when nothing was counted, and is None otherwise."""

    kernels: tuple[KernelCounters, ...] = ()
    """Those that took longest first."""
    left_out: tuple[str, ...] = ()
    """Metrics that were asked for and that this ncu does not know on this device."""
    why: str | None = None
