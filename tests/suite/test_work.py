"""FLOP and byte counts, against counting by hand and the published figure."""

import itertools

import pytest

from ptxbench.suite import load
from ptxbench.suite.mha_backward import backward_work_share
from ptxbench.suite.mha_forward import attended_pairs, attention_work_share


def headline(name):
    spec = load().get(name)
    return next(one for one in spec.workloads if one.workload.uuid == spec.default_workload)


def test_the_headline_gemm_has_the_published_work():
    one = headline("gemm_n7168_k5120")
    assert one.flops == 601_295_421_440 == 2 * 8192 * 7168 * 5120
    assert one.bytes == 274_726_912 == 2 * (8192 * 5120 + 7168 * 5120 + 8192 * 7168)


def test_attention_counts_two_gemms_forward_and_five_backward():
    square = 4 * 48 * 128 * 4096 * 4096
    assert headline("mha_with_lse_d128").flops == 4 * square
    assert headline("mha_bwd_d128").flops == 10 * square
    triangle = 4 * 48 * 128 * (4096 * 4097 // 2)
    assert headline("mha_with_lse_d128_causal").flops == 4 * triangle
    assert headline("mha_bwd_d128_causal").flops == 10 * triangle


@pytest.mark.parametrize("length", [1, 2, 7, 64])
def test_causal_pairs_are_those_where_the_key_is_not_after_the_query(length):
    counted = sum(key <= query for query, key in itertools.product(range(length), repeat=2))
    assert attended_pairs({"S": length}, causal=True) == counted


def test_bytes_are_every_argument_once():
    whole, rows = 4 * 48 * 4096 * 128 * 2, 4 * 48 * 4096 * 4
    assert headline("mha_with_lse_d128").bytes == 4 * whole + rows
    assert headline("mha_bwd_d128").bytes == 8 * whole + rows


def test_every_workload_has_work_and_an_honest_range_around_it():
    suite = load()
    for spec in map(suite.get, suite.names):
        for one in spec.workloads:
            assert one.flops and one.bytes
            if spec.archs == ("cpu",):
                assert one.work_share is None
            else:
                low, high = one.work_share
                assert 0.98 < low < 1.0 < high
        assert spec.work_share == next(one.work_share for one in spec.workloads if one.workload.uuid == spec.default_workload)


def test_honest_ways_to_compute_lie_inside_the_range_of_executed_work():
    d128, d96 = {"B": 4, "H": 48, "S": 4096, "D": 128}, {"B": 4, "H": 48, "S": 4096, "D": 96}
    assert headline("gemm_n7168_k5120").work_share == (0.99, 1.05)
    gemm = load().get("gemm_n7168_k5120")
    few_rows = next(one for one in gemm.workloads if one.workload.axes == {"M": 70})
    assert few_rows.work_share[1] > 256 / 70
    assert attention_work_share(d128, causal=False) == (0.99, 1.1)
    assert attention_work_share(d96, causal=False)[1] > 128 / 96
    assert attention_work_share(d128, causal=True)[1] > 4096 / (4097 / 2)
    assert backward_work_share(d128, causal=False)[1] > 8 / 5 > 7 / 5
