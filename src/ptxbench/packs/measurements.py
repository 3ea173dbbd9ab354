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
    """What a reader is told: the thing counted and under which load, so that no other reading of the figure is left."""
    unit: str
    program: str
    check: str
    figure: str
    required: bool = True
    """Whether the table cannot do without it. Others are left out when a bundle has them not, or not positive: ``left_out``."""


def _latency(name: str, label: str, check: str, figure: str) -> Chosen:
    return Chosen(name, label, "cycles", "latency", check, figure)


def _rate(name: str, label: str, unit: str, check: str, figure: str) -> Chosen:
    return Chosen(name, label, unit, "rates", check, figure, required=False)


def _clusters(size: int) -> Chosen:
    label = f"Clusters of {size} resident, one CTA an SM"
    return Chosen(f"clusters_of_{size}", label, "clusters", "cluster", _RESIDENT, f"clusters_of_{size}", required=False)


_MEMORY, _READS = "a load past L1", "reads by all SMs, 16 bytes a thread"
_BOXES = "boxes of 64 x 128 bf16 (16 KiB) from L2, one SM"
_BOXES_ALL = "boxes of 16 KiB from L2 into each SM, all loading, 8 in flight"
_BOXES_PAIRS = "boxes of 16 KiB from L2 into both blocks of a cluster, each reads half, 8 in flight"
_WGMMA = "m64n256k16 of bf16 on one SM, cycles of one"
_WGMMA_FORMS = "wgmma of bf16 on one SM, two warpgroups, cycles of one"
_FENCES = "cost after a store to shared memory, 128 threads"
_LOADED = "wgmma in all SMs for about 0.35 s: clock of an SM"
_RESIDENT = "clusters on the device at once, a block an SM"
_EACH = "Tensor cores of one SM, each wgmma"

CHOSEN = (
    Chosen("clock", "SM clock, tensor cores idle", "MHz", "latency", "clock of an SM while these figures were taken", "clock_mhz"),
    _rate("clock_loaded", "SM clock, wgmma in all SMs for 0.3 s, power cap", "MHz", _LOADED, "last_third_mhz"),
    _clusters(2),
    _clusters(4),
    _clusters(8),
    _latency("shared_latency", "Shared memory, load latency", "a load from shared memory", "latency_cycles"),
    _latency("dsmem_latency", "DSMEM, load latency", "a load from another block's shared memory", "latency_cycles"),
    _latency("l2_latency", "L2, load latency", _MEMORY, "l2_latency_cycles"),
    _latency("memory_latency", "Device memory, load latency", _MEMORY, "memory_latency_cycles"),
    Chosen("l2_read", "L2, plain loads, all SMs", "TB/s", "rates", _READS, "l2_tb_per_s"),
    Chosen("memory_read", "Device memory, plain loads, all SMs", "TB/s", "rates", _READS, "memory_tb_per_s"),
    Chosen("tma_latency", "TMA, L2 into one SM alone, 16 KiB, issue to barrier", "cycles", "rates", _BOXES, "latency_cycles"),
    Chosen(
        "tma_rate",
        "TMA, L2 into one SM alone, 64 KiB in flight",
        "B/cycle",
        "rates",
        _BOXES,
        "bytes_per_cycle_4_in_flight",
    ),
    _rate(
        "tma_rate_deep",
        "TMA, L2 into one SM alone, 192 KiB in flight",
        "B/cycle",
        _BOXES,
        "bytes_per_cycle_12_in_flight",
    ),
    _rate("tma_rate_all", "TMA, L2 into each SM, all loading", "B/cycle", _BOXES_ALL, "bytes_per_cycle_of_an_sm"),
    _rate(
        "tma_rate_pairs",
        "TMA multicast in pairs, arriving in each SM, all loading",
        "B/cycle",
        _BOXES_PAIRS,
        "bytes_per_cycle_all_pairs",
    ),
    _latency("mbarrier_round", "mbarrier arrive and wait, one thread", "mbarrier of one thread", "arrive_and_wait_cycles"),
    _latency("cluster_barrier", "Cluster barrier, arrive and wait, 2 CTAs", "cluster of 2 blocks of 128 threads", "sync_cycles"),
    Chosen("fence_shared", "fence.proxy.async.shared::cta", "cycles", "fences", _FENCES, "fence_proxy_async_shared_cycles"),
    Chosen("fence_all", "fence.proxy.async", "cycles", "fences", _FENCES, "fence_proxy_async_cycles"),
    Chosen("wgmma_m64n256k16", f"{_EACH} m64n256k16 bf16", "cycles", "rates", _WGMMA, "two_warpgroups_cycles"),
    _rate("wgmma_m64n128k16", f"{_EACH} m64n128k16 bf16", "cycles", _WGMMA_FORMS, "m64n128k16_ss_cycles"),
    _rate("wgmma_m64n128k16_rs", f"{_EACH} m64n128k16 bf16, A in registers", "cycles", _WGMMA_FORMS, "m64n128k16_rs_cycles"),
    _rate("ex2", "ex2.approx.ftz.f32 on one SM", "results/cycle", "ex2.approx.ftz.f32 on one SM", "results_per_cycle"),
)


def rounded(value: float) -> float:
    """Return a figure with ``DIGITS`` significant digits."""
    return float(f"{value:.{DIGITS}g}")


def measurements(bundle: Bundle) -> tuple[Measurement, ...]:
    """Return a bundle's figures as entries of the device table, without those that ``left_out`` names.

    Raises ``PackError`` for a device that the table does not know, and for a required figure that is missing or not positive.
    """
    device = next((facts.id for facts in DEVICES.values() if facts.name == bundle.device), None)
    if device is None:
        raise PackError(f"no device of the table is called {bundle.device!r}", next_step="add it to arch/devices.py")
    found = []
    for one, value in _values(bundle):
        if value > 0:
            source = f"measured, {one.program}.cu, {bundle.date[:10]}"
            found.append(Measurement(device, one.name, one.label, Figure(rounded(value), one.unit, source)))
        elif one.required:
            raise PackError(f"{one.program}: {one.check}: {one.figure} is {value:g} in the bundle", next_step=REDO)
    return tuple(found)


def left_out(bundle: Bundle) -> tuple[Chosen, ...]:
    """Return the figures that are not required and that a bundle has not, or not positive: not measured, or refused."""
    return tuple(one for one, value in _values(bundle) if not one.required and not value > 0)


def _values(bundle: Bundle) -> list[tuple[Chosen, float]]:
    """Return every figure of the table with its value in a bundle; 0 for one that it has not."""
    said = {(one.program, one.check, name): value for one in bundle.figures for name, value in one.figures.items()}
    return [(one, said.get((one.program, one.check, one.figure), 0.0)) for one in CHOSEN]


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
