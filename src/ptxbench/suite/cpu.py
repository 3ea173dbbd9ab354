"""Tasks for the host's processor: small, for development and CI, with NumPy references."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ptxbench.schema import Definition, Reference, Sampler, TaskSpec
from ptxbench.suite.family import Axes, const, own_uuid, spec, tensor, var
from ptxbench.suite.gemm import SAMPLERS as GEMM_SAMPLERS
from ptxbench.suite.gemm import gemm_definition, gemm_flops
from ptxbench.suite.mha_backward import backward_definition, backward_flops, backward_samplers
from ptxbench.suite.mha_forward import SAMPLERS as ATTENTION_SAMPLERS
from ptxbench.suite.mha_forward import attention_definition, attention_flops
from ptxbench.suite.sources import reference_source
from ptxbench.suite.tolerance import (
    attention_backward_tolerance,
    attention_tolerance,
    gemm_tolerance,
    softmax_tolerance,
)

ARCHS = ("cpu",)
REFERENCE = Reference(library="NumPy", needs="numpy")
HEAD = 64
COLUMNS = 1024

ATTENTION_SIZES = ({"B": 1, "H": 4, "S": 256}, {"B": 2, "H": 1, "S": 77}, {"B": 1, "H": 1, "S": 1})
"""The default, an odd length that no tile divides, and a single query."""


def softmax_flops(axes: Axes) -> int:
    """Return 4 * M * N: a subtraction, an exponential (counted as one), an addition and a division for every element."""
    return 4 * axes["M"] * axes["N"]


def _identified(name: str, sizes: tuple[dict[str, int], ...]) -> dict[str, dict[str, int]]:
    return {own_uuid(name, axes): axes for axes in sizes}


def _gemm() -> TaskSpec:
    name = "cpu_gemm_n256_k256"
    workloads = _identified(name, ({"M": 256}, {"M": 33}, {"M": 1}))
    description = "C = A B^T with N = K = 256 on the host: bfloat16 operands, float32 sums, one rounding to bfloat16."
    return spec(
        gemm_definition(name, 256, 256, "gemm_numpy", description),
        workloads,
        family="gemm",
        source="ptxbench",
        default=next(iter(workloads)),
        flops=gemm_flops,
        work_share=None,
        reference=REFERENCE,
        tolerance=gemm_tolerance(256),
        samplers=GEMM_SAMPLERS,
        oracle="gemm",
        archs=ARCHS,
    )


def _softmax() -> TaskSpec:
    name = f"cpu_softmax_n{COLUMNS}"
    workloads = _identified(name, ({"M": 256}, {"M": 37}, {"M": 1}))
    definition = Definition.model_validate(
        {
            "name": name,
            "description": f"Softmax of every row of X, {COLUMNS} elements long.",
            "op_type": "softmax",
            "axes": {"M": var("rows"), "N": const(COLUMNS, "elements of a row")},
            "constraints": ["M >= 1"],
            "inputs": {"X": tensor("M", "N", dtype="float32")},
            "outputs": {"Y": tensor("M", "N", dtype="float32")},
            "reference": reference_source("softmax_numpy"),
        }
    )
    return spec(
        definition,
        workloads,
        family="softmax",
        source="ptxbench",
        default=next(iter(workloads)),
        flops=softmax_flops,
        work_share=None,
        reference=REFERENCE,
        tolerance=softmax_tolerance(COLUMNS),
        # N(0, 1) would give outputs near 1/1024, which atol = 1e-2 cannot tell from zero. Scaled, exp overflows in float32
        # unless the row's maximum is subtracted first.
        samplers={"X": Sampler(kind="normal", scale=4.0, scaled=8.0)},
        oracle="softmax",
        archs=ARCHS,
    )


def _attention(causal: bool) -> TaskSpec:
    name = f"cpu_mha_with_lse_d{HEAD}" + ("_causal" if causal else "")
    workloads = _identified(name, ATTENTION_SIZES)
    return spec(
        attention_definition(name, HEAD, "float32", "attention_numpy", causal),
        workloads,
        family="mha_forward",
        source="ptxbench",
        default=next(iter(workloads)),
        flops=partial(attention_flops, causal=causal),
        work_share=None,
        reference=REFERENCE,
        tolerance=attention_tolerance("float32", 256, HEAD),
        samplers=ATTENTION_SAMPLERS,
        oracle="attention_causal" if causal else "attention",
        archs=ARCHS,
    )


def _attention_backward(causal: bool) -> TaskSpec:
    name = f"cpu_mha_bwd_d{HEAD}" + ("_causal" if causal else "")
    workloads = _identified(name, ATTENTION_SIZES[:2])
    return spec(
        backward_definition(name, HEAD, "float32", "attention_backward_numpy", causal),
        workloads,
        family="mha_backward",
        source="ptxbench",
        default=next(iter(workloads)),
        flops=partial(backward_flops, causal=causal),
        work_share=None,
        reference=REFERENCE,
        tolerance=attention_backward_tolerance("float32", 256, HEAD),
        samplers=backward_samplers(causal),
        oracle="attention_backward_causal" if causal else "attention_backward",
        archs=ARCHS,
    )


def tasks() -> Iterator[TaskSpec]:
    """Yield the CPU tasks. Backward has no single-query workload: its dQ and dK are exactly zero."""
    yield _gemm()
    yield _softmax()
    for causal in (False, True):
        yield _attention(causal)
    for causal in (False, True):
        yield _attention_backward(causal)
