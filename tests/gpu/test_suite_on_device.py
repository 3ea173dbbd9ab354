"""Inputs, references, oracles and rules on a GPU: what they are on the host, for every family and at the headline's sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ptxbench.evaluate.mismatch import rule as host_rule
from ptxbench.suite import load
from ptxbench.suite.degenerate import frobenius_error
from ptxbench.suite.dtypes import NUMPY_TYPES
from ptxbench.suite.inputs import draw
from ptxbench.suite.reference_version import reference_version
from ptxbench.suite.references import load_oracle

torch = pytest.importorskip("torch", reason="torch is not installed")

from ptxbench.evaluate.device import rule  # noqa: E402
from ptxbench.suite import on_device  # noqa: E402
from ptxbench.suite.on_device import draw_many_on, draw_on, load_oracle_on, load_reference_on  # noqa: E402
from ptxbench.suite.torch_types import TORCH_TYPES, as_array, as_tensor  # noqa: E402

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]

DEVICE = "cuda:0"
SUITE = load()
SMALL = {"gemm": {"M": 70}, "mha_forward": {"B": 2, "H": 2, "S": 200}, "mha_backward": {"B": 2, "H": 2, "S": 200}}
NAMES = [name for name in SUITE.names if name.startswith(("gemm_n128_k2048", "gemm_n7168_k5120", "mha"))]
KINDS = ("published", "scaled", "outliers")


def small(name):
    task = SUITE.task(name)
    return task.model_copy(update={"workload": task.workload.model_copy(update={"axes": SMALL[task.family]})})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_the_hosts_and_reference_and_oracle_agree(name, kind):
    task = small(name)
    expected, inputs = draw(task, 2, kind), draw_on(task, 2, kind, DEVICE)
    for argument, value in expected.items():
        if task.samplers[argument].rule is None:
            assert as_array(inputs[argument]).tobytes() == value.tobytes()
        else:
            bound = 1e-6 if value.dtype == np.float32 else 2.0**-8
            assert frobenius_error(as_array(inputs[argument]), value.astype(np.float64)) < bound
    on_host = {argument: as_array(value) for argument, value in inputs.items()}
    truth, oracle = load_oracle(task)(on_host), load_oracle_on(task, DEVICE)(inputs)
    got = load_reference_on(task, DEVICE)(inputs)
    for output, bound in task.tolerance.frobenius.items():
        assert oracle[output].is_cuda and got[output].is_cuda
        assert frobenius_error(as_array(oracle[output]), truth[output]) < 1e-12
        assert frobenius_error(as_array(got[output]), truth[output]) < bound


@pytest.mark.parametrize("name", sorted(on_device.ROUNDED_ON_DEVICE - {"float32", "float64"}))
def test_the_device_rounds_as_ml_dtypes_does(name):
    dtype = NUMPY_TYPES[name]
    every = np.arange(1 << 8 * dtype.itemsize, dtype=np.uint32).astype(f"u{dtype.itemsize}").view(dtype).astype(np.float32)
    exact = np.unique(every[np.isfinite(every)])
    between = ((exact[1:].astype(np.float64) + exact[:-1]) / 2).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = np.float32([1.05, 1.2, np.inf]) * exact[-1]
        edges = np.concatenate([exact, between, beyond, -beyond])
        edges = np.concatenate([edges, np.nextafter(edges, np.float32(np.inf)), np.nextafter(edges, np.float32(-np.inf))])
        expected = edges.astype(dtype)
    assert as_array(torch.from_numpy(edges).to(DEVICE).to(TORCH_TYPES[name])).tobytes() == expected.tobytes()


def test_inputs_of_many_pieces_and_sets_are_the_hosts():
    task = SUITE.task("gemm_n128_k2048")
    task = task.model_copy(update={"workload": task.workload.model_copy(update={"axes": {"M": 9001}})})
    assert 3 * on_device.PIECE < 9001 * 2048
    sets = [(seed, kind) for seed in range(2) for kind in KINDS]
    for (seed, kind), got in zip(sets, draw_many_on(task, sets, DEVICE), strict=True):
        for name, value in draw(task, seed, kind).items():
            assert as_array(got[name]).tobytes() == value.tobytes()


@pytest.mark.parametrize("name", sorted(TORCH_TYPES))
def test_comparisons_are_the_hosts(name):
    stream = np.random.default_rng(3)
    for special in (False, True):
        expected = np.asarray(stream.standard_normal(3000, np.float32) * 20).astype(NUMPY_TYPES[name]).reshape(60, 50)
        got = expected.copy()
        got[::7, 3] = 1
        if special:
            got[5].reshape(-1).view(np.uint8)[:] = 0xFF
            if not name.startswith(("int", "uint", "bool")):
                got[7, 7], expected[7, 7], got[8, 8] = math.nan, math.nan, math.nan
        oracle = expected.astype(np.float64)
        with np.errstate(all="ignore"):
            host = host_rule.compare(got, expected, oracle, atol=1e-2, rtol=1e-2, poison=0xFF)
        there = (as_tensor(array).to(DEVICE) for array in (got, expected, oracle))
        device = rule.compare(*there, atol=1e-2, rtol=1e-2, poison=0xFF)
        assert np.array_equal(device.wrong.cpu().numpy(), host.wrong)
        for field in ("paper_wrong", "strict_wrong", "max_abs", "max_rel", "not_finite", "unwritten", "worst"):
            assert getattr(device, field) == getattr(host, field), field
        assert device.frobenius == pytest.approx(host.frobenius, rel=1e-9)


def test_the_libraries_that_measure_are_named_with_the_versions_that_are_loaded():
    for name, library in (("gemm_n128_k2048", "cuBLAS"), ("mha_with_lse_d64", "cuDNN")):
        task = small(name)
        load_reference_on(task, DEVICE)(draw_on(task, 0, "published", DEVICE))
        text = reference_version(task, DEVICE)
        assert text.startswith(f"{library} ") and text.endswith(f" (torch {torch.__version__})")
        assert all(part.isdecimal() for part in text.split()[1].split("."))
    assert text.split()[1] == ".".join(map(str, cudnn_version()))


def cudnn_version():
    number = torch.backends.cudnn.version()
    return number // 10000, number // 100 % 100, number % 100
