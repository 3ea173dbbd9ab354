"""Quantiles within many groups at once: those of each group alone, whether or not group and value fit into one number."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ptxbench.metrics.ranks import in_order, quantile

SMALL = st.integers(-50, 50)
LARGE = st.integers(-(2**61), 2**61)
ROWS = st.one_of(st.lists(st.tuples(st.integers(0, 5), values), max_size=30) for values in (SMALL, LARGE))


@given(rows=ROWS)
def test_values_come_by_group_and_then_by_value(rows):
    groups, values = ([row[side] for row in rows] for side in (0, 1))
    found = in_order(pl.Series(groups, dtype=pl.Int64), pl.Series(values, dtype=pl.Int64))
    assert found.tolist() == [value for _, value in sorted(rows)]


@given(rows=st.lists(st.tuples(st.integers(0, 4), SMALL), max_size=30), level=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_the_quantile_of_a_group_is_numpy_s(rows, level):
    groups, values = (pl.Series([row[side] for row in rows], dtype=pl.Int64) for side in (0, 1))
    members = [[value for group, value in rows if group == each] for each in range(5)]
    found = quantile(in_order(groups, values), np.array(list(map(len, members))), level).to_list()
    expected = [float(np.quantile(each, level)) if each else None for each in members]
    assert [value is None for value in found] == [value is None for value in expected]
    assert all(abs(a - b) < 1e-9 for a, b in zip(found, expected, strict=True) if a is not None)
