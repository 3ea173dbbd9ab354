"""A wrong output is described by what is wrong with it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ptxbench.evaluate.mismatch.pattern import Mismatch, find_pattern
from ptxbench.evaluate.mismatch.rule import compare
from ptxbench.evaluate.mismatch.where import describe_indices, locate
from ptxbench.schema import MismatchPattern

POISON = 0xFF


def draw(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape).astype(dtype)


def described(got: np.ndarray, expected: np.ndarray, axes: str) -> MismatchPattern:
    seen = compare(got, expected, None, atol=1e-2, rtol=1e-2, poison=POISON)
    pattern = find_pattern(Mismatch(got, expected, seen.wrong, seen.unwritten, POISON, tuple(axes), 1e-2, 1e-2))
    assert pattern is not None
    return pattern


def poison(array: np.ndarray) -> None:
    array.reshape(-1).view(np.uint8)[:] = POISON


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.float64])
def test_nothing_written(dtype: Any) -> None:
    expected = draw(8, 16, dtype=dtype)
    got = np.empty_like(expected)
    poison(got)
    assert described(got, expected, "MN").kind == "unwritten"


def test_unwritten_rows_are_named() -> None:
    expected = draw(64, 32)
    got = expected.copy()
    poison(got[48:])
    pattern = described(got, expected, "MN")
    assert pattern.kind == "unwritten"
    assert pattern.text.endswith("never written where M 48..63")
    assert pattern.details["elements"] == 16 * 32


def test_zeros_everywhere_and_in_one_head() -> None:
    expected = draw(2, 4, 16, 8)
    assert described(np.zeros_like(expected), expected, "BHSD").kind == "all_zeros"
    got = expected.copy()
    got[:, 2] = 0
    pattern = described(got, expected, "BHSD")
    assert (pattern.kind, pattern.text) == ("zeros", "every wrong element is zero where H = 2")


def test_nan_and_infinity_are_told_apart() -> None:
    expected = draw(32, 32)
    for value, kind in ((np.nan, "nan"), (np.inf, "infinite")):
        got = expected.copy()
        got[:, 7] = value
        pattern = described(got, expected, "MN")
        assert pattern.kind == kind
        assert "where N = 7" in pattern.text


@pytest.mark.parametrize("factor", [0.5, 2.0, -1.0, 0.125])
def test_constant_factor_is_measured(factor: float) -> None:
    expected = draw(64, 64)
    pattern = described(expected * np.float32(factor), expected, "MN")
    assert pattern.kind == "constant_factor"
    assert pattern.details["factor"] == pytest.approx(factor)


def test_constant_offset_is_measured() -> None:
    expected = draw(64, 64)
    pattern = described(expected - np.float32(0.693), expected, "MN")
    assert pattern.kind == "constant_offset"
    assert pattern.details["offset"] == pytest.approx(-0.693, abs=1e-3)


@pytest.mark.parametrize("shape", [(32, 32), (24, 40), (3, 16, 16), (2, 3, 8, 20)])
def test_transposed_output_is_seen_whatever_its_shape(shape: tuple[int, ...]) -> None:
    expected = draw(*shape)
    got = np.ascontiguousarray(expected.swapaxes(-1, -2)).reshape(shape)
    pattern = described(got, expected, "BHMN"[-len(shape) :])
    assert pattern.kind == "transposed"
    assert "M and N are exchanged" in pattern.text


def test_wrong_element_of_a_symmetric_matrix_is_not_called_transposed() -> None:
    expected = draw(32, 32)
    expected = expected + expected.T
    got = expected.copy()
    got[3, 4] += 1
    assert described(got, expected, "MN").text.endswith("where M = 3, N = 4")


def test_small_factor_is_seen_through_rounding() -> None:
    expected = draw(64, 64, dtype=ml_dtypes.bfloat16)
    got = (expected.astype(np.float32) * np.float32(0.97)).astype(ml_dtypes.bfloat16)
    pattern = described(got, expected, "MN")
    assert pattern.kind == "constant_factor"
    assert pattern.details["factor"] == pytest.approx(0.97, abs=0.003)


def test_large_output_is_described_from_a_sample() -> None:
    expected = draw(2048, 3000)
    got = np.ascontiguousarray(expected.T).reshape(2048, 3000)
    assert described(got, expected, "MN").kind == "transposed"
    got = expected.copy()
    got[1024:] *= 2
    assert described(got, expected, "MN").text.endswith("where M 1024..2047")


@pytest.mark.parametrize(("axis", "name"), [(0, "M"), (1, "N")])
@pytest.mark.parametrize("step", [1, -1])
def test_off_by_one_names_axis_and_direction(axis: int, name: str, step: int) -> None:
    expected = draw(40, 50)
    pattern = described(np.roll(expected, step, axis), expected, "MN")
    assert (pattern.kind, pattern.details) == ("shifted", {"axis": name, "step": step})


def test_wrong_tile_is_bounded_on_both_axes() -> None:
    expected = draw(256, 256)
    got = expected.copy()
    got[64:128, 192:256] += 1
    pattern = described(got, expected, "MN")
    assert pattern.kind == "confined"
    assert pattern.text == "4096 of 65536 elements (6.25 %) wrong, all where M 64..127, N 192..255"


def test_periodic_columns_name_their_residues() -> None:
    expected = draw(64, 128)
    got = expected.copy()
    got[:, 3::8] *= 3
    got[:, 4::8] *= 3
    assert described(got, expected, "MN").text.endswith("where N mod 8 = 3..4")


def test_scattered_errors_say_how_many() -> None:
    expected = draw(64, 64)
    got = expected.copy()
    hit = np.random.default_rng(1).random(got.shape) < 0.3
    got[hit] += np.random.default_rng(2).standard_normal(got.shape)[hit] * 9 + 50
    pattern = described(got, expected, "MN")
    assert pattern.kind == "scattered"
    assert pattern.details["fraction"] == pytest.approx(0.3, abs=0.05)


def test_scalar_and_integer_outputs_are_described() -> None:
    assert described(np.array(3.0, np.float32), np.array(1.0, np.float32), "").kind == "scattered"
    assert described(np.arange(8, dtype=np.int32), np.arange(8, dtype=np.int32)[::-1].copy(), "N").kind in ("confined", "scattered")


def test_right_output_has_no_pattern() -> None:
    expected = draw(8, 8)
    assert find_pattern(Mismatch(expected, expected, np.zeros((8, 8), bool), 0, POISON, ("M", "N"), 1e-2, 1e-2)) is None


def test_empty_output_is_right() -> None:
    empty = np.empty((0, 8), np.float32)
    seen = compare(empty, empty, empty.astype(np.float64), atol=1e-2, rtol=1e-2, poison=POISON)
    assert (seen.elements, seen.paper_wrong, seen.strict_wrong, seen.worst, seen.frobenius) == (0, 0, 0, None, 0.0)


@pytest.mark.parametrize(
    ("indices", "size", "text"),
    [
        ([5], 10, "= 5"),
        ([0, 1, 2, 3], 10, "0..3"),
        ([1, 3, 5, 7], 8, "mod 2 = 1"),
        ([0, 1, 4, 5, 8, 9], 12, "mod 4 = 0..1"),
        ([0, 3, 4], 16, "in {0, 3, 4}"),
        ([*range(10), *range(20, 30)], 64, "in 0..9, 20..29"),
    ],
)
def test_indices_are_described_as_tilings_make_them(indices: list[int], size: int, text: str) -> None:
    assert describe_indices(np.array(indices), size)[0] == text


def test_an_axis_that_is_wrong_everywhere_confines_nothing() -> None:
    wrong = np.zeros((4, 6), bool)
    wrong[:, 2] = True
    assert [found.axis for found in locate(wrong, ("M", "N"))] == ["N"]


@pytest.mark.parametrize("part", [0.5, 0.75, 0.9])
def test_a_relation_that_holds_for_most_rows_is_not_said_of_the_whole(part: float) -> None:
    expected = draw(64, 64)
    some = np.arange(64) < 64 * part
    for got in (
        np.where(some[:, None], expected * 2, expected),
        np.where(some[:, None], expected + 3, expected),
        np.where(some[:, None], expected.T, expected),
        np.where(some[:, None], np.roll(expected, 1, axis=1), expected),
    ):
        pattern = described(got, expected, "MN")
        assert (pattern.kind, pattern.details["where"][0]["last"]) == ("confined", int(some.sum()) - 1)


def test_large_values_of_float64_are_not_called_infinite() -> None:
    expected = draw(16, 16, dtype=np.float64)
    got = expected.copy()
    got[3] = 1e200
    assert described(got, expected, "MN").kind == "confined"


def test_minus_ones_are_not_called_unwritten_for_sure() -> None:
    expected = np.arange(64, dtype=np.int32).reshape(8, 8)
    got = expected.copy()
    got[2] = -1
    assert described(got, expected, "MN").text == "8 of 64 elements (12.5 %) hold -1, as does what was never written where M = 2"
