"""Float64 oracles: what the outputs are, without the rounding of any kernel. They are written apart from the references."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ptxbench.suite.dtypes import Array

ROWS = 256
"""Rows of the score matrix that are in memory at a time."""


def gemm(inputs: Mapping[str, Any]) -> dict[str, Array]:
    """C = A B^T."""
    return {"C": inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64).T}


def softmax(inputs: Mapping[str, Any]) -> dict[str, Array]:
    """Y = exp(X - max) / sum, row by row."""
    wide = inputs["X"].astype(np.float64)
    powers = np.exp(wide - wide.max(axis=-1, keepdims=True))
    return {"Y": powers / powers.sum(axis=-1, keepdims=True)}


def _scores(q: Array, k: Array, causal: bool) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of rows of the scaled, masked score matrix of one head."""
    length, head = q.shape
    for start in range(0, length, ROWS):
        rows = slice(start, min(start + ROWS, length))
        block = q[rows] @ k.T / math.sqrt(head)
        if causal:
            block = np.where(np.arange(rows.start, rows.stop)[:, None] >= np.arange(length), block, -np.inf)
        yield rows, block


def attention(inputs: Mapping[str, Any], *, causal: bool) -> dict[str, Array]:
    """O = softmax(Q K^T / sqrt(D)) V, and LSE, the natural log-sum-exp of the scaled scores."""
    shape = inputs["Q"].shape
    outputs, lse = np.empty(shape), np.empty(shape[:-1])
    for head in np.ndindex(*shape[:2]):
        q, k, v = (inputs[name][head].astype(np.float64) for name in ("Q", "K", "V"))
        for rows, scores in _scores(q, k, causal):
            lse[head][rows] = np.logaddexp.reduce(scores, axis=-1)
            outputs[head][rows] = np.exp(scores - lse[head][rows, None]) @ v
    return {"O": outputs, "LSE": lse}


def attention_backward(inputs: Mapping[str, Any], *, causal: bool) -> dict[str, Array]:
    """Gradients as a function of all six inputs: P = exp(scores - L), D_i = sum(dO_i * O_i), as kernels compute them.

    O arrives rounded to the task's type, so D_i differs from sum(P_i * dP_i) by that rounding; taking O as given keeps a
    kernel's error apart from its inputs'.
    """
    shape = inputs["Q"].shape
    gradients = {name: np.zeros(shape) for name in ("dQ", "dK", "dV")}
    for head in np.ndindex(*shape[:2]):
        q, k, v, o, do, lse = (inputs[name][head].astype(np.float64) for name in ("Q", "K", "V", "O", "dO", "L"))
        dots = (o * do).sum(axis=-1)
        for rows, scores in _scores(q, k, causal):
            p = np.exp(scores - lse[rows, None])
            ds = p * (do[rows] @ v.T - dots[rows, None]) / math.sqrt(shape[-1])
            gradients["dQ"][head][rows] = ds @ k
            gradients["dK"][head] += ds.T @ q[rows]
            gradients["dV"][head] += p.T @ do[rows]
    return gradients


ORACLES: dict[str, Callable[[Mapping[str, Any]], dict[str, Array]]] = {
    "gemm": gemm,
    "softmax": softmax,
    "attention": partial(attention, causal=False),
    "attention_causal": partial(attention, causal=True),
    "attention_backward": partial(attention_backward, causal=False),
    "attention_backward_causal": partial(attention_backward, causal=True),
}
"""Oracles by the name that a task gives."""
