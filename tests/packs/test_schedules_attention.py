"""The attention schedules, step by step as their pages tell them, are plain softmax attention and its gradients."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

TILE = 4
"""Keys of a tile."""
ROWS = 3
"""Queries of a consumer; a block has two consumers."""
LENGTHS = [1, 4, 5, 8, 12, 19, 20]
"""T = 1, 1, 2, 2, 3, 5, 5 tiles without a mask: one, even, odd, whole and cut."""
SCALES = [1.0, 0.25, 3.0]


def inputs(length: int, d: int = 5, count: int = 3) -> list[np.ndarray]:
    generator = np.random.default_rng(length)
    return [generator.normal(size=(length, d)) * 2 for _ in range(count)]


def plain(q, k, v, scale, causal):
    """Return O and LSE by the definition."""
    s = scale * q @ k.T
    if causal:
        s = np.where(np.arange(len(k)) <= np.arange(len(q))[:, None], s, -np.inf)
    lse = np.log(np.exp(s - s.max(1, keepdims=True)).sum(1)) + s.max(1)
    return np.exp(s - lse[:, None]) @ v, lse


class Consumer:
    """One consumer's rows of a block: what both forward schedules do, by their pages' words."""

    def __init__(self, q, k, v, scale, causal, block, half, keep_nan=False):
        self.query = block * 2 * ROWS + half * ROWS
        self.q = np.zeros((ROWS, q.shape[1]))
        self.q[: len(q[self.query : self.query + ROWS])] = q[self.query : self.query + ROWS]
        self.k, self.v, self.scale, self.causal, self.keep_nan = k, v, scale, causal, keep_nan
        last = block * 2 * ROWS + 2 * ROWS - 1
        # Causal: T = ceil(min(length, last row + 1) / tile), the same for both consumers.
        self.tiles = -(-(min(len(k), last + 1) if causal else len(k)) // TILE)
        # m = -inf, l = 0, O = 0
        self.m, self.l, self.o = np.full(ROWS, -np.inf), np.zeros(ROWS), np.zeros((ROWS, v.shape[1]))

    def tile(self, of, j):
        """Return tile j, padded with zeros as TMA pads it."""
        rows = of[j * TILE : (j + 1) * TILE]
        return np.vstack([rows, np.zeros((TILE - len(rows), of.shape[1]))])

    def scores(self, j):
        return self.q @ self.tile(self.k, j).T

    def masked(self, s, j):
        key = j * TILE + np.arange(TILE)
        seen = (key < len(self.k)) & ((key <= self.query + np.arange(ROWS)[:, None]) if self.causal else True)
        return np.where(seen, s, -np.inf)

    def softmax(self, s, j):
        """Mask S; m_old = m; m = max(m_old, rowmax(S)); alpha; P; l. Returns P and alpha."""
        s = self.masked(s, j)
        m_old = self.m
        self.m = np.maximum(m_old, s.max(1))
        base = self.m if self.keep_nan else np.where(np.isneginf(self.m), 0.0, self.m)
        with np.errstate(invalid="ignore"):
            alpha = np.exp2(self.scale * np.log2(np.e) * (m_old - base))
            p = np.exp2(self.scale * np.log2(np.e) * (s - base[:, None]))
        self.l = alpha * self.l + p.sum(1)
        return p, alpha

    def finish(self):
        return self.o / self.l[:, None], self.scale * self.m + np.log(self.l)


def ping_pong(c: Consumer, order=None):
    order = list(order or range(c.tiles))
    p, alpha = c.softmax(c.scores(order[0]), order[0])
    c.o = alpha[:, None] * c.o
    for before, j in pairwise(order):
        c.o = c.o + p @ c.tile(c.v, before)  # turn: O += P V(j-1) and
        s = c.scores(j)  # S = Q K(j)', issued together
        p, alpha = c.softmax(s, j)
        c.o = alpha[:, None] * c.o
    c.o = c.o + p @ c.tile(c.v, order[-1])
    return c.finish()


def pipelined(c: Consumer, published: bool = False):
    """Algorithm 2 as the page corrects it, or with the loop that was published: it ends early and forgets P."""
    p_cur, _ = c.softmax(c.scores(0), 0)
    for j in range(1, c.tiles - 1 if published else c.tiles):
        s_next = c.scores(j)  # issue
        in_flight = p_cur @ c.tile(c.v, j - 1)  # issue; not in O until the second wait
        p_next, alpha = c.softmax(s_next, j)
        c.o = c.o + in_flight  # wait for the second
        c.o = alpha[:, None] * c.o
        if not published:
            p_cur = p_next
    c.o = c.o + p_cur @ c.tile(c.v, c.tiles - 1)
    return c.finish()


def attention(schedule, q, k, v, scale, causal, **how):
    """Run every block's two consumers and put their rows together."""
    o, lse = np.zeros_like(q), np.zeros(len(q))
    for block in range(-(-len(q) // (2 * ROWS))):
        for half in range(2):
            consumer = Consumer(q, k, v, scale, causal, block, half)
            rows = slice(consumer.query, min(len(q), consumer.query + ROWS))
            got_o, got_lse = schedule(consumer, **how)
            o[rows], lse[rows] = got_o[: len(o[rows])], got_lse[: len(lse[rows])]
    return o, lse


def same(got, wanted) -> bool:
    return all(np.allclose(a, b, rtol=1e-12, atol=1e-12) for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("length", LENGTHS)
def test_ping_pong_equals_plain_attention(length, scale, causal):
    q, k, v = inputs(length)
    assert same(attention(ping_pong, q, k, v, scale, causal), plain(q, k, v, scale, causal))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("length", LENGTHS)
def test_the_pipelined_form_equals_plain_attention(length, scale, causal):
    q, k, v = inputs(length)
    assert same(attention(pipelined, q, k, v, scale, causal), plain(q, k, v, scale, causal))


def test_the_published_algorithm_2_does_not():
    """Its loop leaves out the last tile's scores, and never makes the next P the current one."""
    for length in (5, 12, 20):
        q, k, v = inputs(length)
        assert not same(attention(pipelined, q, k, v, 0.5, False, published=True), plain(q, k, v, 0.5, False))


def test_rows_that_have_seen_nothing_yet_need_zero_for_their_maximum():
    """From the diagonal downwards, the first consumer's rows see nothing of the first tile."""
    q, k, v = inputs(12)
    results = {}
    for keep_nan in (False, True):
        consumer = Consumer(q, k, v, 0.5, True, block=1, half=0, keep_nan=keep_nan)
        assert np.isneginf(consumer.masked(consumer.scores(consumer.tiles - 1), consumer.tiles - 1)).all(1).any()
        results[keep_nan] = ping_pong(consumer, order=range(consumer.tiles - 1, -1, -1))
    wanted = [part[6:9] for part in plain(q, k, v, 0.5, True)]
    assert same(results[False], wanted)
    assert np.isnan(results[True][0]).any()


def gradients(q, k, v, d_o, scale, causal):
    """Return dQ, dK, dV by central differences of the sum of O * dO."""
    found = []
    for which in range(3):
        gradient = np.zeros_like(q)
        for place in np.ndindex(q.shape):
            values = []
            for step in (1e-5, -1e-5):
                moved = [q.copy(), k.copy(), v.copy()]
                moved[which][place] += step
                values.append((plain(*moved, scale, causal)[0] * d_o).sum())
            gradient[place] = (values[0] - values[1]) / 2e-5
        found.append(gradient)
    return found


def two_kernels(q, k, v, o, lse, d_o, scale, causal):
    """Return dQ, dK, dV as the page says: each output has one owner, who adds tile by tile."""
    owned, step, n = 2 * TILE, TILE, len(q)
    delta = (d_o * o).sum(1)
    d_q, d_k, d_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    position = np.arange(n)

    def weights(queries, keys):
        p = np.exp2(scale * np.log2(np.e) * q[queries] @ k[keys].T - np.log2(np.e) * lse[queries, None])
        return np.where(position[keys] <= position[queries, None], p, 0.0) if causal else p

    for first in range(0, n, owned):  # kernel 1: a block owns keys, S' and dP' have keys as rows
        keys = slice(first, first + owned)
        for begin in range(first if causal else 0, n, step):
            queries = slice(begin, begin + step)
            p = weights(queries, keys).T
            d_s = p * ((v[keys] @ d_o[queries].T) - delta[queries])
            d_v[keys] += p @ d_o[queries]
            d_k[keys] += d_s @ q[queries]
        d_k[keys] *= scale
    for first in range(0, n, owned):  # kernel 2: a block owns queries
        queries = slice(first, first + owned)
        for begin in range(0, first + owned if causal else n, step):
            keys = slice(begin, begin + step)
            d_s = weights(queries, keys) * (d_o[queries] @ v[keys].T - delta[queries, None])
            d_q[queries] += d_s @ k[keys]
        d_q[queries] *= scale
    return d_q, d_k, d_v


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("length", [8, 16])
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_the_two_kernels_give_the_gradients_of_plain_attention(length, causal, scale):
    q, k, v, d_o = inputs(length, d=3, count=4)
    o, lse = plain(q, k, v, scale, causal)
    got = two_kernels(q, k, v, o, lse, d_o, scale, causal)
    for mine, wanted in zip(got, gradients(q, k, v, d_o, scale, causal), strict=True):
        assert np.allclose(mine, wanted, rtol=1e-5, atol=1e-6)
