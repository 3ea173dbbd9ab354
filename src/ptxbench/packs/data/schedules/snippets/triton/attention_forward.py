"""Attention forward: Q, K, V, O [batch, heads, length, D] bf16, LSE [batch, heads, length] float32, natural."""

import triton
import triton.language as tl


# [walk]
@triton.jit
def walk(
    o, m, l, q, k, v, first, rows, lo, hi, n, factor, MASK: tl.constexpr, CAUSAL: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr
):
    """Go over the keys from lo to hi; with MASK, mask them. Scores are in base 2: scale * log2(e) * Q K'."""
    for key in tl.range(lo, hi, BK, warp_specialize=WS):
        s = tl.dot(q, k.load([first + key, 0]).T) * factor
        if MASK:
            columns = key + tl.arange(0, BK)
            seen = columns[None, :] < n
            if CAUSAL:
                seen = seen & (columns[None, :] <= rows[:, None])
            s = tl.where(seen, s, float("-inf"))
        most = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - most[:, None])
        alpha = tl.exp2(m - most)  # the old maximum against the new
        l = l * alpha + tl.sum(p, 1)
        o = tl.dot(p.to(q.dtype), v.load([first + key, 0]), o * alpha[:, None])
        m = most
    return o, m, l


@triton.jit
def forward(
    Q, K, V, O, LSE, count, n, scale, CAUSAL: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr, D: tl.constexpr, WS: tl.constexpr
):
    q = tl.make_tensor_descriptor(Q, [count, D], [D, 1], [BQ, D])
    k = tl.make_tensor_descriptor(K, [count, D], [D, 1], [BK, D])
    v = tl.make_tensor_descriptor(V, [count, D], [D, 1], [BK, D])
    query = tl.program_id(0) * BQ
    first, rows = tl.program_id(1) * n, query + tl.arange(0, BQ)
    m, l = tl.full((BQ,), float("-inf"), tl.float32), tl.zeros((BQ,), tl.float32)
    o = tl.zeros((BQ, D), tl.float32)
    tile, factor = q.load([first + query, 0]), scale * 1.4426950408889634
    end = tl.minimum(query + BQ, n) if CAUSAL else n
    begin = 0
    if not WS:  # first, without a mask, the tiles that every row sees whole; a kernel may have one specialised loop only
        begin = (tl.minimum(query, n) if CAUSAL else n) // BK * BK
        o, m, l = walk(o, m, l, tile, k, v, first, rows, 0, begin, n, factor, False, CAUSAL, BK, False)
    o, m, l = walk(o, m, l, tile, k, v, first, rows, begin, end, n, factor, True, CAUSAL, BK, WS)
    at = (first + rows)[:, None].to(tl.int64) * D + tl.arange(0, D)[None, :]
    tl.store(O + at, (o / l[:, None]).to(O.dtype.element_ty), mask=(rows < n)[:, None])
    tl.store(LSE + first + rows, (m + tl.log2(l)) * 0.6931471805599453, mask=rows < n)


# [/walk]


# [launch]
def run(Q, K, V, O, LSE, scale, causal, BQ=128, BK=128, special=True):
    batch, heads, length, D = Q.shape
    triton.set_allocator(lambda size, alignment, stream: Q.new_empty(size))
    grid = (triton.cdiv(length, BQ), batch * heads)
    warps = 4 if special else 8
    forward[grid](Q, K, V, O, LSE, batch * heads * length, length, scale, causal, BQ, BK, D, special, num_warps=warps, num_stages=2)


# [/launch]
