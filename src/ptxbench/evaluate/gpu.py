"""Which GPUs this machine has, without torch: asked of the driver in a short process of its own, since asking can hang or crash."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.process import ProcessLimits, run_tool

ASK_SECONDS = 30.0
ASK = Path(__file__).parent / "ask_driver.py"


@dataclass(frozen=True)
class Gpu:
    """One device: its name, compute capability (``(9, 0)``) and memory."""

    name: str
    capability: tuple[int, int]
    memory_bytes: int


@dataclass(frozen=True)
class VisibleGpus:
    """The devices that CUDA can use here; ``reason`` says why there are none."""

    devices: tuple[Gpu, ...]
    driver: str | None
    reason: str | None


def visible_gpus() -> VisibleGpus:
    """Ask the driver which devices can be used. Never raises for a machine without one."""
    if not any(Path("/dev").glob("nvidia[0-9]*")) and not Path("/dev/dxg").exists():
        return VisibleGpus((), _driver_version(), "no NVIDIA device is visible")
    kept = {name: value for name, value in os.environ.items() if name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "PATH")}
    done = run_tool([sys.executable, "-I", "-S", str(ASK)], limits=ProcessLimits(wall_seconds=ASK_SECONDS), env=kept)
    if done.timed_out:
        return VisibleGpus((), _driver_version(), f"the CUDA driver did not answer within {ASK_SECONDS:g} s")
    if not done.ok:
        text = done.stderr.strip().splitlines()
        return VisibleGpus((), _driver_version(), f"the CUDA driver cannot be used: {text[-1] if text else done.returncode}")
    devices = tuple(Gpu(name, (major, minor), memory) for name, major, minor, memory in json.loads(done.stdout))
    return VisibleGpus(devices, _driver_version(), None if devices else "the CUDA driver shows no device")


def _driver_version() -> str | None:
    try:
        text = Path("/sys/module/nvidia/version").read_text(encoding="ascii")
    except OSError:
        return None
    return text.strip() or None
