"""``draw``: the same inputs for the same seed, with the promised distributions."""

import hashlib
import json

import ml_dtypes
import numpy as np
import pytest

from ptxbench.core.errors import SuiteError, UsageError
from ptxbench.schema import Sampler, Workload
from ptxbench.suite import load
from ptxbench.suite.dtypes import NUMPY_TYPES
from ptxbench.suite.inputs import OUTLIER_FACTOR, draw
from ptxbench.suite.references import load_reference
from ptxbench.suite.safetensors import write_tensors

CPU = [name for name in load().names if name.startswith("cpu_")]


def same(left, right):
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize("name", CPU)
def test_inputs_come_in_definition_order_with_the_promised_shapes_and_types(name):
    for one in load().get(name).workloads:
        task = load().task(f"{name}@{one.workload.uuid}")
        inputs = draw(task, 3)
        assert list(inputs) == list(task.definition.inputs)
        for argument, value in inputs.items():
            assert value.shape == task.definition.shape(argument, task.workload.axes)
            assert value.dtype == NUMPY_TYPES[task.definition.inputs[argument].dtype]
            assert value.flags.c_contiguous and np.isfinite(value.astype(np.float64)).all()


@pytest.mark.parametrize("kind", ["published", "scaled", "outliers"])
def test_a_seed_gives_the_same_inputs_again_and_another_seed_gives_others(kind):
    task = load().task("cpu_mha_bwd_d64")
    assert same(draw(task, 7, kind), draw(task, 7, kind))
    other = draw(task, 8, kind)
    assert not any(np.array_equal(value, other[name]) for name, value in draw(task, 7, kind).items())


def test_the_published_inputs_of_seed_0_never_change():
    """Results name a seed: the bits behind it are part of the protocol (NumPy's Philox stream and normal distribution)."""
    values = draw(load().task("cpu_gemm_n256_k256@" + load().get("cpu_gemm_n256_k256").workloads[1].workload.uuid), 0)
    digest = hashlib.sha256(b"".join(values[name].view(np.uint16).astype("<u2").tobytes() for name in "AB")).hexdigest()
    assert digest == "1369d5f493b5ade199aee43de4e5d286162b1e1bafcc42d22461930f05440b48"


def test_inputs_do_not_depend_on_each_others_sizes():
    few, many = (
        load().task(f"cpu_gemm_n256_k256@{one.workload.uuid}") for one in load().get("cpu_gemm_n256_k256").workloads[1::-1]
    )
    assert np.array_equal(draw(few, 0)["B"], draw(many, 0)["B"])
    assert not np.array_equal(draw(many, 0)["A"][:256], draw(many, 0)["B"])


def test_published_inputs_are_standard_normal():
    values = draw(load().task("cpu_gemm_n256_k256"), 1)["A"].astype(np.float64)
    assert abs(values.mean()) < 5 / 256
    assert abs(values.std() - 1) < 5 / 256
    assert abs((np.abs(values) < 1).mean() - 0.6827) < 0.01
    assert 3.5 < np.abs(values).max() < 6.5


def test_scaled_inputs_have_another_scale_and_outliers_a_few_large_elements():
    task = load().task("cpu_gemm_n256_k256")
    scaled = draw(task, 1, "scaled")
    assert abs(scaled["A"].astype(np.float64).std() - 16) < 0.5
    assert abs(scaled["B"].astype(np.float64).std() - 1) < 0.05
    outliers = draw(task, 1, "outliers")["A"].astype(np.float64)
    large = np.abs(outliers) > 8
    assert 1 <= large.sum() <= 4
    assert abs(outliers[~large].std() - 1) < 0.05
    assert np.abs(outliers).max() < OUTLIER_FACTOR * 6.5


@pytest.mark.parametrize("kind", ["published", "scaled", "outliers"])
@pytest.mark.parametrize("mask", ["", "_causal"])
def test_o_and_l_of_backward_tasks_are_the_forwards_for_the_same_inputs(mask, kind):
    backward = load().task(f"cpu_mha_bwd_d64{mask}")
    forward = load().task(f"cpu_mha_with_lse_d64{mask}")
    inputs = draw(backward, 5, kind)
    outputs = load_reference(forward)(inputs)
    assert np.array_equal(inputs["O"], outputs["O"]) and np.array_equal(inputs["L"], outputs["LSE"])


def small(task, **axes):
    return task.model_copy(update={"workload": task.workload.model_copy(update={"axes": axes})})


def test_gpu_tasks_draw_bfloat16_with_o_rounded_and_l_in_float32():
    inputs = draw(small(load().task("mha_bwd_d96_causal"), B=1, H=2, S=33), 0)
    assert {name: value.dtype.name for name, value in inputs.items()} == dict.fromkeys(("Q", "K", "V", "O", "dO"), "bfloat16") | {
        "L": "float32"
    }


def test_kinds_that_do_not_exist_or_are_not_allowed_are_refused(write_folder, make_definition, make_line):
    with pytest.raises(UsageError, match="unknown kind"):
        draw(load().task("cpu_softmax_n1024"), 0, "zeros")
    foreign = load([write_folder([make_definition()], [make_line()])]).task("double_n8")
    with pytest.raises(UsageError, match="does not allow"):
        draw(foreign, 0, "outliers")


def foreign_task(write_folder, make_definition, make_line, inputs, **line_inputs):
    arguments = ", ".join(inputs)
    data = make_definition(inputs=inputs, reference=f"def run({arguments}):\n    return {next(iter(inputs))}\n")
    return load([write_folder([data], [make_line(**line_inputs)])]).task("double_n8")


def test_foreign_inputs_of_every_type_can_be_drawn(write_folder, make_definition, make_line):
    names = {f"i{number}": name for number, name in enumerate(NUMPY_TYPES)}
    inputs = {key: {"shape": ["M", "N"], "dtype": name} for key, name in names.items()}
    task = foreign_task(write_folder, make_definition, make_line, inputs, **{key: {"type": "random"} for key in names})
    for key, value in draw(task, 0).items():
        assert value.dtype == NUMPY_TYPES[names[key]]
        assert len(np.unique(value.astype(np.float64))) > 1
        if names[key].startswith(("int", "uint")):
            assert value.min() >= -1024 and value.max() < 1024


def test_scalars_and_stored_tensors_come_from_the_workload(write_folder, make_definition, make_line):
    inputs = {"X": {"shape": ["M", "N"], "dtype": "bfloat16"}, "scale": {"shape": None, "dtype": "float32"}}
    stored = {"type": "safetensors", "path": "blob/x.safetensors", "tensor_key": "X"}
    task = foreign_task(write_folder, make_definition, make_line, inputs, X=stored, scale={"type": "scalar", "value": 0.125})
    with pytest.raises(SuiteError, match="cannot be read"):
        draw(task, 0)
    value = np.arange(32, dtype=np.float32).reshape(4, 8).astype(ml_dtypes.bfloat16)
    path = write_folder([], [], "unused").parent / "suite" / "blob" / "x.safetensors"
    write_tensors(path, {"X": value})
    drawn = draw(task, 0)
    assert drawn["scale"] == 0.125 and isinstance(drawn["scale"], float)
    assert np.array_equal(drawn["X"], value) and drawn["X"].dtype == value.dtype
    path.unlink()
    write_tensors(path, {"X": value[:2]})
    with pytest.raises(SuiteError, match=r"is bfloat16\[2, 8\], not bfloat16\[4, 8\]"):
        draw(task, 0)


def test_an_unknown_rule_and_a_missing_sampler_are_errors_of_the_suite():
    task = load().task("cpu_mha_bwd_d64")
    with pytest.raises(SuiteError, match="rule"):
        draw(task.model_copy(update={"samplers": task.samplers | {"O": Sampler(kind="derived", rule="convolution.O")}}), 0)
    with pytest.raises(SuiteError, match="how its input Q is drawn"):
        draw(task.model_copy(update={"samplers": {}}), 0)


def test_a_workload_reads_the_same_after_json(tmp_path):
    workload = load().task("cpu_mha_bwd_d64").workload
    assert Workload.model_validate(json.loads(workload.model_dump_json())) == workload
