"""Which GPUs this machine has, without torch: asked of the driver in a short process of its own, since asking can hang or crash."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from ptxbench.arch import DEVICES, Architecture, DeviceFacts
from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.schema import Task

ASK_SECONDS = 30.0
ASK = Path(__file__).parent / "ask_driver.py"


@dataclass(frozen=True)
class Gpu:
    """One device: its name, compute capability (``(9, 0)``), memory, and the UUID by which it can be chosen."""

    name: str
    capability: tuple[int, int]
    memory_bytes: int
    uuid: str

    @property
    def facts(self) -> DeviceFacts | None:
        """The device table's entry, None for a GPU that is not in it."""
        return device_facts(self.name, self.capability)

    def runs(self, arch: Architecture) -> bool:
        """Whether kernels of an architecture run here: its features exist on exactly one compute capability each."""
        return any(DEVICES[name].compute_capability == self.capability for name in arch.devices)


@dataclass(frozen=True)
class VisibleGpus:
    """The devices that CUDA can use here; ``reason`` says why there are none."""

    devices: tuple[Gpu, ...]
    driver: str | None
    reason: str | None


def device_facts(name: str, capability: tuple[int, int]) -> DeviceFacts | None:
    """Return the device table's entry for a GPU by its name and compute capability, None for one that is not in it."""
    alike = [one for one in DEVICES.values() if one.compute_capability == capability]
    words = name.upper().split()
    return next((one for one in alike if name.startswith(one.name) or one.id.upper() in words), None)


def roofline_us(facts: DeviceFacts | None, task: Task) -> float | None:
    """Return the least time of a task's work at a device's peak rates, None where device or work is not known."""
    if facts is None or task.flops is None or task.bytes is None:
        return None
    dtype = next((spec.dtype for spec in task.definition.inputs.values() if spec.shape is not None), "float32")
    try:
        return facts.roofline_us(task.flops, task.bytes, dtype=dtype)
    except KeyError:  # the table has no peak rate for this type
        return None


def visible_gpus() -> VisibleGpus:
    """Ask the driver which devices can be used. Never raises for a machine without one."""
    if not any(Path("/dev").glob("nvidia[0-9]*")) and not Path("/dev/dxg").exists():
        return VisibleGpus((), driver_version(), "no NVIDIA device is visible")
    kept = {name: value for name, value in os.environ.items() if name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "PATH")}
    done = run_tool([sys.executable, "-I", "-S", str(ASK)], limits=ProcessLimits(wall_seconds=ASK_SECONDS), env=kept)
    if done.timed_out:
        return VisibleGpus((), driver_version(), f"the CUDA driver did not answer within {ASK_SECONDS:g} s")
    if not done.ok:
        text = done.stderr.strip().splitlines()
        return VisibleGpus((), driver_version(), f"the CUDA driver cannot be used: {text[-1] if text else done.returncode}")
    try:
        rows = json.loads(done.stdout)
    except ValueError:
        return VisibleGpus((), driver_version(), "the CUDA driver printed something else than its devices")
    devices = tuple(Gpu(name, (major, minor), memory, uuid) for name, major, minor, memory, uuid in rows)
    return VisibleGpus(devices, driver_version(), None if devices else "the CUDA driver shows no device")


def driver_version() -> str | None:
    """Return the version of the NVIDIA driver that the kernel has loaded, None when there is none."""
    try:
        text = Path("/sys/module/nvidia/version").read_text(encoding="ascii")
    except OSError:
        return None
    return text.strip() or None
