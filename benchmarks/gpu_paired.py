"""Two kernels for one task on the GPU of this machine, in turns: is one faster than the other, and do they give the same?

Every round calls A, B, A once more and the library's reference, in an order that rotates, on one of three sets of inputs. L2 is
overwritten before each call, which also gives the host time to be ahead; CUDA events enclose the call alone. So both kernels meet
the same clocks, and A against itself says what differences mean nothing.

Outputs: of A and B, whether they are equal bit for bit, and the relative error of each against the reference's.

usage: python benchmarks/gpu_paired.py A.cu B.cu TASK[@UUID] OUT.json [ROUNDS]
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

import evidence
from ptxbench.core.canonical import sha256
from ptxbench.core.settings import Settings
from ptxbench.schema import Task
from ptxbench.suite import load
from ptxbench.suite.on_device import draw_fresh_on, load_reference_on
from ptxbench.suite.torch_types import TORCH_TYPES
from ptxbench.toolchain import Builder, locate, read_candidate

ARCH = "sm_90a"
SEEDS = (11, 12, 13)
WARM_UP = 10
ROUNDS = 60
SCRUB_BYTES = 1 << 30
"""Many times L2: some 300 us, in which the host gets ahead of the device."""

# TVM-FFI's C interface (tvm/ffi/c_api.h) and DLPack's codes.
TENSOR_POINTER = 7
DEVICES = {"cpu": 1, "cuda": 2}
CODES = {torch.float32: (2, 32), torch.float16: (2, 16), torch.bfloat16: (4, 16)}

Call = Callable[[], object]


class Tensor(ctypes.Structure):
    """A DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Argument(ctypes.Structure):
    """A TVMFFIAny."""

    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", ctypes.c_uint64)]


def described(tensor: torch.Tensor) -> Tensor:
    """Return a tensor as kernels see it; torch keeps the memory."""
    code, bits = CODES[tensor.dtype]
    shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
    strides = (ctypes.c_int64 * tensor.dim())(*tensor.stride())
    place = (DEVICES[tensor.device.type], tensor.device.index or 0)
    return Tensor(tensor.data_ptr(), *place, tensor.dim(), code, bits, 1, shape, strides, 0)


class Kernel:
    """A built kernel that is called in this process."""

    def __init__(self, path: Path, settings: Settings, arch: str = ARCH) -> None:
        self.path = path
        result = Builder(settings).build(read_candidate(path, arch=arch))
        if not result.build.ok or result.library is None:
            raise SystemExit(f"{path} does not compile: {result.build.diagnostics}")
        ctypes.CDLL(str(locate(settings).tvm_library), mode=ctypes.RTLD_GLOBAL)
        self.build = result.build
        self._run = ctypes.CDLL(str(result.library))["__tvm_ffi_run"]

    def call(self, tensors: Sequence[torch.Tensor]) -> Call:
        """Return a call on these inputs and outputs. It raises ``SystemExit`` when the kernel says that it failed."""
        views = [described(one) for one in tensors]
        arguments = (Argument * len(views))(*(Argument(TENSOR_POINTER, 0, ctypes.addressof(view)) for view in views))

        def once() -> None:
            status = self._run(None, arguments, len(arguments), ctypes.byref(Argument()))
            if status:
                raise SystemExit(f"{self.path}: run returned {status} on {[tuple(one.shape) for one in tensors]} ({len(views)})")

        return once

    def figures(self) -> dict[str, Any]:
        """Return what was built."""
        return {
            "file": self.path.name,
            "sha256": sha256(self.path.read_bytes()),
            "kernels": [
                {
                    "name": one.name,
                    "registers": one.registers,
                    "spill_bytes": one.spill_bytes,
                    "instructions": sum(one.opcodes.values()),
                }
                for one in self.build.kernels
            ],
        }


def empty_outputs(task: Task, device: str) -> dict[str, torch.Tensor]:
    """Return outputs full of NaN: what a kernel does not write is seen."""
    axes = task.workload.axes
    return {
        name: torch.full(task.definition.shape(name, axes) or (), float("nan"), dtype=TORCH_TYPES[one.dtype], device=device)
        for name, one in task.definition.outputs.items()
    }


def agreement(task: Task, kernels: Sequence[Kernel], device: str) -> dict[str, Any]:
    """Compare the outputs of both kernels with each other and with the reference."""
    inputs = draw_fresh_on(task, 1, device)
    wanted = load_reference_on(task, device)(inputs)
    got = []
    for kernel in kernels:
        outputs = empty_outputs(task, device)
        kernel.call([*inputs.values(), *outputs.values()])()
        torch.cuda.synchronize()
        got.append(outputs)

    def error(values: torch.Tensor, expected: torch.Tensor) -> float:
        return float((values.double() - expected.double()).norm() / expected.double().norm())

    return {
        name: {
            "equal_bits": bool(torch.equal(got[0][name].view(torch.uint8), got[1][name].view(torch.uint8))),
            "unwritten": [int(torch.isnan(outputs[name]).sum()) for outputs in got],
            "relative_error": [error(outputs[name], expected) for outputs in got],
        }
        for name, expected in wanted.items()
    }


def timed(task: Task, kernels: Sequence[Kernel], device: str, rounds: int) -> dict[str, list[float]]:
    """Return the microseconds of each player's calls, round by round."""
    names = ("a", "b", "a_again", "reference")
    reference = load_reference_on(task, device)
    sets: list[dict[str, Call]] = []
    for seed in SEEDS:
        inputs, outputs = draw_fresh_on(task, seed, device), empty_outputs(task, device)
        tensors = [*inputs.values(), *outputs.values()]
        calls: list[Call] = [
            kernels[0].call(tensors),
            kernels[1].call(tensors),
            kernels[0].call(tensors),
            partial(reference, inputs),
        ]
        sets.append(dict(zip(names, calls, strict=True)))
    scrub = torch.empty(SCRUB_BYTES, dtype=torch.uint8, device=device)
    events: dict[str, list[tuple[torch.cuda.Event, torch.cuda.Event]]] = {name: [] for name in names}
    for number in range(WARM_UP + rounds):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            scrub.zero_()
            start.record()
            sets[number % len(sets)][name]()
            end.record()
            if number >= WARM_UP:
                events[name].append((start, end))
        torch.cuda.synchronize()
    return {name: [start.elapsed_time(end) * 1000 for start, end in pairs] for name, pairs in events.items()}


def ratio(over: Sequence[float], under: Sequence[float]) -> dict[str, float]:
    """Return the ratio of medians, and the quartiles of the rounds' own ratios."""
    low, middle, high = statistics.quantiles([a / b for a, b in zip(over, under, strict=True)], n=4)
    medians = statistics.median(over) / statistics.median(under)
    return {"medians": round(medians, 4), "lower": round(low, 4), "middle": round(middle, 4), "upper": round(high, 4)}


def main() -> None:
    paths, name, out = [Path(argument) for argument in sys.argv[1:3]], sys.argv[3], Path(sys.argv[4])
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else ROUNDS
    settings, device = Settings(), "cuda:0"
    task = load().task(name, arch=ARCH)
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    kernels = [Kernel(path, settings) for path in paths]
    agreed = agreement(task, kernels, device)
    samples = timed(task, kernels, device, rounds)
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    evidence.write(
        out,
        {
            "gpu": subprocess.run(query, capture_output=True, text=True).stdout.strip(),
            "toolchain": locate(settings).versions.model_dump(),
            "torch": torch.__version__,
            "task": task.name,
            "axes": task.axes,
            "rounds": rounds,
            "a": kernels[0].figures(),
            "b": kernels[1].figures(),
            "outputs": agreed,
            "median_us": {name: round(statistics.median(values), 2) for name, values in samples.items()},
            "a_over_b": ratio(samples["a"], samples["b"]),
            "a_over_itself": ratio(samples["a"], samples["a_again"]),
            "reference_over_a": ratio(samples["reference"], samples["a"]),
            "reference_over_b": ratio(samples["reference"], samples["b"]),
        },
    )


if __name__ == "__main__":
    main()
