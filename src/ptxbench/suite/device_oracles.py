"""The oracles as torch computes them, where the inputs lie: the same functions as ``oracles``, in float64, for large workloads.

Score matrices are computed in blocks of whole heads or of rows, so that a block's temporaries stay below ``BLOCK_BYTES``. Inputs
are tensors of one device; the outputs lie there too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

import torch

BLOCK_BYTES = 1 << 31
"""Bound on the blocks of score matrices that exist at a time, and on a block of a GEMM's left operand."""
SCORES_HELD = 4
"""Matrices of a block's size that exist at a time: scores, gradients of them, and what an operation makes of one."""

Tensors = dict[str, torch.Tensor]
Block = tuple[slice, slice, slice]
"""Heads, rows, and the columns that any of the rows attends to."""


class Oracle(Protocol):
    """Takes a task's inputs by name and the type to compute in; returns the outputs in that type."""

    def __call__(self, inputs: Mapping[str, Any], wide: torch.dtype = torch.float64) -> Tensors:
        """Compute the outputs."""
        ...


@contextmanager
def full_float32() -> Iterator[None]:
    """Multiply float32 matrices in float32, not in TF32 or bfloat16 pieces, whatever the process has chosen."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def gemm(inputs: Mapping[str, Any], wide: torch.dtype = torch.float64) -> Tensors:
    """C = A B^T."""
    a, b = inputs["A"], inputs["B"].to(wide)
    product = torch.empty(a.shape[0], b.shape[0], dtype=wide, device=a.device)
    rows = max(1, BLOCK_BYTES // max(1, a.shape[1] * wide.itemsize))
    with full_float32():
        for start in range(0, a.shape[0], rows):
            torch.matmul(a[start : start + rows].to(wide), b.T, out=product[start : start + rows])
    return {"C": product}


def softmax(inputs: Mapping[str, Any], wide: torch.dtype = torch.float64) -> Tensors:
    """Y = exp(X - max) / sum, row by row."""
    powers = inputs["X"].to(wide)
    powers = (powers - powers.amax(dim=-1, keepdim=True)).exp_()
    return {"Y": powers.div_(powers.sum(dim=-1, keepdim=True))}


def attention(inputs: Mapping[str, Any], wide: torch.dtype = torch.float64, *, causal: bool) -> Tensors:
    """O = softmax(Q K^T / sqrt(D)) V, and LSE, the natural log-sum-exp of the scaled scores."""
    q, k, v = (_heads(inputs[name]) for name in ("Q", "K", "V"))
    outputs = torch.empty(q.shape, dtype=wide, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=wide, device=q.device)
    with full_float32():
        for heads, rows, columns in _blocks(q, wide, causal):
            scores = _scores(q[heads, rows].to(wide), k[heads, columns].to(wide), rows, causal)
            largest = scores.amax(dim=-1, keepdim=True)
            powers = scores.sub_(largest).exp_()
            total = powers.sum(dim=-1, keepdim=True)
            outputs[heads, rows] = torch.bmm(powers, v[heads, columns].to(wide)).div_(total)
            lse[heads, rows] = largest.add_(total.log_())[..., 0]
    shape = inputs["Q"].shape
    return {"O": outputs.reshape(shape), "LSE": lse.reshape(shape[:-1])}


def attention_backward(inputs: Mapping[str, Any], wide: torch.dtype = torch.float64, *, causal: bool) -> Tensors:
    """Gradients as a function of all six inputs: P = exp(scores - L), D_i = sum(dO_i * O_i), as ``oracles`` explains."""
    q, k, v, o, do = (_heads(inputs[name]) for name in ("Q", "K", "V", "O", "dO"))
    lse = inputs["L"].reshape(q.shape[:-1])
    dq, dk, dv = (torch.zeros(q.shape, dtype=wide, device=q.device) for _ in range(3))
    with full_float32():
        for heads, rows, columns in _blocks(q, wide, causal):
            queries, keys, down = (x.to(wide) for x in (q[heads, rows], k[heads, columns], do[heads, rows]))
            dots = (o[heads, rows].to(wide) * down).sum(dim=-1, keepdim=True)
            p = _scores(queries, keys, rows, causal).sub_(lse[heads, rows, None]).exp_()
            dv[heads, columns] += torch.bmm(p.mT, down)
            ds = torch.bmm(down, v[heads, columns].to(wide).mT).sub_(dots).mul_(p).div_(math.sqrt(q.shape[-1]))
            dq[heads, rows] = torch.bmm(ds, keys)
            dk[heads, columns] += torch.bmm(ds.mT, queries)
    shape = inputs["Q"].shape
    return {name: gradient.reshape(shape) for name, gradient in (("dQ", dq), ("dK", dk), ("dV", dv))}


ORACLES: dict[str, Oracle] = {
    "gemm": gemm,
    "softmax": softmax,
    "attention": partial(attention, causal=False),
    "attention_causal": partial(attention, causal=True),
    "attention_backward": partial(attention_backward, causal=False),
    "attention_backward_causal": partial(attention_backward, causal=True),
}
"""Oracles by the name that a task gives; the names are those of ``oracles.ORACLES``."""


def _heads(tensor: torch.Tensor) -> torch.Tensor:
    """Return [B, H, S, D] as [B * H, S, D]."""
    return tensor.reshape(-1, *tensor.shape[-2:])


def _blocks(q: torch.Tensor, wide: torch.dtype, causal: bool) -> Iterator[Block]:
    """Yield blocks whose temporaries fit: several whole heads, or some rows of one. A causal block ends at its last row's key."""
    heads, length, _ = q.shape
    room = BLOCK_BYTES // (SCORES_HELD * wide.itemsize * max(1, length))
    rows = max(1, min(length, room))
    if causal:  # thinner blocks compute less above the diagonal
        rows = min(rows, max(1, length // 8))
    together = max(1, room // rows)
    for head in range(0, heads, together):
        for row in range(0, length, rows):
            stop = min(row + rows, length)
            yield slice(head, min(head + together, heads)), slice(row, stop), slice(0, stop if causal else length)


def _scores(q: torch.Tensor, k: torch.Tensor, rows: slice, causal: bool) -> torch.Tensor:
    """Return the scaled, masked scores of a block's queries."""
    scores = torch.bmm(q, k.mT).div_(math.sqrt(q.shape[-1]))
    if causal:
        columns = torch.arange(k.shape[1], device=q.device)
        scores.masked_fill_(columns > torch.arange(rows.start, rows.stop, device=q.device)[:, None], -math.inf)
    return scores
