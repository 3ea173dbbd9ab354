"""What contracts say of 2 x 2 CTAs that share both operands: masks reach those that need a tile, and arrivals come from these."""

from __future__ import annotations

import re
from itertools import product

from ptxbench.packs.loading import load

LIBRARY = load()
CONSUMERS = 2


def body(fragment: str) -> str:
    return " ".join(LIBRARY.fragment(fragment).text.split())


def masks(row: int, column: int) -> tuple[int, int]:
    """Return the masks of A and B as the contract writes them."""
    text = body("contracts/tma/tma-multicast")
    a, b = re.search(r"halves of A to `0b(\d+) << row`, halves of B to `0b(\d+) << 2 \* column`", text).groups()
    return int(a, 2) << row, int(b, 2) << 2 * column


def rank(row: int, column: int) -> int:
    assert "rank = row + 2 * column" in body("contracts/tma/tma-multicast")
    return row + 2 * column


PLACES = list(product(range(2), range(2)))


def test_a_mask_reaches_the_ctas_that_multiply_the_same_tile_and_no_other():
    for row, column in PLACES:
        a, b = masks(row, column)
        assert a == sum(1 << rank(r, c) for r, c in PLACES if r == row)
        assert b == sum(1 << rank(r, c) for r, c in PLACES if c == column)


def test_an_empty_barrier_counts_the_consumers_of_every_cta_that_its_loads_reach():
    said = re.search(r"2 consumers each: (\d+) for pairs, (\d+) for 2 x 2 CTAs", body("contracts/barrier/mbarrier-remote")).groups()
    for row, column in PLACES:
        a, b = masks(row, column)
        assert (a | b).bit_count() * CONSUMERS == int(said[1])
        # The CTAs that it writes are those that write it: a consumer arrives where its tile came from.
        assert a | b == sum(1 << rank(*place) for place in PLACES if (masks(*place)[0] | masks(*place)[1]) >> rank(row, column) & 1)
    assert int(said[0]) == 2 * CONSUMERS
