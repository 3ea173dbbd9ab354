"""Clocks, temperature, power and throttle reasons of one GPU, through NVML where it is installed (``nvidia-ml-py``)."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from ptxbench.schema import Clocks

_THROTTLE = {
    0x2: "applications_clocks", 0x4: "software_power_cap", 0x8: "hardware_slowdown", 0x10: "sync_boost",
    0x20: "software_thermal", 0x40: "hardware_thermal", 0x80: "hardware_power_brake", 0x100: "display_clocks",
}  # fmt: skip
"""Bits of ``nvmlClocksEventReasons`` (NVML API reference) that slow the clocks; idleness (bit 0) does not count."""

LOOK_S = 0.01
"""Between two looks at a clock under load."""


@dataclass(frozen=True)
class Reading:
    """One look at the device; None where it does not tell."""

    sm_mhz: int | None
    temperature_c: int | None
    power_w: float | None
    throttle: tuple[str, ...]


@dataclass(frozen=True)
class Glance:
    """The SMs' clock at one moment, and what held it back."""

    sm_mhz: int
    throttle: tuple[str, ...] = ()


class Telemetry:
    """Reads one device. Without NVML every reading is None, and ``clocks`` gives None."""

    def __init__(self, uuid: str | None) -> None:
        self._nvml: Any = None
        self._handle: Any = None
        try:
            import pynvml
        except ImportError:
            return
        try:
            pynvml.nvmlInit()
            self._handle = pynvml.nvmlDeviceGetHandleByUUID(uuid) if uuid else pynvml.nvmlDeviceGetHandleByIndex(0)
        except pynvml.NVMLError:  # no driver library, or a device that it does not manage: there is nothing to read
            return
        self._nvml = pynvml

    def read(self) -> Reading | None:
        """Return what the device tells now, None without NVML."""
        if self._nvml is None:
            return None
        nvml, handle = self._nvml, self._handle
        power = self._ask(nvml.nvmlDeviceGetPowerUsage, handle)
        return Reading(
            sm_mhz=self._ask(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            temperature_c=self._ask(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            power_w=None if power is None else power / 1000.0,
            throttle=self._throttle(),
        )

    def glance(self) -> Glance | None:
        """Return the clock and what holds it back, None where the clock is not told: cheaper than a reading."""
        if self._nvml is None:
            return None
        mhz = self._ask(self._nvml.nvmlDeviceGetClockInfo, self._handle, self._nvml.NVML_CLOCK_SM)
        return None if mhz is None else Glance(mhz, self._throttle())

    def _throttle(self) -> tuple[str, ...]:
        reasons = self._ask(self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons, self._handle) or 0
        return tuple(name for bit, name in _THROTTLE.items() if reasons & bit)

    def memory_errors(self) -> int | None:
        """Return how many memory errors the device could not correct since it was started, None where it does not tell."""
        if self._nvml is None:
            return None
        nvml = self._nvml
        kind, since = nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
        return self._ask(nvml.nvmlDeviceGetTotalEccErrors, self._handle, kind, since)

    def process_bytes(self, pid: int) -> int | None:
        """Return how much device memory a process has, None where NVML does not tell (or does not know its number)."""
        if self._nvml is None:
            return None
        try:
            running = self._nvml.nvmlDeviceGetComputeRunningProcesses(self._handle)
        except self._nvml.NVMLError:  # this device does not tell
            return None
        return next((int(one.usedGpuMemory) for one in running if one.pid == pid and one.usedGpuMemory is not None), None)

    def _ask(self, question: Any, *arguments: Any) -> int | None:
        try:
            return int(question(*arguments))
        except self._nvml.NVMLError:  # this device does not tell
            return None


class ClockWatch:
    """Looks at a clock again and again while the device is at work. A context manager: it looks until it is left.

    ``look`` returns None where nothing is told, and is not asked again then. ``seen`` is what it told.
    """

    def __init__(self, look: Callable[[], Glance | None]) -> None:
        self._read = look
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="clock", daemon=True)
        self.seen: list[Glance] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(LOOK_S):
            now = self._read()
            if now is None:
                return
            self.seen.append(now)


def clocks(before: Reading | None, after: Reading | None, timed: Sequence[Glance] = ()) -> Clocks | None:
    """Return the record of two readings and of what was seen between them, None without NVML."""
    if before is None or after is None:
        return None
    return Clocks(
        sm_mhz_before=before.sm_mhz,
        sm_mhz_after=after.sm_mhz,
        sm_mhz_timed=round(statistics.median(one.sm_mhz for one in timed)) if timed else None,
        temperature_c=after.temperature_c,
        power_w=after.power_w,
        throttle=tuple(dict.fromkeys([*before.throttle, *(reason for one in timed for reason in one.throttle), *after.throttle])),
    )
