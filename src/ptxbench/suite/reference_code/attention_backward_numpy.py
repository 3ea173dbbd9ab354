"""Attention backward from the forward's O and log-sum-exp, in float32, one head and one block of rows at a time."""

import math
from typing import Any

import numpy as np

CAUSAL = False
ROWS = 512


def run(
    Q: np.ndarray[Any, Any],
    K: np.ndarray[Any, Any],
    V: np.ndarray[Any, Any],
    O: np.ndarray[Any, Any],
    dO: np.ndarray[Any, Any],
    L: np.ndarray[Any, Any],
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return dQ, dK, dV [B, H, S, D] in the type of Q. L [B, H, S] is the forward's natural log-sum-exp in float32."""
    B, H, S, D = Q.shape
    dQ, dK, dV = np.empty_like(Q), np.empty_like(Q), np.empty_like(Q)
    scale = np.float32(1.0 / math.sqrt(D))
    for b, h in np.ndindex(B, H):
        keys, values = K[b, h].astype(np.float32), V[b, h].astype(np.float32)
        dk, dv = np.zeros((S, D), np.float32), np.zeros((S, D), np.float32)
        for start in range(0, S, ROWS):
            rows = slice(start, min(start + ROWS, S))
            q, o, do = (X[b, h, rows].astype(np.float32) for X in (Q, O, dO))
            scores = (q @ keys.T) * scale
            if CAUSAL:
                scores[np.arange(rows.start, rows.stop)[:, None] < np.arange(S)] = -np.inf
            P = np.exp(scores - L[b, h, rows, None])
            dS = P * (do @ values.T - (o * do).sum(axis=-1, keepdims=True)) * scale
            dQ[b, h, rows] = (dS @ keys).astype(Q.dtype)
            dk += dS.T @ q
            dv += P.T @ do
        dK[b, h], dV[b, h] = dk.astype(Q.dtype), dv.astype(Q.dtype)
    return dQ, dK, dV
