"""The rules on tensors answer as the rules on arrays do, for any bits. On the CPU build of torch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ptxbench.evaluate.mismatch import rule as host_rule
from ptxbench.suite.dtypes import NUMPY_TYPES

torch = pytest.importorskip("torch", reason="torch is not installed: the rules on tensors were not run")

from ptxbench.evaluate.device import rule  # noqa: E402
from ptxbench.suite.torch_types import TORCH_TYPES, as_tensor  # noqa: E402

pytestmark = pytest.mark.torch

POISON = 0xFF


@pytest.fixture(autouse=True, scope="module")
def small_pieces():
    """Several pieces even of small outputs."""
    before, rule.CHUNK = rule.CHUNK, 16
    yield
    rule.CHUNK = before


def known_values(name):
    """Bits of zeros, ones, infinities, NaNs, the largest and the smallest numbers, and the poison."""
    dtype = NUMPY_TYPES[name]
    if dtype == np.bool_:
        return [0, 1, POISON]
    numbers = [0, 1, -1, 2, 100] if dtype.kind == "i" else [0, 1, 2, 100]
    if dtype.kind not in "iu":
        numbers = [0.0, -0.0, 1.0, 1.0078125, 1.02, -1.0, 3.5, 100.0, math.inf, -math.inf, math.nan]
    with np.errstate(all="ignore"):
        raw = np.array(numbers).astype(dtype).view(f"u{dtype.itemsize}")
    top = 1 << 8 * dtype.itemsize
    return [*map(int, raw), 1, top - 1, top // 2 - 1, top // 2, top // 2 + 1, int.from_bytes(b"\x5a" * dtype.itemsize, "little")]


def elements(name, count):
    dtype = NUMPY_TYPES[name]
    some = st.sampled_from(known_values(name))
    one = some if dtype == np.bool_ else some | st.integers(0, (1 << 8 * dtype.itemsize) - 1)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return st.lists(one, min_size=count, max_size=count).map(lambda bits: np.array(bits, unsigned).view(dtype))


@st.composite
def outputs(draw):
    """An output, its reference (mostly the same), an oracle, the rule's numbers."""
    name = draw(st.sampled_from(sorted(TORCH_TYPES)))
    count = draw(st.integers(0, 50))
    got = draw(elements(name, count))
    other = draw(elements(name, count))
    differs = np.array(draw(st.lists(st.sampled_from([False, False, True]), min_size=count, max_size=count)), bool)
    expected = np.where(differs, other, got)
    with np.errstate(all="ignore"):
        wide = expected.astype(np.float64)
    scale = draw(st.sampled_from([1.0, 1.001, 1e-200, 1e-300, 1e200, 0.0]))
    with np.errstate(all="ignore"):
        scaled = wide * scale
    oracle = draw(st.none() | st.just(scaled) | elements("float64", count))
    atol, rtol = draw(st.sampled_from([(1e-2, 1e-2), (0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]))
    return got, expected, oracle, atol, rtol, draw(st.sampled_from([POISON, 0, 0x5A]))


def both(got, expected, oracle, atol=1e-2, rtol=1e-2, poison=POISON):
    with np.errstate(all="ignore"):
        host = host_rule.compare(got, expected, oracle, atol=atol, rtol=rtol, poison=poison)
    before = [array.tobytes() for array in (got, expected) if array is not None]
    truth = None if oracle is None else as_tensor(oracle)
    device = rule.compare(as_tensor(got), as_tensor(expected), truth, atol=atol, rtol=rtol, poison=poison)
    assert [array.tobytes() for array in (got, expected)] == before
    return host, device


def agree(host, device):
    assert np.array_equal(host.wrong, device.wrong.numpy()) and tuple(device.wrong.shape) == host.wrong.shape
    for name in ("elements", "paper_wrong", "strict_wrong", "max_abs", "max_rel", "not_finite", "unwritten", "worst"):
        assert getattr(host, name) == getattr(device, name), name
    if host.frobenius is None or math.isinf(host.frobenius):
        assert device.frobenius == host.frobenius
    else:
        assert device.frobenius == pytest.approx(host.frobenius, rel=1e-9)


@settings(max_examples=400, deadline=None)
@given(outputs())
@example((np.array([3.0, math.nan]), np.array([3.0, 4.0]), np.array([3.0, 4.0]), 1e-2, 1e-2, POISON))
@example((np.array([1.7e308, 1.0]), np.array([-1.7e308, 1.0]), None, 1e-2, 1e-2, POISON))
@example((np.array([1e300, 1e300]), np.array([1e-10, 1e-10]), np.array([1e-10, 1e-10]), 1e-2, 1e-2, POISON))
@example((np.array([1 << 60, 7]), np.array([(1 << 60) + 1, 7]), None, 0.0, 0.0, POISON))
@example((np.zeros(40), np.zeros(40), np.zeros(40), 0.0, 0.0, POISON))
def test_every_number_of_a_comparison_is_the_hosts(case):
    agree(*both(*case))


@settings(deadline=None)
@given(outputs())
def test_root_mean_square_is_the_hosts(case):
    got = case[0]
    with np.errstate(all="ignore"):
        expected = host_rule.root_mean_square(got)
    assert rule.root_mean_square(as_tensor(got)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (5, 7), (2, 3, 4, 5)])
@pytest.mark.parametrize("name", ["bfloat16", "float32", "int64", "float8_e4m3fn", "bool"])
def test_outputs_of_every_shape_keep_it(name, shape):
    expected = np.random.default_rng(1).integers(0, 2, shape).astype(NUMPY_TYPES[name])
    host, device = both(1 - expected.astype(np.float32).astype(NUMPY_TYPES[name]) if name != "bool" else ~expected, expected, None)
    agree(host, device)
    assert device.wrong.dtype == torch.bool


def test_worst_is_the_first_of_equal_errors_in_whichever_piece():
    expected = np.zeros(64, np.float32)
    got = expected.copy()
    got[[21, 22, 40]] = 5
    agree(*both(got, expected, None))
    assert both(got, expected, None)[1].worst == 21
    got[50] = math.inf
    assert both(got, expected, None)[1].worst == 50


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1.0, 1e30, 1e200])
def test_norm_does_not_depend_on_the_size_of_the_values(size):
    expected = np.array([3.0, 4.0] * 20) * size
    host, device = both(expected * 1.1, expected, expected, 0.0, 1.0)
    agree(host, device)
    assert device.frobenius == pytest.approx(0.1)


def test_host_gives_the_array_back():
    for name in TORCH_TYPES:
        array = np.arange(2).astype(NUMPY_TYPES[name])
        assert rule.host(as_tensor(array)).dtype == array.dtype and np.array_equal(rule.host(as_tensor(array)), array)


def test_same_bits_sees_signs_of_zero_and_takes_equal_nans_for_equal():
    zero = torch.tensor([0.0, math.nan])
    assert rule.same_bits(zero, zero.clone())
    assert not rule.same_bits(zero, torch.tensor([-0.0, math.nan]))
    assert not rule.same_bits(zero, zero[:1])
    assert not rule.same_bits(zero, zero.double())
    odd = torch.arange(13, dtype=torch.uint8)
    assert rule.same_bits(odd, odd.clone()) and not rule.same_bits(odd, odd.flip(0))
    aligned, shifted = torch.arange(9.0).to(torch.bfloat16)[1:].clone(), torch.arange(9.0).to(torch.bfloat16)[1:]
    assert rule.same_bits(aligned, shifted) and rule.same_bits(shifted, aligned), "where a tensor begins says nothing of its bits"
    assert rule.same_bits(torch.empty(0), torch.empty(0))
    assert rule.same_bits(torch.tensor(1.0), torch.tensor(1.0))
