"""The two rules of correctness, element by element and in norm."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from ptxbench.evaluate.compare import judge_output
from ptxbench.evaluate.judge.held import InputSet
from ptxbench.evaluate.mismatch import rule
from ptxbench.evaluate.mismatch.rule import Comparison, compare, root_mean_square
from ptxbench.schema import Profile, Task
from ptxbench.suite import Suite

POISON = 0xFF


def seen(got: list[float], expected: list[float], oracle: list[float] | None = None) -> Comparison:
    truth = None if oracle is None else np.array(oracle)
    return compare(np.array(got, np.float32), np.array(expected, np.float32), truth, atol=1e-2, rtol=1e-2, poison=POISON)


def test_bound_is_absolute_plus_relative() -> None:
    assert seen([1.0199, 100.99], [1.0, 100.0]).paper_wrong == 0
    assert seen([1.0201, 101.02], [1.0, 100.0]).paper_wrong == 2


def test_nan_is_wrong_for_paper_and_right_for_strict_only_where_the_reference_has_one() -> None:
    both = seen([math.nan, 1.0], [math.nan, 1.0])
    assert (both.paper_wrong, both.strict_wrong) == (1, 0)
    ours = seen([math.nan, 1.0], [2.0, 1.0])
    assert (ours.paper_wrong, ours.strict_wrong, ours.not_finite) == (1, 1, 1)
    theirs = seen([2.0, 1.0], [math.nan, 1.0])
    assert (theirs.paper_wrong, theirs.strict_wrong) == (1, 1)


def test_infinities_must_be_equal() -> None:
    assert seen([math.inf, -math.inf], [math.inf, -math.inf]).strict_wrong == 0
    assert seen([math.inf, 5.0, -math.inf], [5.0, math.inf, math.inf]).strict_wrong == 3


def test_worst_element_is_a_nan_before_any_number() -> None:
    assert seen([1.0, 9.0, math.nan, 2.0], [1.0, 1.0, 1.0, 1.0]).worst == 2
    assert seen([1.0, 9.0, 1.0, 2.0], [1.0, 1.0, 1.0, 1.0]).worst == 1


def test_unwritten_is_told_from_a_nan_that_arithmetic_made() -> None:
    got = np.array([1.0, math.nan, 1.0], np.float32)
    got.view(np.uint32)[2] = 0xFFFFFFFF
    found = compare(got, np.ones(3, np.float32), None, atol=1e-2, rtol=1e-2, poison=POISON)
    assert (found.unwritten, found.strict_wrong) == (1, 2)


def test_poison_is_wrong_even_where_the_reference_is_nan() -> None:
    got = np.empty(2, np.float32)
    got.view(np.uint8)[:] = POISON
    found = compare(got, np.full(2, np.nan, np.float32), None, atol=1e-2, rtol=1e-2, poison=POISON)
    assert (found.unwritten, found.strict_wrong) == (2, 2)


def test_minus_one_is_a_value_of_an_integer_output() -> None:
    got = np.array([-1, -1], np.int32)
    found = compare(got, np.array([-1, 7], np.int32), None, atol=1e-2, rtol=1e-2, poison=POISON)
    assert (found.unwritten, found.strict_wrong) == (1, 1)


def test_norm_is_relative_to_the_oracle_and_infinite_for_a_nan() -> None:
    assert seen([3.0, 4.5], [3.0, 4.0], [3.0, 4.0]).frobenius == pytest.approx(0.1)
    assert seen([3.0, math.nan], [3.0, 4.0], [3.0, 4.0]).frobenius == math.inf
    assert seen([3.0, 4.0], [3.0, math.inf], [3.0, math.inf]).frobenius == 0.0
    assert seen([0.0, 1.0], [0.0, 0.0], [0.0, 0.0]).frobenius == math.inf
    assert seen([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).frobenius == 0.0


def test_pieces_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = np.random.default_rng(3).standard_normal((37, 11)).astype(ml_dtypes.bfloat16)
    got = expected.copy()
    got[30, 4], got[2, 2] = 9, np.nan
    oracle = expected.astype(np.float64)
    whole = compare(got, expected, oracle, atol=1e-2, rtol=1e-2, poison=POISON)
    monkeypatch.setattr(rule, "CHUNK", 16)
    pieces = compare(got, expected, oracle, atol=1e-2, rtol=1e-2, poison=POISON)
    assert np.array_equal(whole.wrong, pieces.wrong)
    assert whole.worst == pieces.worst == 2 * 11 + 2
    assert (whole.paper_wrong, whole.max_abs) == (pieces.paper_wrong, pieces.max_abs)
    assert root_mean_square(np.array([3.0, -3.0, np.inf])) == pytest.approx(3.0)


def one_output(task: Task, kind: str, expected: np.ndarray) -> InputSet:
    return InputSet(kind=kind, seed=0, inputs={}, expected={"C": expected}, oracle={"C": expected.astype(np.float64)})  # type: ignore[arg-type]


def test_tolerance_grows_with_a_scaled_set_and_never_shrinks(suite: Suite) -> None:
    task = suite.task("cpu_gemm_n256_k256")
    values = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    published = one_output(task, "published", values)
    for factor, atol in ((16.0, 0.16), (0.25, 0.01)):
        scaled = one_output(task, "scaled", values * np.float32(factor))
        judged = judge_output(task, "C", scaled.expected["C"], scaled, published)
        assert judged.atol == pytest.approx(atol, rel=1e-3)
        assert judged.strict


def test_a_uniform_error_inside_every_element_bound_breaks_the_norm_alone(suite: Suite) -> None:
    task = suite.task("cpu_gemm_n256_k256")
    values = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    published = one_output(task, "published", values)
    judged = judge_output(task, "C", values * np.float32(1.009), published, published)
    assert (judged.paper, judged.strict) == (True, False)
    assert [broken.profiles for broken in judged.reasons] == [(Profile.STRICT,)]
    assert "Frobenius" in judged.reasons[0].text


def test_largest_relative_error_is_finite_even_where_nothing_was_expected() -> None:
    found = compare(np.array([1e10, 1.0]), np.array([0.0, 2.0]), None, atol=0.0, rtol=0.0, poison=POISON)
    assert (found.strict_wrong, found.max_abs, found.max_rel) == (2, 1e10, 0.5)


def test_norm_leaves_out_what_overflows_in_the_type_of_the_output() -> None:
    expected = np.array([math.inf, 1.0], np.float16)
    found = compare(expected.copy(), expected, np.array([70000.0, 1.0]), atol=1e-2, rtol=1e-2, poison=POISON)
    assert (found.strict_wrong, found.frobenius) == (0, 0.0)
    assert (
        compare(np.array([5, 1.0], np.float16), expected, np.array([7e4, 1.0]), atol=1e-2, rtol=1e-2, poison=POISON).strict_wrong
        == 1
    )


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1.0, 1e30, 1e200])
def test_norm_does_not_depend_on_the_size_of_the_values(size: float) -> None:
    expected = np.array([3.0, 4.0]) * size
    found = compare(expected * 1.1, expected, expected, atol=0.0, rtol=1.0, poison=POISON)
    assert found.frobenius == pytest.approx(0.1)
    assert root_mean_square(expected) == pytest.approx(size * math.sqrt(12.5))


def test_integers_are_compared_exactly() -> None:
    expected = np.array([(1 << 60) + 1, -1, 7], np.int64)
    got = np.array([1 << 60, -1, 7], np.int64)
    assert compare(got, expected, None, atol=0.0, rtol=0.0, poison=POISON).wrong.tolist() == [True, False, False]


def test_unwritten_truth_values_are_not_true() -> None:
    got = np.zeros(4, np.uint8)
    got[:] = POISON
    found = compare(got.view(np.bool_), np.ones(4, np.bool_), None, atol=1e-2, rtol=1e-2, poison=POISON)
    assert (found.unwritten, found.strict_wrong) == (4, 4)


def test_nan_of_an_eight_bit_type_is_right_where_the_reference_has_one() -> None:
    nan = np.full(2, POISON, np.uint8).view(ml_dtypes.float8_e4m3fn)
    found = compare(nan, nan.copy(), None, atol=1e-2, rtol=1e-2, poison=POISON)
    assert (found.unwritten, found.strict_wrong) == (0, 0)
    ours = compare(nan, np.ones(2, ml_dtypes.float8_e4m3fn), None, atol=1e-2, rtol=1e-2, poison=POISON)
    assert (ours.unwritten, ours.strict_wrong) == (2, 2)
