"""Oracles against the references, against each other, and against finite differences."""

import numpy as np
import pytest

from ptxbench.core.errors import SuiteError
from ptxbench.suite import load
from ptxbench.suite.degenerate import frobenius_error
from ptxbench.suite.inputs import draw
from ptxbench.suite.oracles import attention, attention_backward
from ptxbench.suite.references import ReferenceFailed, load_oracle, load_reference

SUITE = load()
CPU = [f"{name}@{one.workload.uuid}" for name in SUITE.names if name.startswith("cpu_") for one in SUITE.get(name).workloads]


@pytest.mark.parametrize("kind", ["published", "scaled", "outliers"])
@pytest.mark.parametrize("name", CPU)
def test_the_numpy_reference_is_well_inside_the_strict_bound(name, kind):
    task = SUITE.task(name)
    inputs = draw(task, 11, kind)
    got, oracle = load_reference(task)(inputs), load_oracle(task)(inputs)
    assert list(got) == list(oracle) == list(task.definition.outputs)
    for output, bound in task.tolerance.frobenius.items():
        assert oracle[output].dtype == np.float64 and got[output].shape == oracle[output].shape
        assert frobenius_error(got[output], oracle[output]) < 0.6 * bound


def random_attention(*shape, seed=0):
    stream = np.random.default_rng(seed)
    return {name: stream.standard_normal(shape) for name in ("Q", "K", "V", "dO")}


@pytest.mark.parametrize("causal", [False, True])
def test_the_attention_oracle_is_softmax_of_the_whole_score_matrix(causal):
    inputs = random_attention(2, 1, 300, 8)
    scores = np.einsum("bhqd,bhkd->bhqk", inputs["Q"], inputs["K"]) / np.sqrt(8)
    if causal:
        scores[..., ~np.tri(300, dtype=bool)] = -np.inf
    powers = np.exp(scores)
    outputs = attention(inputs, causal=causal)
    assert np.allclose(outputs["LSE"], np.log(powers.sum(-1)), rtol=1e-12)
    assert np.allclose(outputs["O"], powers / powers.sum(-1, keepdims=True) @ inputs["V"], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("causal", [False, True])
def test_the_backward_oracle_agrees_with_finite_differences_of_the_forward_oracle(causal):
    inputs = random_attention(1, 2, 9, 4)
    forward = attention(inputs, causal=causal)
    gradients = attention_backward(inputs | {"O": forward["O"], "L": forward["LSE"]}, causal=causal)

    def loss(changed):
        return float((attention(inputs | changed, causal=causal)["O"] * inputs["dO"]).sum())

    step = 1e-5
    for name in ("Q", "K", "V"):
        measured = np.empty_like(inputs[name])
        for at in np.ndindex(inputs[name].shape):
            up, down = inputs[name].copy(), inputs[name].copy()
            up[at] += step
            down[at] -= step
            measured[at] = (loss({name: up}) - loss({name: down})) / (2 * step)
        assert np.allclose(gradients[f"d{name}"], measured, atol=1e-8)


def test_causal_attention_never_looks_ahead():
    inputs = random_attention(1, 1, 40, 8)
    before = attention(inputs, causal=True)["O"]
    inputs["V"][..., 20:, :] += 1.0
    after = attention(inputs, causal=True)["O"]
    assert np.array_equal(before[..., :20, :], after[..., :20, :])
    assert not np.isclose(before[..., 20:, :], after[..., 20:, :]).any()


def test_a_reference_that_raises_is_the_suites_fault_and_says_so(write_folder, make_definition, make_line):
    data = make_definition(reference="def run(X):\n    return X.no_such_thing\n")
    task = load([write_folder([data], [make_line()])]).task("double_n8")
    with pytest.raises(ReferenceFailed, match="AttributeError") as caught:
        load_reference(task)(draw(task, 0))
    assert caught.value.code == "reference_failed"


@pytest.mark.parametrize(("body", "message"), [("X[:2]", r"shape \(2, 8\), not \(4, 8\)"), ("(X, X)", "returns 2 values")])
def test_a_reference_whose_outputs_do_not_fit_is_refused(write_folder, make_definition, make_line, body, message):
    data = make_definition(reference=f"def run(X):\n    return {body}\n")
    task = load([write_folder([data], [make_line()])]).task("double_n8")
    with pytest.raises(SuiteError, match=message):
        load_reference(task)(draw(task, 0))


def test_references_bring_their_output_to_the_definitions_type(write_folder, make_definition, make_line):
    data = make_definition(outputs={"Y": {"shape": ["M", "N"], "dtype": "bfloat16"}})
    task = load([write_folder([data], [make_line()])]).task("double_n8")
    assert load_reference(task)(draw(task, 0))["Y"].dtype.name == "bfloat16"
