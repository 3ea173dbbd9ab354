"""With Triton installed (3.9 was): its schedules' kernels compile for sm_90a without a GPU, and are right in its interpreter."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.packs.loading import DATA

FOLDER = DATA / "schedules" / "snippets" / "triton"
needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
pytestmark = [needs_triton]
INTEGERS = {"M", "N", "K", "n", "length", "count"}
MATRIX = {"K": "i32", "M": "i32", "N": "i32"}
LIMIT = 227 * 1024


def kernels(name: str):
    spec = importlib.util.spec_from_file_location(f"triton_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ptx(tmp_path, monkeypatch):
    """Compile a kernel and return its PTX and its bytes of shared memory."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    def compile(kernel, types, constants, **options):
        signature = {name: types.get(name, "constexpr") for name in kernel.arg_names}
        divisible = [i for i, name in enumerate(kernel.arg_names) if types.get(name, "").startswith("*") or name in INTEGERS]
        attributes = {(i,): [["tt.divisibility", 16]] for i in divisible if "constexpr" not in signature[kernel.arg_names[i]]}
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
        made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
        return made.asm["ptx"], made.metadata.shared

    return compile


def tiles(*block: int) -> str:
    return f"tensordesc<bf16[{','.join(map(str, block))}]>"


def pointers(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "*bf16")


ATTENTION = {**pointers("Q", "K", "V", "O"), "LSE": "*fp32", "count": "i32", "n": "i32", "scale": "fp32"}
OUTSIDE = {"lse": "*fp32", "delta": "*fp32", "length": "i32", "scale": "fp32"}
KERNELS = {
    "grouped": ("gemm", "grouped", {**MATRIX, **pointers("a", "b", "c")}, {"BM": 128, "BN": 256, "BK": 64, "GROUP": 8}, 8, 3),
    **{
        f"persistent {warps}": (
            "gemm",
            "persistent",
            {"M": "i32", "N": "i32", "K": "i32", **pointers("A", "B", "C")},
            {"BM": 128, "BN": 256, "BK": 64, "GROUP": 8, "WS": warps == 4},
            warps,
            3,
        )
        for warps in (4, 8)
    },
    **{
        f"forward {warps} {keys} {causal}": (
            "attention_forward",
            "forward",
            ATTENTION,
            {"CAUSAL": causal, "BQ": 128, "BK": keys, "D": 128, "WS": warps == 4},
            warps,
            256 // keys,
        )
        for warps, keys in ((4, 128), (4, 64), (8, 128))
        for causal in (False, True)
    },
    "keys": (
        "attention_backward",
        "d_keys_values",
        {
            "q": tiles(64, 128),
            "k": tiles(128, 128),
            "v": tiles(128, 128),
            "d_o": tiles(64, 128),
            **pointers("d_k", "d_v"),
            **OUTSIDE,
        },
        {"CAUSAL": True, "OWN": 128, "STEP": 64, "D": 128},
        8,
        2,
    ),
    "queries": (
        "attention_backward",
        "d_queries",
        {"q": tiles(128, 128), "k": tiles(64, 128), "v": tiles(64, 128), "d_o": tiles(128, 128), **pointers("d_q"), **OUTSIDE},
        {"CAUSAL": False, "OWN": 128, "STEP": 64, "D": 128},
        8,
        2,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_of_the_schedules_become_wgmma_and_tma(name, ptx):
    file, kernel, types, constants, warps, stages = KERNELS[name]
    text, shared = ptx(getattr(kernels(file), kernel), types, constants, num_warps=warps, num_stages=stages)
    assert "wgmma.mma_async" in text and "st.local" not in text and shared <= LIMIT
    assert ("cp.async.bulk.tensor" in text) == (kernel != "grouped")
    assert ("setmaxnreg" in text) == (constants.get("WS") is True)


def test_specialisation_needs_four_warps_and_is_ignored_with_eight(ptx):
    file, kernel, types, constants, _, stages = KERNELS["persistent 4"]
    ignored, _ = ptx(getattr(kernels(file), kernel), types, constants, num_warps=8, num_stages=stages)
    taken, _ = ptx(getattr(kernels(file), kernel), types, constants, num_warps=4, num_stages=stages)
    assert "setmaxnreg" not in ignored and re.search(r"\.reqntid 256", ignored)
    assert "setmaxnreg" in taken and re.search(r"\.reqntid 384", taken)


PRODUCT = """
import triton
import triton.language as tl

@triton.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x, y = tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + n[:, None] * K + k[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y.T, input_precision=PRECISION))
"""


def product(folder: Path):
    (folder / "product.py").write_text(PRODUCT)
    spec = importlib.util.spec_from_file_location("triton_product", folder / "product.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.product


@pytest.mark.parametrize(
    ("type", "rows", "warps", "precision", "wanted"),
    [
        ("*bf16", 64, 4, "tf32", "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"),
        ("*bf16", 32, 4, "tf32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
        ("*bf16", 64, 2, "tf32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
        ("*fp32", 64, 4, "tf32", "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32"),
        ("*fp32", 64, 4, "ieee", "fma.rn.f32"),
    ],
)
def test_a_product_becomes_wgmma_with_64_rows_and_a_warpgroup(type, rows, warps, precision, wanted, ptx, tmp_path):
    types = {"a": type, "b": type, "c": "*fp32"}
    constants = {"M": rows, "N": 64, "K": 64, "PRECISION": precision}
    text, _ = ptx(product(tmp_path), types, constants, num_warps=warps)
    assert set(re.findall(r"(?:wgmma\.mma_async|mma)\.sync\.[\w.]+", text)) == ({wanted} if "mma" in wanted else set())
    assert wanted in text


def test_a_size_that_is_no_power_of_two_does_not_compile(ptx, tmp_path):
    from triton.compiler.errors import CompilationError

    with pytest.raises(CompilationError):
        ptx(product(tmp_path), {"a": "*bf16", "b": "*bf16", "c": "*fp32"}, {"M": 96, "N": 64, "K": 64, "PRECISION": "tf32"})


@pytest.mark.slow
def test_the_kernels_of_the_schedules_are_right_in_the_interpreter():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    command = [sys.executable, "-W", "ignore", str(Path(__file__).parent / "triton" / "interpret.py"), str(FOLDER)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, env={**os.environ, "TRITON_INTERPRET": "1"})
    assert done.returncode == 0, done.stderr[-3000:]
    errors = json.loads(done.stdout)
    assert len(errors) == 6 + 18
    assert all(math.isfinite(error) and error < (1e-9 if "x" in case else 2e-4) for case, error in errors.items()), errors
