"""Attention backward: rowsum(dO * O), then one kernel that owns dK and dV and one that owns dQ. LSE is natural."""

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


# [backward]
@triton.jit
def row_dots(o, d_o, delta, count, D: tl.constexpr, BR: tl.constexpr):
    rows = tl.program_id(0) * BR + tl.arange(0, BR)
    at = rows[:, None].to(tl.int64) * D + tl.arange(0, D)[None, :]
    inside = rows < count
    x, y = tl.load(o + at, mask=inside[:, None], other=0.0), tl.load(d_o + at, mask=inside[:, None], other=0.0)
    tl.store(delta + rows, tl.sum(x.to(tl.float32) * y.to(tl.float32), 1), mask=inside)


@triton.jit
def d_keys_values(
    q, k, v, d_o, d_k, d_v, lse, delta, length, scale, CAUSAL: tl.constexpr, OWN: tl.constexpr, STEP: tl.constexpr, D: tl.constexpr
):
    first, key = tl.program_id(1) * length, tl.program_id(0) * OWN
    keys = key + tl.arange(0, OWN)
    own_k, own_v = k.load([first + key, 0]), v.load([first + key, 0])
    total_k, total_v = tl.zeros((OWN, D), tl.float32), tl.zeros((OWN, D), tl.float32)
    for query in tl.range(key // STEP * STEP if CAUSAL else 0, length, STEP):
        queries = query + tl.arange(0, STEP)
        tile_q, tile_do = q.load([first + query, 0]), d_o.load([first + query, 0])
        inside = queries < length
        base = tl.load(lse + first + queries, mask=inside, other=float("inf")) * 1.4426950408889634
        part = tl.load(delta + first + queries, mask=inside, other=0.0)
        p = tl.exp2(tl.dot(own_k, tile_q.T) * (scale * 1.4426950408889634) - base[None, :])  # keys are rows: P', dP', dS'
        seen = inside[None, :] & (keys[:, None] < length)
        if CAUSAL:
            seen = seen & (queries[None, :] >= keys[:, None])
        p = tl.where(seen, p, 0.0)
        total_v = tl.dot(p.to(tile_do.dtype), tile_do, total_v)
        ds = p * (tl.dot(own_v, tile_do.T) - part[None, :])
        total_k = tl.dot(ds.to(tile_q.dtype), tile_q, total_k)
    at = (first + keys)[:, None].to(tl.int64) * D + tl.arange(0, D)[None, :]
    tl.store(d_v + at, total_v.to(d_v.dtype.element_ty), mask=(keys < length)[:, None])
    tl.store(d_k + at, (total_k * scale).to(d_k.dtype.element_ty), mask=(keys < length)[:, None])


# [/backward]


@triton.jit
def d_queries(
    q, k, v, d_o, d_q, lse, delta, length, scale, CAUSAL: tl.constexpr, OWN: tl.constexpr, STEP: tl.constexpr, D: tl.constexpr
):
    first, query = tl.program_id(1) * length, tl.program_id(0) * OWN
    queries = query + tl.arange(0, OWN)
    inside = queries < length
    own_q, own_do = q.load([first + query, 0]), d_o.load([first + query, 0])
    base = tl.load(lse + first + queries, mask=inside, other=float("inf")) * 1.4426950408889634
    part = tl.load(delta + first + queries, mask=inside, other=0.0)
    total = tl.zeros((OWN, D), tl.float32)
    for key in tl.range(0, tl.minimum(query + OWN, length) if CAUSAL else length, STEP):
        keys = key + tl.arange(0, STEP)
        tile_k, tile_v = k.load([first + key, 0]), v.load([first + key, 0])
        p = tl.exp2(tl.dot(own_q, tile_k.T) * (scale * 1.4426950408889634) - base[:, None])
        seen = inside[:, None] & (keys[None, :] < length)
        if CAUSAL:
            seen = seen & (keys[None, :] <= queries[:, None])
        ds = tl.where(seen, p, 0.0) * (tl.dot(own_do, tile_v.T) - part[:, None])
        total = tl.dot(ds.to(tile_k.dtype), tile_k, total)
    at = (first + queries)[:, None].to(tl.int64) * D + tl.arange(0, D)[None, :]
    tl.store(d_q + at, (total * scale).to(d_q.dtype.element_ty), mask=inside[:, None])


def run(Q, K, V, O, dO, L, dQ, dK, dV, scale, causal, OWN=128, STEP=64, warps=8):
    length, D = Q.shape[2], Q.shape[3]
    heads = Q.shape[0] * Q.shape[1]
    delta = L.new_empty(L.shape)
    row_dots[(triton.cdiv(heads * length, 64),)](O, dO, delta, heads * length, D, 64)

    def tiles(tensor, rows):
        return TensorDescriptor.from_tensor(tensor.view(-1, D), [rows, D])

    grid = (triton.cdiv(length, OWN), heads)
    keys = (tiles(Q, STEP), tiles(K, OWN), tiles(V, OWN), tiles(dO, STEP))
    d_keys_values[grid](*keys, dK, dV, L, delta, length, scale, causal, OWN, STEP, D, num_warps=warps, num_stages=2)
    queries = (tiles(Q, OWN), tiles(K, STEP), tiles(V, STEP), tiles(dO, OWN))
    d_queries[grid](*queries, dQ, L, delta, length, scale, causal, OWN, STEP, D, num_warps=warps, num_stages=2)
