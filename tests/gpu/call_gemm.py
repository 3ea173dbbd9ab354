"""Run one built GEMM candidate on the GPU, in a process of its own, and print what came out as JSON.

Three draws of fresh inputs are compared with a float32 product; the output is filled with NaN before each. Latencies of candidate
and torch.matmul are taken in turns, so that both meet the same clocks: 40 calls each over three input sets, L2 overwritten before
every call, CUDA events around the call alone, medians in microseconds.

usage: call_gemm.py LIBRARY LIBTVM_FFI M N K
"""

from __future__ import annotations

import ctypes
import json
import statistics
import sys
from collections.abc import Callable
from functools import partial

import torch

KDL_CUDA, KDL_BFLOAT, TVM_FFI_DLTENSOR_PTR = 2, 4, 7


class DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class TVMFFIAny(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", ctypes.c_uint64)]


def pack(tensors: list[torch.Tensor]) -> tuple[ctypes.Array[TVMFFIAny], list[object]]:
    arguments = (TVMFFIAny * len(tensors))()
    keep: list[object] = []
    for slot, tensor in zip(arguments, tensors, strict=True):
        shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
        strides = (ctypes.c_int64 * tensor.dim())(*tensor.stride())
        view = DLTensor(tensor.data_ptr(), DLDevice(KDL_CUDA, 0), tensor.dim(), DLDataType(KDL_BFLOAT, 16, 1), shape, strides, 0)
        keep += [shape, strides, view]
        slot.type_index, slot.value = TVM_FFI_DLTENSOR_PTR, ctypes.addressof(view)
    return arguments, keep


Run = Callable[..., int]


def call(run: Run, arguments: ctypes.Array[TVMFFIAny], keep: list[object]) -> None:
    """Call the candidate; ``keep`` is what the arguments point to."""
    status = run(None, arguments, len(arguments), ctypes.byref(TVMFFIAny()))
    if status:
        raise SystemExit(f"run returned {status}")


def inputs(m: int, n: int, k: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator("cuda").manual_seed(seed)
    a = torch.randn(m, k, device="cuda", generator=generator).bfloat16()
    b = torch.randn(n, k, device="cuda", generator=generator).bfloat16()
    return a, b


def latencies(run: Run, m: int, n: int, k: int) -> tuple[float, float]:
    """Return the median latencies of the candidate and of torch.matmul in microseconds."""
    calls: list[tuple[Callable[[], object], Callable[[], object]]] = []
    for seed in range(3, 6):
        a, b = inputs(m, n, k, seed)
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        arguments, keep = pack([a, b, c])
        calls.append((partial(call, run, arguments, [a, b, c, keep]), partial(torch.matmul, a, b.T, out=c)))
    cache = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device="cuda")
    samples: tuple[list[tuple[torch.cuda.Event, torch.cuda.Event]], ...] = ([], [])
    for number in range(10 + 40):
        for side in (0, 1):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            cache.zero_()
            start.record()
            calls[number % len(calls)][side]()
            end.record()
            if number >= 10:
                samples[side].append((start, end))
    torch.cuda.synchronize()
    candidate, reference = (statistics.median(start.elapsed_time(end) for start, end in pairs) * 1000 for pairs in samples)
    return candidate, reference


def main() -> None:
    library, libtvm = sys.argv[1:3]
    m, n, k = map(int, sys.argv[3:6])
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    ctypes.CDLL(libtvm, mode=ctypes.RTLD_GLOBAL)
    run = ctypes.CDLL(library)["__tvm_ffi_run"]
    worst, mismatches, unwritten = 0.0, 0, 0
    for seed in range(3):
        a, b = inputs(m, n, k, seed)
        c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
        torch.cuda.synchronize()
        arguments, keep = pack([a, b, c])
        call(run, arguments, keep)
        torch.cuda.synchronize()
        torch.backends.cuda.matmul.allow_tf32 = False
        expected = a.float() @ b.float().T
        got = c.float()
        unwritten += int(torch.isnan(got).sum())
        mismatches += int((~torch.isclose(got, expected, atol=1e-2, rtol=1e-2)).sum())
        worst = max(worst, float((got - expected).norm() / expected.norm()))

    candidate_us, reference_us = latencies(run, m, n, k)
    print(
        json.dumps(
            {
                "frobenius": worst,
                "mismatches": mismatches,
                "unwritten": unwritten,
                "candidate_us": candidate_us,
                "reference_us": reference_us,
                "device": torch.cuda.get_device_name(),
            }
        )
    )


if __name__ == "__main__":
    main()
