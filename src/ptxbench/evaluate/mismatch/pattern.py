"""What a wrong output looks like: each known kind is one function that says yes with numbers, or None."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ptxbench.evaluate.mismatch.where import locate
from ptxbench.schema import MismatchPattern
from ptxbench.suite.dtypes import Array

SAMPLE = 1 << 18
"""Elements that the tests of a whole-array relation look at."""
PIECE = 1 << 18
"""Elements that are looked at together where all are."""
EXPLAINED = 0.3
"""What a relation may leave of the error's norm: rounding to bfloat16 hides less than this of a factor of 0.99."""
HOLDS = 0.95
"""Share of the elements at which a relation must hold, each by itself: a factor on most rows is not a factor of the output."""
LEAST = 4
"""Elements that a relation must be seen on."""


@dataclass(frozen=True)
class Mismatch:
    """A wrong output, its reference, which elements are wrong and which still hold the poison; ``axes`` names the dimensions."""

    got: Array
    expected: Array
    wrong: Array
    unwritten: int
    poison: int
    axes: tuple[str, ...]
    atol: float
    rtol: float


def find_pattern(mismatch: Mismatch) -> MismatchPattern | None:
    """Return the first kind that fits, most telling first; None when nothing is wrong."""
    if not mismatch.wrong.any():
        return None
    for kind in KINDS:
        pattern = kind(mismatch)
        if pattern is not None:
            return pattern
    return None


def unwritten(mismatch: Mismatch) -> MismatchPattern | None:
    """Elements that no store reached."""
    if not mismatch.unwritten:
        return None
    width = mismatch.got.dtype.itemsize
    held = mismatch.got.view(np.dtype(f"u{width}")) == int.from_bytes(bytes([mismatch.poison]) * width, "little")
    held &= mismatch.wrong
    total = mismatch.got.size
    if mismatch.unwritten == total:
        return MismatchPattern(kind="unwritten", text="nothing was written to this output", details={"elements": total})
    place, details = _place(held, mismatch.axes)
    text = f"{_share(mismatch.unwritten, total)} never written{place}"
    if mismatch.got.dtype.kind in "iu":
        text = f"{_share(mismatch.unwritten, total)} hold {mismatch.got[held].flat[0]}, as does what was never written{place}"
    return MismatchPattern(kind="unwritten", text=text, details={"elements": mismatch.unwritten, **details})


def all_zeros(mismatch: Mismatch) -> MismatchPattern | None:
    """Everything, or everything that is wrong, is zero."""
    if any(np.any((got != 0) & wrong) for got, wrong in _pieces(mismatch.got, mismatch.wrong)):
        return None
    if not any(np.any(got != 0) for (got,) in _pieces(mismatch.got)):
        return MismatchPattern(kind="all_zeros", text="every element is zero")
    place, details = _place(mismatch.wrong, mismatch.axes)
    return MismatchPattern(kind="zeros", text=f"every wrong element is zero{place}", details=details)


def not_finite(mismatch: Mismatch) -> MismatchPattern | None:
    """NaN or infinity where the reference is finite."""
    count = sum(int(np.count_nonzero(~np.isfinite(got) & wrong)) for got, wrong in _pieces(mismatch.got, mismatch.wrong))
    if not count:
        return None
    nans = sum(int(np.count_nonzero(np.isnan(got) & wrong)) for got, wrong in _pieces(mismatch.got, mismatch.wrong))
    bad = mismatch.wrong & ~np.isfinite(mismatch.got)
    name = "NaN" if nans == count else "infinite" if nans == 0 else "NaN or infinite"
    place, details = _place(bad, mismatch.axes)
    text = f"{_share(count, bad.size)} {name}{place}"
    return MismatchPattern(
        kind="nan" if nans else "infinite", text=text, details={"nan": nans, "infinite": count - nans, **details}
    )


def constant_factor(mismatch: Mismatch) -> MismatchPattern | None:
    """Find out whether the output is the reference times one number."""
    got, expected = _thin(mismatch.got, mismatch.expected)
    with np.errstate(over="ignore"):
        strong = np.abs(expected) > 0.1 * np.sqrt(np.mean(np.square(expected))) if expected.size else np.empty(0, bool)
        if np.count_nonzero(strong) < LEAST:
            return None
        factor = float(np.median(got[strong] / expected[strong]))
    if factor == 0.0 or not np.isfinite(factor) or not _explains(mismatch, got, expected * factor, expected):
        return None
    text = f"the output is {factor:.4g} times the reference"
    return MismatchPattern(kind="constant_factor", text=text, details={"factor": factor})


def constant_offset(mismatch: Mismatch) -> MismatchPattern | None:
    """Find out whether the output is the reference plus one number."""
    got, expected = _thin(mismatch.got, mismatch.expected)
    if got.size < LEAST:
        return None
    offset = float(np.median(got - expected))
    if not _explains(mismatch, got, expected + offset, expected):
        return None
    text = f"the output is the reference plus {offset:.4g}"
    return MismatchPattern(kind="constant_offset", text=text, details={"offset": offset})


def transposed(mismatch: Mismatch) -> MismatchPattern | None:
    """Find out whether the last two axes are exchanged, in place (square) or in the order of storage."""
    if mismatch.got.ndim < 2 or min(mismatch.got.shape[-2:]) < 2:
        return None
    rows, columns = mismatch.got.shape[-2:]
    batches = max(1, SAMPLE // (rows * columns))
    thin = max(1, rows * columns // SAMPLE) | 1
    stored = (-1, columns, rows)
    got = mismatch.got.reshape(stored)[:batches, ::thin]
    usual = mismatch.expected.reshape(stored)[:batches, ::thin]
    exchanged = mismatch.expected.reshape(-1, rows, columns)[:batches, :, ::thin].swapaxes(1, 2)
    if not _explains(mismatch, *_finite(got, exchanged, usual)):
        return None
    names = " and ".join(mismatch.axes[-2:])
    return MismatchPattern(kind="transposed", text=f"{names} are exchanged: the output is stored transposed")


def shifted(mismatch: Mismatch) -> MismatchPattern | None:
    """Find out whether the output is the reference moved by one along an axis."""
    for axis, name in enumerate(mismatch.axes):
        if mismatch.got.shape[axis] < LEAST:
            continue
        got, expected = mismatch.got.swapaxes(0, axis), mismatch.expected.swapaxes(0, axis)
        for step, ours, theirs in ((1, slice(1, None), slice(None, -1)), (-1, slice(None, -1), slice(1, None))):
            if _explains(mismatch, *_thin(got[ours], expected[theirs], expected[ours])):
                text = f"the output is the reference moved by {step:+d} along {name}"
                return MismatchPattern(kind="shifted", text=text, details={"axis": name, "step": step})
    return None


def confined(mismatch: Mismatch) -> MismatchPattern | None:
    """Find out whether the wrong elements lie at some indices of some axes only."""
    place, details = _place(mismatch.wrong, mismatch.axes)
    if not place:
        return None
    count = int(np.count_nonzero(mismatch.wrong))
    return MismatchPattern(kind="confined", text=f"{_share(count, mismatch.wrong.size)} wrong, all{place}", details=details)


def scattered(mismatch: Mismatch) -> MismatchPattern | None:
    """Nothing better can be said than how many."""
    count = int(np.count_nonzero(mismatch.wrong))
    details = {"elements": count, "fraction": count / mismatch.wrong.size}
    text = f"{_share(count, mismatch.wrong.size)} wrong, spread over the whole output"
    return MismatchPattern(kind="scattered", text=text, details=details)


KINDS: tuple[Callable[[Mismatch], MismatchPattern | None], ...] = (
    unwritten, all_zeros, not_finite, constant_factor, constant_offset, transposed, shifted, confined, scattered,
)  # fmt: skip
"""Kinds in the order in which they are tried."""


def _place(where: Array, axes: Sequence[str]) -> tuple[str, dict[str, object]]:
    """Return `` where …`` and its numbers, or an empty text when no axis confines the elements."""
    found = locate(where, axes)
    if not found:
        return "", {}
    return " where " + ", ".join(item.text for item in found), {"where": [item.details for item in found]}


def _share(count: int, total: int) -> str:
    return f"{count} of {total} elements ({100 * count / total:.3g} %)"


def _pieces(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """Yield the same stretches of all arrays, flat, small enough to stay in a cache."""
    flat = [array.reshape(-1) for array in arrays]
    for begin in range(0, flat[0].size, PIECE):
        yield tuple(one[begin : begin + PIECE] for one in flat)


def _thin(*arrays: Array) -> tuple[Array, ...]:
    """Return at most ``SAMPLE`` places where all are finite, in float64, evenly spread (an odd step meets every tile)."""
    step = max(1, arrays[0].size // SAMPLE) | 1
    if all(array.flags.c_contiguous for array in arrays):
        return _finite(*(array.reshape(-1)[::step] for array in arrays))
    places = np.unravel_index(np.arange(0, arrays[0].size, step), arrays[0].shape)  # reshaping would copy all of it
    return _finite(*(array[places] for array in arrays))


def _finite(*arrays: Array) -> tuple[Array, ...]:
    """Return the places where all are finite, flat, in float64."""
    pieces = [array.astype(np.float64).reshape(-1) for array in arrays]
    finite = np.logical_and.reduce([np.isfinite(piece) for piece in pieces])
    return tuple(piece[finite] for piece in pieces)


def _explains(mismatch: Mismatch, got: Array, relation: Array, expected: Array) -> bool:
    """Whether a relation leaves much less of the error than the reference itself does, and holds at nearly every element.

    An element counts when the relation leaves a tenth of its error, or less than the tolerance (small outputs have a smaller one).
    """
    if got.size < LEAST:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        errors, rest = np.abs(got - expected), np.abs(got - relation)
        error = float(np.linalg.norm(errors))
        if not (error > 0 and float(np.linalg.norm(rest)) <= EXPLAINED * error):
            return False
        small = min(mismatch.atol, 0.02 * float(np.sqrt(np.mean(np.square(expected)))))
        return float(np.mean(rest <= 0.1 * errors + small + mismatch.rtol * np.abs(relation))) >= HOLDS
