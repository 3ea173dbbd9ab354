"""From an evidence bundle to the measured figures of the device table (``arch/measured.toml``).

The same bundle gives the same text, byte for byte: figures are rounded to three significant digits, in the order of ``CHOSEN``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from ptxbench.arch import DEVICES, Figure, Measurement
from ptxbench.core.errors import PackError
from ptxbench.packs.evidence import REDO, Bundle

HEAD = (
    "# What was measured on devices. Written by benchmarks/device_table.py from an evidence bundle: run that, do not edit this.\n"
)
DIGITS = 3


@dataclass(frozen=True)
class Chosen:
    """A figure of a contract program that the device table takes."""

    name: str
    label: str
    unit: str
    program: str
    check: str
    figure: str


def _latency(name: str, label: str, check: str, figure: str) -> Chosen:
    return Chosen(name, label, "cycles", "latency", check, figure)


_MEMORY, _READS = "a load past L1", "reads by all SMs, 16 bytes a thread"
_BOXES = "boxes of 64 x 128 bf16 (16 KiB) from L2, one SM"
_WGMMA = "m64n256k16 of bf16 on one SM, cycles of one"
_FENCES = "cost after a store to shared memory, 128 threads"

CHOSEN = (
    Chosen("clock", "SM clock while measuring", "MHz", "latency", "clock of an SM while these figures were taken", "clock_mhz"),
    _latency("shared_latency", "Shared memory, load latency", "a load from shared memory", "latency_cycles"),
    _latency("dsmem_latency", "DSMEM, load latency", "a load from another block's shared memory", "latency_cycles"),
    _latency("l2_latency", "L2, load latency", _MEMORY, "l2_latency_cycles"),
    _latency("memory_latency", "Device memory, load latency", _MEMORY, "memory_latency_cycles"),
    Chosen("l2_read", "L2, read by all SMs", "TB/s", "rates", _READS, "l2_tb_per_s"),
    Chosen("memory_read", "Device memory, read by all SMs", "TB/s", "rates", _READS, "memory_tb_per_s"),
    Chosen("tma_latency", "TMA box of 16 KiB from L2, issue to barrier", "cycles", "rates", _BOXES, "latency_cycles"),
    Chosen("tma_rate", "TMA into one SM, 4 such boxes in flight", "B/cycle", "rates", _BOXES, "bytes_per_cycle_4_in_flight"),
    _latency("mbarrier_round", "mbarrier arrive and wait, one thread", "mbarrier of one thread", "arrive_and_wait_cycles"),
    _latency("cluster_barrier", "Cluster barrier, 2 blocks", "cluster of 2 blocks of 128 threads", "sync_cycles"),
    Chosen("fence_shared", "fence.proxy.async.shared::cta", "cycles", "fences", _FENCES, "fence_proxy_async_shared_cycles"),
    Chosen("fence_all", "fence.proxy.async", "cycles", "fences", _FENCES, "fence_proxy_async_cycles"),
    Chosen("wgmma_m64n256k16", "wgmma m64n256k16 bf16, 2 warpgroups", "cycles", "rates", _WGMMA, "two_warpgroups_cycles"),
)


def rounded(value: float) -> float:
    """Return a figure with ``DIGITS`` significant digits."""
    return float(f"{value:.{DIGITS}g}")


def measurements(bundle: Bundle) -> tuple[Measurement, ...]:
    """Return a bundle's figures as entries of the device table.

    Raises ``PackError`` for a device that the table does not know, and for a figure that is missing or not positive.
    """
    device = next((facts.id for facts in DEVICES.values() if facts.name == bundle.device), None)
    if device is None:
        raise PackError(f"no device of the table is called {bundle.device!r}", next_step="add it to arch/devices.py")
    said = {(one.program, one.check, name): value for one in bundle.figures for name, value in one.figures.items()}
    found = []
    for one in CHOSEN:
        value = said.get((one.program, one.check, one.figure), 0.0)
        if not value > 0:
            raise PackError(f"{one.program}: {one.check}: {one.figure} is {value:g} in the bundle", next_step=REDO)
        source = f"measured, {one.program}.cu, {bundle.date[:10]}"
        found.append(Measurement(device, one.name, one.label, Figure(rounded(value), one.unit, source)))
    return tuple(found)


def table(entries: Iterable[Measurement]) -> str:
    """Return the text of ``arch/measured.toml`` for some measurements, in their order."""
    blocks = [HEAD]
    for one in entries:
        rows = {
            "device": one.device,
            "name": one.name,
            "label": one.label,
            "value": one.figure.value,
            "unit": one.figure.unit,
            "source": one.figure.source,
        }
        blocks.append("\n[[figure]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in rows.items()))
    return "".join(blocks)


def updated(entries: Iterable[Measurement], bundle: Bundle) -> tuple[Measurement, ...]:
    """Return measurements with those of the bundle's device replaced by what the bundle says."""
    new = measurements(bundle)
    return (*(one for one in entries if one.device != new[0].device), *new)
