"""The two rules of correctness on a device's tensors: ``mismatch.rule`` where the outputs lie, with the same answers.

A piece of an output is first compared as if all its numbers were finite, in few passes over memory. What contradicts that (a NaN,
an infinity, an overflow) shows in the piece's sums, and the piece is compared again, with every case told apart. The host waits
once for all pieces, and once more when some had to be compared again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from ptxbench.evaluate.mismatch.rule import Comparison, ratio
from ptxbench.suite.dtypes import Array
from ptxbench.suite.torch_types import as_array

CHUNK = 1 << 22
"""Elements compared at once: 32 MiB for each array in float64, of which about ten exist at a time."""

SMALL_SQUARE = 2.0**-900
"""Sums of squares from here down may have lost terms: they are computed again, of scaled values."""

_SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True)
class _Output:
    """One output with what it is compared with, flat, and the rule's numbers."""

    got: torch.Tensor
    expected: torch.Tensor
    oracle: torch.Tensor | None
    atol: float
    rtol: float
    poison: int
    wrong: torch.Tensor

    def piece(self, begin: int) -> _Output:
        part = slice(begin, begin + CHUNK)
        oracle = None if self.oracle is None else self.oracle[part]
        return _Output(self.got[part], self.expected[part], oracle, self.atol, self.rtol, self.poison, self.wrong[part])


@dataclass(frozen=True)
class _Counts:
    """What one piece adds to a ``Comparison``: tensors of one element on the device, then numbers on the host."""

    paper_wrong: Any
    strict_wrong: Any
    not_finite: Any
    unwritten: Any
    worst: Any
    worst_error: Any
    max_abs: Any
    max_rel: Any
    error_square: Any
    oracle_square: Any

    @property
    def finite(self) -> bool:
        """Whether no number of the piece, and nothing computed from them, was NaN or infinite."""
        return all(map(math.isfinite, (self.max_abs, self.max_rel, self.error_square, self.oracle_square)))


def compare(
    got: torch.Tensor, expected: torch.Tensor, oracle: torch.Tensor | None, *, atol: float, rtol: float, poison: int
) -> Comparison:
    """Compare an output with its reference, element by element in float64, and with its oracle in norm.

    The tensors have one shape and one device; ``poison`` is the byte that an unwritten element consists of. ``wrong`` of the
    result is a tensor of that device, and sums may differ from ``mismatch.rule``'s in their last bits.
    """
    wrong = torch.empty(got.numel(), dtype=torch.bool, device=got.device)
    truth = None if oracle is None else oracle.reshape(-1)
    whole = _Output(got.reshape(-1), expected.reshape(-1), truth, atol, rtol, poison, wrong)
    begins = range(0, got.numel(), CHUNK)
    plain = _plain_will_do(got.dtype, poison)
    pieces = _fetch([_plain(whole.piece(begin)) if plain else _careful(whole.piece(begin)) for begin in begins])
    again = [number for number, one in enumerate(pieces) if plain and not one.finite]
    if again:
        redone = _fetch([_careful(whole.piece(begins[number])) for number in again])
        for number, one in zip(again, redone, strict=True):
            pieces[number] = one
    if truth is not None and not _trusted(pieces):
        scale = _largest(truth)
        pieces = _fetch([_careful(whole.piece(begin), scale) for begin in begins])
    worst, worst_error = None, -1.0
    for begin, one in zip(begins, pieces, strict=True):
        if one.worst_error > worst_error:
            worst, worst_error = begin + int(one.worst), one.worst_error
    return Comparison(
        elements=got.numel(),
        paper_wrong=sum(int(one.paper_wrong) for one in pieces),
        strict_wrong=sum(int(one.strict_wrong) for one in pieces),
        max_abs=max((one.max_abs for one in pieces), default=0.0),
        max_rel=max((one.max_rel for one in pieces), default=0.0),
        not_finite=sum(int(one.not_finite) for one in pieces),
        unwritten=sum(int(one.unwritten) for one in pieces),
        worst=worst,
        frobenius=None
        if oracle is None
        else ratio(sum(one.error_square for one in pieces), sum(one.oracle_square for one in pieces)),
        wrong=wrong.reshape(got.shape),
    )


def root_mean_square(tensor: torch.Tensor) -> float:
    """Return the root of the mean square of the finite elements, 0 for none."""
    flat = tensor.reshape(-1)
    begins = range(0, flat.numel(), CHUNK)
    if not flat.numel():
        return 0.0
    squares = torch.stack([_square(_double(flat[begin : begin + CHUNK])) for begin in begins]).sum().item()
    if math.isfinite(squares) and squares > SMALL_SQUARE:
        return math.sqrt(squares / flat.numel())
    scale = _largest(flat)
    parts = []
    for begin in begins:
        piece = _double(flat[begin : begin + CHUNK])
        finite = piece.isfinite()
        parts.append(torch.stack((_square(piece.div(scale).where(finite, 0.0)), finite.sum().double())))
    total, count = torch.stack(parts).sum(dim=0).tolist()
    return math.sqrt(total / count) * scale if count else 0.0


def host(tensor: torch.Tensor) -> Array:
    """Return a tensor as an array on the host, bfloat16 and float8 by ``ml_dtypes``."""
    return as_array(tensor)


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors of one type and shape hold the same bits; NaNs are bits like any others."""
    return one.dtype == other.dtype and one.shape == other.shape and bool(torch.equal(*_words(one, other)))


def _plain(piece: _Output) -> _Counts:
    """Compare as if every number were finite."""
    want = piece.expected.double()
    value = piece.got.double()
    truth = None if piece.oracle is None else piece.oracle.double()
    error_square, oracle_square = (0.0, 0.0) if truth is None else (_square(value - truth), _square(truth))
    error = (value - want).abs_()
    size = want.abs()
    torch.gt(error, (size * piece.rtol).add_(piece.atol), out=piece.wrong)
    outside = torch.count_nonzero(piece.wrong)
    largest, place = error.max(dim=0)
    return _Counts(
        paper_wrong=outside,
        strict_wrong=outside,
        not_finite=0.0,
        unwritten=0.0,
        worst=place,
        worst_error=largest,
        max_abs=largest,
        max_rel=error.div_(size.clamp_(min=piece.atol)).max(),
        error_square=error_square,
        oracle_square=oracle_square,
    )


def _careful(piece: _Output, scale: float = 1.0) -> _Counts:
    """Compare with every case told apart, as ``mismatch.rule`` does; squares are of values divided by ``scale``."""
    whole = not piece.got.is_floating_point() and piece.got.dtype != torch.bool
    value, want = _double(piece.got), _double(piece.expected)
    error = (value - want).abs_()
    same = value == want
    if whole:  # float64 cannot tell all integers of 64 bits apart
        same = piece.got == piece.expected
        error = torch.maximum(error, same.logical_not().double())
    size = want.abs()
    finite = error.isfinite()
    close = same | (finite & (error <= piece.atol + piece.rtol * size))
    both_nan = value.isnan() & want.isnan()
    poisoned = _is_poison(piece.got, piece.poison)
    if whole:  # any bits are a number
        poisoned &= ~close
    elif piece.got.dtype.itemsize == 1 and piece.got.dtype != torch.bool:  # a type of 8 bits may have this NaN only
        poisoned &= ~both_nan
    outside = torch.logical_or(~(close | both_nan), poisoned, out=piece.wrong)
    relative = error / size.clamp(min=piece.atol)
    largest, place = torch.where(finite, error, torch.where(outside, math.inf, -1.0)).max(dim=0)
    error_square = oracle_square = 0.0
    if piece.oracle is not None:
        truth = piece.oracle.double()
        known = truth.isfinite() & want.isfinite()
        truth = truth.div(scale)
        error_square = _square((value.div(scale) - truth).where(known, 0.0))
        oracle_square = _square(truth.where(known, 0.0))
    return _Counts(
        paper_wrong=torch.count_nonzero(~close | poisoned),
        strict_wrong=torch.count_nonzero(outside),
        not_finite=torch.count_nonzero(~value.isfinite() & want.isfinite()),
        unwritten=torch.count_nonzero(poisoned),
        worst=place,
        worst_error=largest,
        max_abs=error.where(finite, 0.0).max(),
        max_rel=relative.where(finite & relative.isfinite(), 0.0).max(),
        error_square=error_square,
        oracle_square=oracle_square,
    )


def _fetch(pieces: list[_Counts]) -> list[_Counts]:
    """Bring the numbers of all pieces to the host at once; counts below 2^53 are exact in float64."""
    values = [value for piece in pieces for value in vars(piece).values()]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if not tensors:
        return pieces
    numbers = [value for value in tensors if value.dtype == torch.int64]
    others = [value for value in tensors if value.dtype != torch.int64]
    fetched = torch.cat((torch.stack(numbers).double(), torch.stack(others))).tolist()
    places = {id(tensor): value for tensor, value in zip((*numbers, *others), fetched, strict=True)}
    return [_Counts(**{name: places.get(id(value), value) for name, value in vars(piece).items()}) for piece in pieces]


def _trusted(pieces: list[_Counts]) -> bool:
    """Whether sums of squares neither overflowed nor lost small terms. A NaN is an output that is not finite, and stays one."""
    error, total = sum(one.error_square for one in pieces), sum(one.oracle_square for one in pieces)
    return not pieces or (SMALL_SQUARE < total < math.inf and not math.isinf(error))


def _plain_will_do(dtype: torch.dtype, poison: int) -> bool:
    """Whether poison in this type is a NaN, so that a piece without one is all written."""
    if not dtype.is_floating_point:
        return False
    element = torch.full((dtype.itemsize,), poison, dtype=torch.uint8).view(dtype)
    return bool(element.double().isnan().all())


def _double(tensor: torch.Tensor) -> torch.Tensor:
    """Return elements in float64; any byte but zero is true, and torch may take it for more than one."""
    return (tensor.view(torch.uint8) != 0).double() if tensor.dtype == torch.bool else tensor.double()


def _is_poison(raw: torch.Tensor, poison: int) -> torch.Tensor:
    width = raw.dtype.itemsize
    return raw.view(_SIGNED[width]) == int.from_bytes(bytes([poison]) * width, "little", signed=True)


def _square(values: torch.Tensor) -> torch.Tensor:
    return torch.dot(values, values)


def _largest(flat: torch.Tensor) -> float:
    """Return the largest finite magnitude, 1 for none."""
    parts = []
    for begin in range(0, flat.numel(), CHUNK):
        piece = _double(flat[begin : begin + CHUNK]).abs()
        parts.append(piece.where(piece.isfinite(), 0.0).max())
    return (torch.stack(parts).max().item() if parts else 0.0) or 1.0


def _words(one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the bits of both as eight-byte integers where both fill them: there are eight times fewer to compare."""
    ours, theirs = (tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (one, other))
    if all(data.numel() % 8 == 0 and data.data_ptr() % 8 == 0 for data in (ours, theirs)):
        return ours.view(torch.int64), theirs.view(torch.int64)
    return ours, theirs
