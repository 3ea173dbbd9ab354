"""Hardware counters on a GPU: what ncu really prints is read, and its figures are what is known of the kernels."""

from __future__ import annotations

import csv
from collections.abc import Callable

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate.tools import counters, locate
from ptxbench.evaluate.tools.counters_report import metric_table, read_counters
from ptxbench.evaluate.tools.under import Start, scratch_folder
from ptxbench.schema import Limits

pytestmark = pytest.mark.gpu

LIMITS = Limits(prove_s=60)
HEADLINE = "gemm_n7168_k5120"
COUNTED_IN_VAIN = {
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active",
}
"""Second choices: an ncu that knows the first ones need not know these."""


@pytest.fixture(scope="module", autouse=True)
def installed(settings: Settings) -> None:
    locate.ncu(settings)


def test_a_gemm_on_the_tensor_cores_is_seen_to_use_them(judge):
    found = judge("gemm_bf16", HEADLINE, counters=True)
    assert found.outcome == "correct", found.correct.reasons
    counted = found.counters
    assert counted is not None and counted.why is None, counted
    assert set(counted.left_out) <= COUNTED_IN_VAIN
    gemm = counted.kernels[0]
    assert gemm.launches == 1 and gemm.duration_us is not None and found.latency is not None
    # Slowed by an empty cache and another clock, but the same kernel.
    assert 0.5 * found.latency.candidate_us < gemm.duration_us < 3 * found.latency.candidate_us
    assert gemm.tensor_percent is not None and 40 < gemm.tensor_percent <= 100.5
    assert gemm.sm_percent is not None and 40 < gemm.sm_percent <= 100.5
    assert gemm.dram_percent is not None and 1 < gemm.dram_percent < 80
    assert gemm.occupancy_percent is not None and 5 < gemm.occupancy_percent < 40, "one block of three warpgroups an SM"
    assert gemm.shared_conflicts is not None and gemm.shared_accesses is not None
    assert gemm.stalls and sum(stall.share for stall in gemm.stalls) < 1
    assert [stall.share for stall in gemm.stalls] == sorted((stall.share for stall in gemm.stalls), reverse=True)
    assert {"counters_unknown"}.isdisjoint(flag.code for flag in found.flags)
    assert found.seconds["counters"] is not None and found.seconds["counters"] < 60


def test_a_plain_gemm_leaves_the_tensor_cores_idle(judge):
    counted = judge("plain/gemm/gemm.cu", counters=True).counters
    assert counted is not None and counted.why is None, counted
    busy = counted.kernels[0].tensor_percent
    assert busy is not None and busy < 0.5, "ptxas moves a constant by HFMA2.MMA now and then"


def test_a_gemm_by_mma_sync_uses_them_less(judge):
    counted = judge("plain", counters=True).counters
    assert counted is not None and counted.why is None, counted
    busy = counted.kernels[0].tensor_percent
    assert busy is not None and 5 < busy < 40


def test_nothing_is_counted_unless_it_is_asked_for_or_where_the_kernel_is_wrong(judge):
    assert judge("plain").counters is None
    wrong = judge("wrong_swizzle", counters=True)
    assert wrong.outcome == "wrong_value" and wrong.counters is None


def test_the_raw_page_is_of_the_form_that_is_read(starting: Callable[[str], Start], settings: Settings):
    """Names, units, a line a launch; base units; mangled names; every metric of the table in a column of its own."""
    program = locate.ncu(settings)
    with scratch_folder() as folder:
        run = counters.profile(program, starting("thrice"), metric_table().names, folder, 60.0)
        assert run.why is None and run.unknown <= COUNTED_IN_VAIN, run
        rows = list(csv.reader(counters.raw_page(program, run.report, folder).splitlines()))
    first = next(number for number, row in enumerate(rows) if row[:1] == ["ID"])
    names, units, *launches = rows[first:]
    assert names.count("Kernel Name") == 1 and len(launches) == 3
    assert all(len(row) == len(names) for row in (units, *launches))
    assert set(metric_table().names) - set(names) <= COUNTED_IN_VAIN
    assert units[names.index("gpu__time_duration.sum")] in ("ns", "nsecond")
    assert {row[names.index("Kernel Name")] for row in launches} == {"_ZN6faults5scaleEPKfPfi"}


def test_a_metric_that_ncu_does_not_know_is_named_and_costs_no_other(starting: Callable[[str], Start], settings: Settings):
    """Refused by ncu or counted as n/a: either way the others are there."""
    program = locate.ncu(settings)
    known, strange = "gpu__time_duration.sum", "sm__no_such_thing.sum"
    with scratch_folder() as folder:
        run = counters.profile(program, starting("clean"), (known, strange), folder, 60.0)
        if run.why is not None:
            assert run.unknown == {strange}, run
            run = counters.profile(program, starting("clean"), (known,), folder, 60.0)
        found = read_counters(counters.raw_page(program, run.report, folder), (), (known, strange))
    assert found.left_out == (strange,) and found.kernels[0].duration_us


def test_a_call_that_launches_nothing_or_fails_has_no_counters_and_raises_nothing(
    starting: Callable[[str], Start], settings: Settings
):
    for entry, why in (("nothing", "the call launched no kernel"), ("null_write", "the candidate failed under it")):
        found = counters.count(starting(entry), (), LIMITS, settings)
        assert found.kernels == () and found.why is not None and found.why.startswith(why), found
