"""A task's inputs, reference and oracle as tensors: what the host's are, bit for bit or to rounding. On the CPU build of torch."""

from __future__ import annotations

import numpy as np
import pytest

from ptxbench.core.errors import InfrastructureError, SuiteError
from ptxbench.schema import Sampler
from ptxbench.suite import load
from ptxbench.suite.degenerate import frobenius_error
from ptxbench.suite.dtypes import NUMPY_TYPES
from ptxbench.suite.inputs import Kind, RandomInput, draw, generator
from ptxbench.suite.oracles import ORACLES
from ptxbench.suite.reference_version import loaded_library, reference_version
from ptxbench.suite.references import ReferenceFailed, load_oracle, load_reference
from ptxbench.suite.safetensors import write_tensors

torch = pytest.importorskip("torch", reason="torch is not installed: a device's side of the suite was not run")

from ptxbench.suite import device_oracles, on_device  # noqa: E402
from ptxbench.suite.on_device import draw_fresh_on, draw_many_on, draw_on, load_oracle_on, load_reference_on  # noqa: E402
from ptxbench.suite.torch_types import TORCH_TYPES, as_array, as_tensor  # noqa: E402

pytestmark = pytest.mark.torch

SUITE = load()
SMALL = {"gemm": {"M": 33}, "mha_forward": {"B": 2, "H": 3, "S": 77}, "mha_backward": {"B": 1, "H": 2, "S": 77}}
SHAPES = ["gemm_n128_k2048", *(name for name in SUITE.names if name.startswith(("cpu_", "mha")))]
"""All bundled tasks but the GEMMs, which differ in their sizes alone."""
KINDS: tuple[Kind, ...] = ("published", "scaled", "outliers")


def small(name):
    task = SUITE.task(name)
    if task.arch == "cpu":
        return task
    return task.model_copy(update={"workload": task.workload.model_copy(update={"axes": SMALL[task.family]})})


def tensors(inputs):
    return {name: as_tensor(value) if isinstance(value, np.ndarray) else value for name, value in inputs.items()}


def bits(array):
    return array.dtype, array.shape, array.tobytes()


def drawn_from(task, name):
    return task.samplers[name].rule is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SHAPES)
def test_drawn_inputs_are_the_hosts_bit_for_bit_and_derived_ones_to_rounding(name, kind, monkeypatch):
    monkeypatch.setattr(on_device, "PIECE", 1001)
    task = small(name)
    expected, got = draw(task, 9, kind), draw_on(task, 9, kind, "cpu")
    assert list(got) == list(expected)
    for argument, value in expected.items():
        if drawn_from(task, argument):
            assert bits(as_array(got[argument])) == bits(value)
        else:
            assert got[argument].dtype == TORCH_TYPES[value.dtype.name] and got[argument].shape == value.shape
            bound = 1e-6 if value.dtype == np.float32 else 2.0**-8  # the order of float32 sums; one unit of bfloat16 here and there
            assert frobenius_error(as_array(got[argument]), value.astype(np.float64)) < bound


def test_sets_drawn_together_are_those_drawn_one_by_one():
    task = small("cpu_mha_bwd_d64_causal")
    sets = [(number, kind) for number in (0, 1) for kind in KINDS]
    for (seed, kind), got in zip(sets, draw_many_on(task, sets, "cpu"), strict=True):
        one = draw_on(task, seed, kind, "cpu")
        assert list(got) == list(one) == list(task.definition.inputs)
        assert all(torch.equal(got[name], one[name]) for name in one)


@pytest.mark.parametrize("kind", ["normal", "uniform", "integers"])
def test_a_stream_gives_the_same_values_in_pieces(kind):
    def values(sizes):
        one = RandomInput(generator(1, "outliers", "X"), (10_000,), "float32", Sampler(kind=kind), "outliers")
        filled = [np.empty(size, np.float32) for size in sizes]
        for piece in filled:
            one.fill(piece)
        return np.concatenate(filled), one.outliers()

    (whole, places), (pieces, same_places) = values([10_000]), values([1, 2999, 7000])
    assert np.array_equal(whole, pieces) and np.array_equal(places, same_places)


@pytest.mark.parametrize("name", sorted(on_device.ROUNDED_ON_DEVICE - {"float32", "float64"}))
def test_torch_rounds_to_narrow_types_as_ml_dtypes_does(name):
    """Rounding is monotone, so that it is known from the values halfway between neighbours and those right beside them."""
    dtype = NUMPY_TYPES[name]
    every = np.arange(1 << 8 * dtype.itemsize, dtype=np.uint32).astype(f"u{dtype.itemsize}").view(dtype).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        exact = np.unique(every[np.isfinite(every)])
        between = ((exact[1:].astype(np.float64) + exact[:-1]) / 2).astype(np.float32)
        beyond = np.float32([exact[-1] * 1.01, exact[-1] * 1.05, exact[-1] * 1.08, exact[-1] * 2, np.inf])
        tiny = np.float32([0.0, 1e-45, 1e-40, 1.1754944e-38])
        edges = np.concatenate([exact, between, beyond, -beyond, tiny, -tiny])
        edges = np.concatenate([edges, np.nextafter(edges, np.float32(np.inf)), np.nextafter(edges, np.float32(-np.inf))])
        expected = edges.astype(dtype)
    got = as_array(torch.from_numpy(edges).to(TORCH_TYPES[name]))
    assert bits(got) == bits(expected)
    assert np.isnan(as_array(torch.tensor([np.nan]).to(TORCH_TYPES[name])).astype(np.float32)).all()


def test_values_too_large_for_float8_e4m3_are_not_left_to_torch(write_folder, make_definition, make_line):
    inputs = {"X": {"shape": ["M", "N"], "dtype": "float8_e4m3fn"}}
    task = foreign(write_folder, make_definition, make_line, inputs, X={"type": "random"})
    task = task.model_copy(update={"samplers": {"X": Sampler(kind="normal", scale=448.0)}})
    value = draw(task, 0)["X"]
    assert np.isnan(value.astype(np.float32)).any()
    assert bits(as_array(draw_on(task, 0, "published", "cpu")["X"])) == bits(value)


def foreign(write_folder, make_definition, make_line, inputs, reference=None, outputs=None, **line_inputs):
    source = reference or f"import torch\n\ndef run({', '.join(inputs)}):\n    return {next(iter(inputs))}\n"
    data = make_definition(inputs=inputs, outputs=outputs or {"Y": next(iter(inputs.values()))}, reference=source)
    return load([write_folder([data], [make_line(**line_inputs)])]).task("double_n8")


def test_foreign_inputs_of_every_type_of_torch_are_the_hosts(write_folder, make_definition, make_line):
    inputs = {f"i{number}": {"shape": ["M", "N"], "dtype": name} for number, name in enumerate(TORCH_TYPES)}
    task = foreign(write_folder, make_definition, make_line, inputs, **{name: {"type": "random"} for name in inputs})
    expected, got = draw(task, 4), draw_on(task, 4, "published", "cpu")
    for name, value in expected.items():
        assert bits(as_array(got[name])) == bits(value)


def test_scalars_stay_values_and_stored_tensors_come_from_their_files(write_folder, make_definition, make_line):
    inputs = {"X": {"shape": ["M", "N"], "dtype": "bfloat16"}, "s": {"shape": None, "dtype": "float32"}}
    stored = {"type": "safetensors", "path": "x.safetensors", "tensor_key": "X"}
    task = foreign(write_folder, make_definition, make_line, inputs, X=stored, s={"type": "scalar", "value": 0.5})
    value = np.arange(32).reshape(4, 8).astype(NUMPY_TYPES["bfloat16"])
    write_tensors(write_folder([], [], "unused").parent / "suite" / "x.safetensors", {"X": value})
    got = draw_on(task, 0, "published", "cpu")
    assert got["s"] == 0.5 and isinstance(got["s"], float)
    assert bits(as_array(got["X"])) == bits(value)


@pytest.mark.parametrize(("kind", "block_bytes"), [*((kind, device_oracles.BLOCK_BYTES) for kind in KINDS), ("published", 1 << 18)])
@pytest.mark.parametrize("name", SHAPES)
def test_the_oracle_is_the_hosts_however_it_is_cut_into_blocks(name, block_bytes, kind, monkeypatch):
    monkeypatch.setattr(device_oracles, "BLOCK_BYTES", block_bytes)
    task = small(name)
    inputs = draw(task, 5, kind)
    expected, got = load_oracle(task)(inputs), load_oracle_on(task, "cpu")(tensors(inputs))
    assert list(got) == list(expected)
    for output, value in expected.items():
        assert got[output].dtype == torch.float64 and got[output].shape == value.shape
        assert frobenius_error(got[output].numpy(), value) < 1e-12


def test_a_block_of_scores_is_bounded_and_covers_every_pair(monkeypatch):
    monkeypatch.setattr(device_oracles, "BLOCK_BYTES", 1 << 20)
    for heads, length, causal in ((7, 33, True), (2, 1000, False), (1, 5000, True), (500, 1, False)):
        q = torch.empty(heads, length, 8)
        seen = torch.zeros(heads, length, dtype=torch.int32)
        for block_heads, rows, columns in device_oracles._blocks(q, torch.float64, causal):
            seen[block_heads, rows] += 1
            pairs = (block_heads.stop - block_heads.start) * (rows.stop - rows.start) * columns.stop
            assert pairs * 8 * device_oracles.SCORES_HELD <= 1 << 20
            assert columns.stop == (rows.stop if causal else length)
        assert bool((seen == 1).all())


def test_every_oracle_of_the_host_has_its_counterpart():
    assert device_oracles.ORACLES.keys() == ORACLES.keys()
    unknown = small("cpu_softmax_n1024").model_copy(update={"oracle": "convolution"})
    with pytest.raises(SuiteError, match="convolution"):
        load_oracle_on(unknown, "cpu")


@pytest.mark.parametrize(
    "name", ["gemm_n128_k2048", "mha_with_lse_d96_causal", "mha_bwd_d64", "cpu_mha_bwd_d64", "cpu_gemm_n256_k256"]
)
def test_the_reference_gives_on_tensors_what_it_gives_on_arrays(name):
    task = small(name)
    inputs = draw(task, 6)
    expected, got = load_reference(task)(inputs), load_reference_on(task, "cpu")(tensors(inputs))
    assert list(got) == list(expected) == list(task.definition.outputs)
    for output, value in expected.items():
        assert got[output].is_contiguous() and bits(as_array(got[output])) == bits(value)


ONE = {"X": {"shape": ["M", "N"], "dtype": "float32"}}


@pytest.mark.parametrize(
    ("body", "error", "text"),
    [
        ("return X.no_such_thing", ReferenceFailed, "AttributeError"),
        ("raise SystemExit(3)", ReferenceFailed, "SystemExit"),
        ("return X[:2]", SuiteError, r"shape \(2, 8\), not \(4, 8\)"),
        ("return X, X", SuiteError, "returns 2 values"),
        ("raise torch.OutOfMemoryError('CUDA out of memory. Tried to allocate')", InfrastructureError, "does not fit the device"),
    ],
)
def test_a_reference_that_fails_is_the_suites_fault_and_a_full_device_is_nobodys(
    write_folder, make_definition, make_line, body, error, text
):
    task = foreign(write_folder, make_definition, make_line, ONE, f"import torch\n\ndef run(X):\n    {body}\n")
    inputs = draw_on(task, 0, "published", "cpu")
    with pytest.raises(error, match=text) as caught:
        load_reference_on(task, "cpu")(inputs)
    assert isinstance(caught.value, SuiteError) == (error is not InfrastructureError)


def test_outputs_get_the_definitions_type_and_serve_as_oracle_where_there_is_no_other(write_folder, make_definition, make_line):
    outputs = {"Y": {"shape": ["N", "M"], "dtype": "bfloat16"}}
    task = foreign(write_folder, make_definition, make_line, ONE, "import torch\n\ndef run(X):\n    return X.T\n", outputs)
    inputs = draw_on(task, 0, "published", "cpu")
    got = load_reference_on(task, "cpu")(inputs)["Y"]
    assert got.dtype == torch.bfloat16 and got.is_contiguous()
    assert torch.equal(load_oracle_on(task, "cpu")(inputs)["Y"], got.double())


def test_a_reference_runs_with_float32_sums_and_leaves_the_process_as_it_was(write_folder, make_definition, make_line):
    source = (
        "import torch\n\ndef run(X):\n    matmul = torch.backends.cuda.matmul\n"
        "    assert not matmul.allow_bf16_reduced_precision_reduction and not torch.is_grad_enabled()\n"
        "    assert torch.get_float32_matmul_precision() == 'highest'\n    return X\n"
    )
    task = foreign(write_folder, make_definition, make_line, ONE, source)
    before = torch.get_float32_matmul_precision(), torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
    torch.set_float32_matmul_precision("high")
    try:
        load_reference_on(task, "cpu")(draw_on(task, 0, "published", "cpu"))
        assert torch.get_float32_matmul_precision() == "high"
        assert torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction == before[1]
    finally:
        torch.set_float32_matmul_precision(before[0])


def test_the_library_that_runs_a_reference_is_named_with_its_version():
    assert reference_version(small("cpu_softmax_n1024"), "cpu") == f"NumPy {np.__version__}"
    assert reference_version(small("gemm_n128_k2048"), "cpu") == f"torch {torch.__version__} on the CPU"
    found = loaded_library("libtorch_cpu.so")
    assert found is not None and found.is_file()
    assert loaded_library("libno_such_library.so") is None


@pytest.mark.parametrize("name", sorted(TORCH_TYPES))
def test_arrays_and_tensors_have_the_same_bits(name):
    every = np.arange(256, dtype=np.uint8) % 2 if name == "bool" else np.random.default_rng(0).integers(0, 256, 1 << 12, np.uint8)
    array = every.view(NUMPY_TYPES[name])
    for one in (array, array[:8].reshape(2, 4), array[:1].reshape(()), array[:0], array[::3]):
        assert bits(as_array(as_tensor(one))) == bits(np.array(one, order="C"))
    array.flags.writeable = False
    assert bits(as_array(as_tensor(array))) == bits(array)
    with pytest.raises(TypeError, match="float4"):
        as_tensor(np.zeros(2, NUMPY_TYPES["float4_e2m1"]))
    with pytest.raises(TypeError, match="complex64"):
        as_array(torch.zeros(2, dtype=torch.complex64))


@pytest.mark.parametrize("name", SHAPES)
def test_fresh_inputs_have_the_published_form_and_distribution(name):
    task = small(name)
    first, again, other = (draw_fresh_on(task, seed, "cpu") for seed in (5, 5, 6))
    published = draw_on(task, 5, "published", "cpu")
    assert list(first) == list(published)
    for argument, value in published.items():
        if not isinstance(value, torch.Tensor):
            assert first[argument] == value
            continue
        fresh = first[argument]
        assert (fresh.dtype, fresh.shape) == (value.dtype, value.shape)
        assert torch.equal(fresh.view(torch.uint8), again[argument].view(torch.uint8))
        assert not torch.equal(fresh.view(torch.uint8), other[argument].view(torch.uint8))
        if drawn_from(task, argument):
            assert float(fresh.float().std()) == pytest.approx(float(value.float().std()), rel=0.2)
            assert abs(float(fresh.float().mean())) < 0.2 * float(value.float().std())
