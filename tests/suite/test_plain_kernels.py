"""The plain kernels: their device code computes the tasks (on the host, thread by thread), and holds no target instruction."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ptxbench import arch as architectures
from ptxbench.core.settings import Settings
from ptxbench.schema import Profile
from ptxbench.suite import load
from ptxbench.suite.kernels import PLAIN, kernel_path, plain_kernel
from ptxbench.suite.oracles import ORACLES
from ptxbench.suite.tolerance import attention_backward_tolerance, attention_tolerance, gemm_tolerance
from ptxbench.toolchain import Builder, read_candidate
from ptxbench.toolchain.policy import verdict

HOST = Path(__file__).with_name("host_cuda")
ORDERS = pytest.mark.parametrize("reversed_order", [False, True], ids=["first_to_last", "last_to_first"])
BF16 = ml_dtypes.bfloat16
HEADS = 2


SOURCES = kernel_path(PLAIN["gemm"]).parents[1]


def host_library(name: str, folder: Path, sources: Path = SOURCES) -> ctypes.CDLL:
    """Compile a family's device code for the host."""
    library = folder / f"{name}.so"
    flags = ["-std=c++17", "-O2", "-fno-strict-aliasing", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-shared", "-fPIC"]
    files = ["-I", HOST, "-I", sources / name, HOST / f"{name}.cpp", "-o", library]
    subprocess.run(["g++", *flags, *files], check=True, timeout=120)
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="module")
def gemm(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return host_library("gemm", tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="module")
def attention(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return host_library("attention", tmp_path_factory.mktemp("host"))


def unwritten(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """An output full of NaN, with a row more than the kernel may write."""
    return np.full((shape[0] + 1, *shape[1:]), np.nan, dtype)


def hold(got: dict[str, np.ndarray], wanted: dict[str, np.ndarray], bounds: dict[str, float]) -> None:
    assert got.keys() == wanted.keys() == bounds.keys()
    for name, bound in bounds.items():
        assert np.isnan(got[name][-1].astype(np.float32)).all(), f"{name}: something lies behind it"
        values, expected = got[name][:-1].astype(np.float64), wanted[name]
        assert np.linalg.norm(values - expected) <= bound * np.linalg.norm(expected), name


def pointers(arrays: list[np.ndarray]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


@ORDERS
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 8), (128, 128, 64), (130, 257, 72), (257, 130, 104)])
def test_the_gemm_is_right_on_whole_and_ragged_tiles(gemm, m, n, k, reversed_order):
    draw = np.random.default_rng(m)
    a, b = (draw.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
    c = unwritten((m, n), BF16)
    arguments = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)]
    assert gemm.run_gemm(reversed_order, *arguments, m, n, k) == 0
    hold({"C": c}, ORACLES["gemm"]({"A": a, "B": b}), gemm_tolerance(k).frobenius)


def attention_inputs(length: int, head: int, scale: float) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(length)
    shape = (1, HEADS, length, head)
    factors = {"Q": scale, "K": 1.0, "V": scale}
    return {name: (factor * draw.standard_normal(shape)).astype(BF16) for name, factor in factors.items()}


LENGTHS = [(1, 1.0), (64, 4.0), (150, 1.0)]
"""Queries and keys, and how much larger than published Q and V are: one row, one whole tile, three tiles of which one is ragged."""


@ORDERS
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("head", [64, 96, 128, 256])
@pytest.mark.parametrize(("length", "scale"), LENGTHS)
def test_attention_forward_is_right(attention, length, scale, head, causal, reversed_order):
    inputs = attention_inputs(length, head, scale)
    flat = [array.reshape(-1, head) for array in inputs.values()]
    outputs = {"O": unwritten((HEADS * length, head), BF16), "LSE": unwritten((HEADS * length,), np.float32)}
    arguments = pointers([*flat, *outputs.values()])
    assert attention.run_attention(1, causal, reversed_order, head, arguments, HEADS, length) == 0
    found = ORACLES["attention_causal" if causal else "attention"](inputs)
    wanted = {"O": found["O"].reshape(-1, head), "LSE": found["LSE"].reshape(-1)}
    hold(outputs, wanted, attention_tolerance("bfloat16", length, head).frobenius)


@ORDERS
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("head", [64, 96, 128])
@pytest.mark.parametrize(("length", "scale"), LENGTHS)
def test_attention_backward_is_right(attention, length, scale, head, causal, reversed_order):
    inputs = attention_inputs(length, head, scale)
    suffix = "_causal" if causal else ""
    forward = ORACLES[f"attention{suffix}"](inputs)
    inputs |= {"O": forward["O"].astype(BF16), "dO": attention_inputs(length, head, scale)["V"][..., ::-1].copy()}
    inputs |= {"L": forward["LSE"].astype(np.float32)}
    outputs = {name: unwritten((HEADS * length, head), BF16) for name in ("dQ", "dK", "dV")}
    arguments = pointers([*inputs.values(), *outputs.values()])
    assert attention.run_attention(0, causal, reversed_order, head, arguments, HEADS, length) == 0
    wanted = {name: value.reshape(-1, head) for name, value in ORACLES[f"attention_backward{suffix}"](inputs).items()}
    bounds = attention_backward_tolerance("bfloat16", length, head).frobenius
    if length == 1:
        # One key: the softmax is constant, and dQ and dK are what rounding leaves of P * (dP - dot) = 0.
        for name in ("dQ", "dK"):
            assert np.abs(outputs.pop(name)[:-1].astype(np.float64) - wanted.pop(name)).max() < 1e-2
        bounds = {"dV": bounds["dV"]}
    hold(outputs, wanted, bounds)


BARRIER = "__syncthreads();"
BARRIERS = [
    (name, header, number)
    for name, header in (("gemm", "gemm"), ("attention", "forward"), ("attention", "backward"))
    for number in range((SOURCES / name / f"{header}.cuh").read_text(encoding="utf-8").count(BARRIER))
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "header", "number"), BARRIERS)
def test_no_barrier_can_be_left_out_unnoticed(name, header, number, tmp_path):
    copied = tmp_path / name
    shutil.copytree(SOURCES / name, copied)
    path = copied / f"{header}.cuh"
    parts = path.read_text(encoding="utf-8").split(BARRIER)
    parts[number : number + 2] = [parts[number] + parts[number + 1]]
    path.write_text(BARRIER.join(parts), encoding="utf-8")
    library = host_library(name, tmp_path, tmp_path)
    tries = {
        "gemm": partial(test_the_gemm_is_right_on_whole_and_ragged_tiles, library, 130, 257, 72),
        "forward": partial(test_attention_forward_is_right, library, 150, 1.0, 64, False),
        "backward": partial(test_attention_backward_is_right, library, 150, 1.0, 64, False),
    }
    wrong = 0
    for reversed_order in (False, True):
        try:
            tries[header](reversed_order)
        except AssertionError:
            wrong += 1
    assert wrong


def test_every_primary_task_has_a_plain_kernel_and_no_other():
    suite = load()
    kernels = {name: plain_kernel(suite.get(name)) for name in suite.names}
    assert {name for name, kernel in kernels.items() if kernel is None} == {name for name in kernels if name.startswith("cpu_")}
    assert {str(kernel.relative_to(kernel.parents[2])) for kernel in kernels.values() if kernel} == set(PLAIN.values())
    for name, kernel in kernels.items():
        if kernel:
            assert kernel.stem.endswith("_causal") is name.endswith("_causal"), name
            assert (
                kernel.stem.partition("_")[0]
                == {"gemm": "gemm", "mha": "backward" if "bwd" in name else "forward"}[name.partition("_")[0]]
            )


@pytest.mark.parametrize("arch", ["sm_90a", pytest.param("sm_100a", marks=pytest.mark.slow)])
@pytest.mark.parametrize("relative", PLAIN.values())
def test_a_plain_kernel_holds_no_target_instruction_and_no_matrix_product(relative, arch, settings: Settings):
    result = Builder(settings).build(read_candidate(kernel_path(relative), arch=arch))
    assert result.build.ok and not result.build.diagnostics
    assert verdict(result.violations, Profile.STRICT).ok and not result.violations
    for kernel in result.build.kernels:
        assert kernel.spill_bytes == 0 and kernel.opcodes["FFMA"] > 400
        assert architectures.get(arch).predicates(kernel.opcodes) == (False, False)
        # HFMA2.MMA is ptxas's way to move a constant, no product of matrices.
        units = {opcode.partition(".")[0] for opcode in kernel.opcodes}
        assert not [unit for unit in units if re.search(r"MMA$|^UTMA|^UBLK|^SYNCS|^LDSM|^STSM|^LDGSTS|^WARPGROUP", unit)]
    text = "".join(source.content for source in read_candidate(kernel_path(relative), arch=arch).sources)
    assert "asm" not in text and "mma" not in text
