"""Run one built GEMM candidate on the GPU, in a process of its own, and print what came out as JSON.

usage: call_gemm.py LIBRARY LIBTVM_FFI M N K
"""

from __future__ import annotations

import ctypes
import json
import sys

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


def main() -> None:
    library, libtvm = sys.argv[1:3]
    m, n, k = map(int, sys.argv[3:6])
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    ctypes.CDLL(libtvm, mode=ctypes.RTLD_GLOBAL)
    run = ctypes.CDLL(library)["__tvm_ffi_run"]
    worst, mismatches, unwritten = 0.0, 0, 0
    for seed in range(3):
        generator = torch.Generator("cuda").manual_seed(seed)
        a = torch.randn(m, k, device="cuda", generator=generator).bfloat16()
        b = torch.randn(n, k, device="cuda", generator=generator).bfloat16()
        c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
        torch.cuda.synchronize()
        arguments, keep = pack([a, b, c])
        status = run(None, arguments, len(arguments), ctypes.byref(TVMFFIAny()))
        torch.cuda.synchronize()
        del keep
        if status:
            raise SystemExit(f"run returned {status}")
        torch.backends.cuda.matmul.allow_tf32 = False
        expected = a.float() @ b.float().T
        got = c.float()
        unwritten += int(torch.isnan(got).sum())
        mismatches += int((~torch.isclose(got, expected, atol=1e-2, rtol=1e-2)).sum())
        worst = max(worst, float((got - expected).norm() / expected.norm()))

    def clock(call: object, repeats: int = 20) -> float:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        for _ in range(3):
            call()  # type: ignore[operator]
        start.record()
        for _ in range(repeats):
            call()  # type: ignore[operator]
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / repeats * 1000

    arguments, _keep = pack([a, b, c])
    candidate_us = clock(lambda: run(None, arguments, len(arguments), ctypes.byref(TVMFFIAny())))
    reference_us = clock(lambda: torch.matmul(a, b.T))
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
