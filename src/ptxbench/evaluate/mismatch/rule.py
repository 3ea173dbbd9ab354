"""The two rules of correctness (protocol section 3): every element against the reference, the norm against an oracle."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ptxbench.suite.dtypes import Array

CHUNK = 1 << 20
"""Elements compared at once, so that a large output needs little memory beside itself."""


@dataclass(frozen=True)
class Comparison:
    """One output against its reference and oracle.

    Attributes:
        elements: how many elements the output has.
        paper_wrong: elements outside ``atol + rtol * |expected|``; a NaN is always outside.
        strict_wrong: the same, but a NaN where the reference has one is inside.
        max_abs: largest finite ``|got - expected|``.
        max_rel: largest finite ``|got - expected| / max(|expected|, atol)``; 0 over 0 is 0.
        not_finite: elements that are NaN or infinite where the reference is finite.
        unwritten: elements that still hold the poison.
        worst: flat index of the largest error (a NaN or infinity before all finite ones), None without elements.
        frobenius: ``||got - oracle|| / ||oracle||`` over elements where oracle and reference are finite (the reference of a narrow
            type may not be where the oracle is); infinite when the output is not finite there, None without an oracle.
        wrong: which elements are outside the strict rule, in the output's shape.

    """

    elements: int
    paper_wrong: int
    strict_wrong: int
    max_abs: float
    max_rel: float
    not_finite: int
    unwritten: int
    worst: int | None
    frobenius: float | None
    wrong: Array


def compare(got: Array, expected: Array, oracle: Array | None, *, atol: float, rtol: float, poison: int) -> Comparison:
    """Compare an output with its reference, element by element in float64, and with its oracle in norm.

    The arrays have one shape; ``poison`` is the byte that an unwritten element consists of.
    """
    wrong = np.empty(got.size, dtype=np.bool_)
    paper_wrong = strict_wrong = not_finite = unwritten = 0
    max_abs = max_rel = 0.0
    worst, worst_error = None, -1.0
    error_square = oracle_square = 0.0
    scale = 1.0 if oracle is None else _largest(oracle)
    for begin, piece, raw, want, wanted, truth in _chunks(got, expected, oracle):
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            error = np.abs(piece - want)
            if raw.dtype.kind in "iu":  # float64 cannot tell all integers of 64 bits apart
                error = np.maximum(error, raw != wanted)
            same = (raw == wanted) if raw.dtype.kind in "iu" else (piece == want)
            close = same | (np.isfinite(error) & (error <= atol + rtol * np.abs(want)))
            relative = error / np.maximum(np.abs(want), atol)
        both_nan = np.isnan(piece) & np.isnan(want)
        poisoned = _is_poison(raw, poison)
        if raw.dtype.kind in "iu":  # any bits are a number
            poisoned &= ~close
        elif raw.dtype.itemsize == 1 and raw.dtype.kind != "b":  # a type of 8 bits may have this NaN only
            poisoned &= ~both_nan
        outside = ~(close | both_nan) | poisoned
        wrong[begin : begin + piece.size] = outside
        paper_wrong += int(np.count_nonzero(~close | poisoned))
        strict_wrong += int(np.count_nonzero(outside))
        unwritten += int(np.count_nonzero(poisoned))
        not_finite += int(np.count_nonzero(~np.isfinite(piece) & np.isfinite(want)))
        finite = np.isfinite(error)
        if finite.any():
            max_abs = max(max_abs, float(error[finite].max()))
            max_rel = max(max_rel, float(relative[np.isfinite(relative)].max(initial=0.0)))
        ranked = np.where(finite, error, np.where(outside, np.inf, -1.0))
        place = int(ranked.argmax())
        if ranked[place] > worst_error:
            worst, worst_error = begin + place, float(ranked[place])
        if truth is not None:
            known = np.isfinite(truth) & np.isfinite(want)
            with np.errstate(invalid="ignore", over="ignore"):
                error_square += float(np.square(piece[known] / scale - truth[known] / scale).sum())
                oracle_square += float(np.square(truth[known] / scale).sum())
    return Comparison(
        elements=got.size,
        paper_wrong=paper_wrong,
        strict_wrong=strict_wrong,
        max_abs=max_abs,
        max_rel=max_rel,
        not_finite=not_finite,
        unwritten=unwritten,
        worst=worst,
        frobenius=None if oracle is None else ratio(error_square, oracle_square),
        wrong=wrong.reshape(got.shape),
    )


def root_mean_square(array: Array) -> float:
    """Return the root of the mean square of the finite elements, 0 for none."""
    total, count, scale = 0.0, 0, _largest(array)
    for piece in _pieces(array):
        finite = piece[np.isfinite(piece)]
        total += float(np.square(finite / scale).sum())
        count += finite.size
    return math.sqrt(total / count) * scale if count else 0.0


def _chunks(got: Array, expected: Array, oracle: Array | None) -> Iterator[tuple[int, Array, Array, Array, Array, Array | None]]:
    """Yield where a piece begins; output and reference of it, each in float64 and as they are; the oracle."""
    flat, want, truth = got.reshape(-1), expected.reshape(-1), None if oracle is None else oracle.reshape(-1)
    for begin in range(0, flat.size, CHUNK):
        piece = slice(begin, begin + CHUNK)
        yield (
            begin,
            flat[piece].astype(np.float64),
            flat[piece],
            want[piece].astype(np.float64),
            want[piece],
            None if truth is None else truth[piece].astype(np.float64),
        )


def _is_poison(raw: Array, poison: int) -> Array:
    width = raw.dtype.itemsize
    pattern = int.from_bytes(bytes([poison]) * width, "little")
    return np.asarray(raw.view(np.dtype(f"u{width}")) == pattern)


def _largest(oracle: Array) -> float:
    """Return the largest finite magnitude, 1 for none: squares are of values up to 1, so that none overflows or vanishes."""
    largest = max((float(np.abs(piece[np.isfinite(piece)]).max(initial=0.0)) for piece in _pieces(oracle)), default=0.0)
    return largest or 1.0


def _pieces(array: Array) -> Iterator[Array]:
    flat = array.reshape(-1)
    for begin in range(0, flat.size, CHUNK):
        yield flat[begin : begin + CHUNK].astype(np.float64)


def ratio(error_square: float, oracle_square: float) -> float:
    """Return the relative norm of two sums of squares: infinite for an output that is not finite, or not zero where it must be."""
    if math.isnan(error_square) or math.isinf(error_square):
        return math.inf
    if oracle_square == 0.0:
        return 0.0 if error_square == 0.0 else math.inf
    return math.sqrt(error_square / oracle_square)
