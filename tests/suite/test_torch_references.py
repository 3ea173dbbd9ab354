"""The torch references of the GPU tasks, on the CPU at small sizes, against the float64 oracles."""

import importlib.util

import numpy as np
import pytest

from ptxbench.core.errors import ToolMissing
from ptxbench.suite import load
from ptxbench.suite.degenerate import frobenius_error
from ptxbench.suite.inputs import draw
from ptxbench.suite.references import load_oracle, load_reference

SUITE = load()
SMALL = {"gemm": {"M": 33}, "mha_forward": {"B": 2, "H": 2, "S": 77}, "mha_backward": {"B": 1, "H": 2, "S": 77}}
GPU = [name for name in SUITE.names if SUITE.get(name).archs != ("cpu",)]


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed: the torch references were not run")


def small(name):
    task = SUITE.task(name)
    return task.model_copy(update={"workload": task.workload.model_copy(update={"axes": SMALL[task.family]})})


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["published", "scaled", "outliers"])
@pytest.mark.parametrize("name", ["gemm_n128_k2048", *(name for name in GPU if name.startswith("mha"))])
def test_the_torch_reference_is_inside_the_strict_bound(torch, name, kind):
    task = small(name)
    inputs = draw(task, 2, kind)
    got, oracle = load_reference(task)(inputs), load_oracle(task)(inputs)
    for output, bound in task.tolerance.frobenius.items():
        assert got[output].dtype.name == task.definition.outputs[output].dtype
        assert frobenius_error(got[output], oracle[output]) < 0.8 * bound


@pytest.mark.torch
@pytest.mark.parametrize("mask", ["", "_causal"])
def test_the_oracles_agree_with_torchs_own_attention_and_autograd(torch, mask):
    task = SUITE.task(f"cpu_mha_bwd_d64{mask}")
    inputs = draw(task, 4)
    q, k, v = (torch.from_numpy(inputs[name]).double().requires_grad_() for name in "QKV")
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(mask))
    out.backward(torch.from_numpy(inputs["dO"]).double())
    gradients = load_oracle(task)(inputs)
    for name, tensor in (("dQ", q), ("dK", k), ("dV", v)):
        assert frobenius_error(gradients[name], tensor.grad.numpy()) < 1e-5
    forward = load_oracle(SUITE.task(f"cpu_mha_with_lse_d64{mask}"))(inputs)
    assert frobenius_error(forward["O"], out.detach().numpy()) < 1e-12


@pytest.mark.torch
def test_the_cudnn_operators_have_the_signatures_that_the_references_call(torch):
    forward = torch.ops.aten._scaled_dot_product_cudnn_attention.default._schema
    backward = torch.ops.aten._scaled_dot_product_cudnn_attention_backward.default._schema
    assert [argument.name for argument in forward.arguments] == [
        *("query", "key", "value", "attn_bias", "compute_log_sumexp", "dropout_p", "is_causal", "return_debug_mask", "scale"),
    ]  # fmt: skip
    assert [argument.name for argument in backward.arguments] == [
        *("grad_out", "query", "key", "value", "out", "logsumexp", "philox_seed", "philox_offset", "attn_bias"),
        *("cum_seq_q", "cum_seq_k", "max_q", "max_k", "dropout_p", "is_causal", "scale"),
    ]  # fmt: skip
    assert [result.name for result in forward.returns][:2] == ["output", "logsumexp"]


@pytest.mark.torch
def test_foreign_float16_and_float8_arrays_reach_torch_and_come_back(torch, write_folder, make_definition, make_line):
    for dtype in ("float16", "float8_e4m3fn", "float8_e5m2", "int32", "bool"):
        tensor = {"shape": ["M", "N"], "dtype": dtype}
        source = "import torch\n\ndef run(X):\n    assert isinstance(X, torch.Tensor)\n    return X.clone()\n"
        data = make_definition(inputs={"X": tensor}, outputs={"Y": tensor}, reference=source)
        task = load([write_folder([data], [make_line()], dtype)]).task("double_n8")
        inputs = draw(task, 0)
        output = load_reference(task)(inputs)["Y"]
        assert output.dtype == inputs["X"].dtype and np.array_equal(output, inputs["X"])


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_without_torch_the_missing_library_is_named_with_its_extra():
    with pytest.raises(ToolMissing, match="needs torch") as caught:
        load_reference(SUITE.task("gemm_n7168_k5120"))
    assert "[gpu]" in caught.value.next_step


@pytest.mark.parametrize("name", GPU)
def test_causal_references_differ_from_plain_ones_in_nothing_but_the_constant(name):
    reference = SUITE.get(name).definition.reference
    if SUITE.get(name).family == "gemm":
        assert "CAUSAL" not in reference
    else:
        assert reference.count(f"CAUSAL = {name.endswith('_causal')}\n") == 1
        assert reference.count("CAUSAL = ") == 1
