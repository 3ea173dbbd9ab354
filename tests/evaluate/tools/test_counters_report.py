"""The raw page of an ncu report becomes counters per kernel; what is no such page becomes none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxbench.evaluate.tools.counters_report import MOST_LAUNCHES, MOST_STALLS, metric_table, read_counters
from ptxbench.evaluate.tools.ncu_report import UnreadableReport
from ptxbench.schema import KernelBuild

PAGE = (Path(__file__).parent / "written" / "raw_page.csv").read_text()
GEMM = "_Z4gemmPK13__nv_bfloat16S1_PS_iii"
KERNELS = [
    KernelBuild(name="gemm(…)", mangled=GEMM, registers=168, spill_bytes=0, stack_bytes=0, shared_bytes=0, opcodes={"HGMMA": 1})
]
TENSOR = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"


def changed(*pairs: tuple[str, str]) -> str:
    text = PAGE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_figures_are_those_of_the_page_and_the_longest_kernel_stands_first():
    found = read_counters(PAGE, KERNELS)
    gemm, fill = found.kernels
    assert (gemm.kernel, gemm.launches, gemm.duration_us) == ("gemm(…)", 1, 1234.56)
    assert (gemm.sm_percent, gemm.dram_percent, gemm.tensor_percent, gemm.occupancy_percent) == (61.2, 12.5, 58.75, 18.7)
    assert (gemm.shared_conflicts, gemm.shared_accesses) == (12288, 65536)
    assert (fill.kernel, found.why) == ("_Z4fillPfi", None)


def test_stalls_are_shares_of_all_states_and_issuing_is_none():
    gemm, fill = read_counters(PAGE, KERNELS).kernels
    assert [(stall.reason, stall.share) for stall in gemm.stalls] == [
        ("gmma", 0.375),
        ("barrier", 0.1875),
        ("long_scoreboard", 0.125),
        ("wait", 0.0625),
    ]
    assert [(stall.reason, stall.share) for stall in fill.stalls] == [("long_scoreboard", 0.7), ("not_selected", 0.2)]
    every = changed(*((f'"{value}"', '"0.9"') for value in ("1.500000", "0.750000", "0.250000", "0.500000")), ('"0"', '"0.8"'))
    assert len(read_counters(every, KERNELS).kernels[0].stalls) == MOST_STALLS


def test_launches_of_one_kernel_add_up_and_percentages_are_means_over_its_time():
    fill = read_counters(PAGE, KERNELS).kernels[1]
    assert (fill.launches, fill.duration_us) == (2, 40.96)
    assert fill.sm_percent == pytest.approx((5.0 * 10240 + 9.0 * 30720) / 40960)
    assert fill.occupancy_percent == pytest.approx(90.0)


def test_a_metric_that_was_not_counted_is_left_out_and_another_takes_its_place():
    assert read_counters(PAGE, KERNELS).left_out == ("sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active",)
    found = read_counters(changed((f'"{TENSOR}"', '"sm__of_another_ncu.sum"')), KERNELS)
    assert TENSOR in found.left_out and found.kernels[0].tensor_percent == 14.1
    without = changed(('"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"', '"x"'), (f'"{STALLED.format("selected")}"', '"y"'))
    gemm = read_counters(without, KERNELS).kernels[0]
    assert (gemm.shared_accesses, gemm.stalls) == (None, ()), "shares need the whole"


@pytest.mark.parametrize("value", ["n/a", "", "nan", "inf", "-1", "1e30", "lots"])
def test_what_is_no_count_is_not_known(value):
    gemm = read_counters(changed(('"61.20"', f'"{value}"')), KERNELS).kernels[0]
    assert gemm.sm_percent is None and gemm.dram_percent == 12.5


def test_a_duration_that_is_not_known_leaves_plain_means():
    page = changed(('"gpu__time_duration.sum"', '"other"'))
    fill = next(one for one in read_counters(page, KERNELS).kernels if one.kernel == "_Z4fillPfi")
    assert fill.duration_us is None and fill.sm_percent == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no line of names"),
        ("==ERROR== no report\n", "no line of names"),
        (PAGE.split('"0","1026"')[0], "launched no kernel"),
        (PAGE + '"3","1026"\n', "different lengths"),
        (PAGE.replace(GEMM, ""), "without a name"),
        (PAGE.replace(GEMM, "x\x00y"), "no CSV|without a name"),
        (PAGE.replace('"ns"', '"usecond"'), "not in base units"),
        (PAGE + '"3","unclosed\n', "no CSV|different lengths"),
        (PAGE.replace("__", "_"), "counted nothing"),
        (PAGE + (PAGE.splitlines()[-1] + "\n") * MOST_LAUNCHES, "more than"),
    ],
)
def test_what_is_no_raw_page_is_told(text, why):
    with pytest.raises(UnreadableReport, match=why):
        read_counters(text, KERNELS)


def test_the_table_names_every_metric_once():
    table = metric_table()
    assert len(set(table.names)) == len(table.names) == sum(map(len, table.figures.values())) + len(table.stalls)
    assert table.issuing in table.stalls and STALLED.format("gmma") in table.names
