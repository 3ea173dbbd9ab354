"""Latency records: every sample, in microseconds."""

from __future__ import annotations

from typing import Literal

from ptxbench.schema.base import Record


class ReferenceVersion(Record):
    """Which library, in which version, was timed as the reference."""

    library: str
    version: str | None


class Clocks(Record):
    """State of the device before, during and after timing.

    ``sm_mhz_timed`` is the median of what the device told while candidate and reference were timed: before and after, it is idle,
    and an idle device's clock says little. ``throttle`` is what held the clocks back at any of these times.
    """

    sm_mhz_before: int | None
    sm_mhz_after: int | None
    sm_mhz_timed: int | None = None
    temperature_c: int | None
    power_w: float | None
    throttle: tuple[str, ...]


class Latency(Record):
    """Candidate and reference latency; ``speedup`` = reference / candidate. ``method`` says what was measured.

    ``paired_speedup`` is the median of the trials' own ratios, which clocks that change between trials move less; the published
    definition of a speedup is ``speedup``. None where trials were not paired.
    """

    candidate_us: float | None
    reference_us: float | None
    speedup: float | None
    paired_speedup: float | None = None
    method: Literal["cupti", "events", "wall"]
    trials_us: tuple[float, ...]
    samples_us: tuple[float, ...]
    reference_samples_us: tuple[float, ...]
    reference: ReferenceVersion
    clocks: Clocks | None
    roofline_us: float | None


class Baseline(Record):
    """The reference's latency on one device, as an evaluator measured it the way it measures candidates."""

    device: str
    """Id of the device table."""
    library: str
    version: str | None = None
    latency_us: float
