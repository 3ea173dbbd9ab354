"""A run under ncu for counters: what its report says, or why there is nothing, and never the candidate's fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate.tools.counters import count
from ptxbench.evaluate.tools.counters_report import metric_table
from ptxbench.schema import Counters, Limits

PAGE = Path(__file__).parent / "written" / "raw_page.csv"
REFUSED = "==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access counters\n"
STRANGE = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"

FAULT = {"ok": False, "kind": "cuda_error", "text": "CUDA error 700 (CUDA_ERROR_ILLEGAL_ADDRESS)"}

NCU = """#!/bin/sh
# Profiles as the stand-in does; prints a "report", which is a raw page, as ncu does with --import.
if [ "$1" = --import ]; then
  {printing}
fi
echo "$2" >> "{folder}/asked"
case "$2" in *"{refused}"*) exec "{folder}/refuses" "$@";; esac
exec "{folder}/profiles" "$@"
"""


@pytest.fixture
def counted(start, stand_in, program, tmp_path) -> Callable[..., Counters]:
    """Count under a stand-in for ncu; ``refused`` is a metric that it does not know."""

    def run(
        refused: str = "nothing of the kind",
        page: Path = PAGE,
        printing: str = 'exec cat "$2"',
        log: str = "",
        prove_s: float = 20.0,
        **plan: object,
    ) -> Counters:
        said = tmp_path / "said"
        said.write_text(log)
        files = {"-o": str(page), "--log-file": str(said)}
        stand_in("profiles", **{"files": files, **plan})
        complaint = tmp_path / "complaint"
        complaint.write_text(f"==PROF== Connected to process 1\n==ERROR== Failed to find metric {refused}\n")
        stand_in("refuses", files={"--log-file": str(complaint)}, status=9)
        ncu = program(tmp_path / "ncu", NCU.format(folder=tmp_path, refused=refused, printing=printing))
        return count(start, (), Limits(prove_s=prove_s), Settings(ncu=ncu))

    return run


def asked(folder: Path) -> list[list[str]]:
    return [line.split(",") for line in (folder / "asked").read_text().splitlines()]


def test_counters_are_those_of_the_report(counted, tmp_path):
    found = counted()
    assert found.why is None and found.kernels[0].tensor_percent == 58.75
    assert asked(tmp_path) == [list(metric_table().names)]


def test_a_metric_that_this_ncu_does_not_know_is_left_out_of_a_second_run_and_named(counted, tmp_path):
    page = tmp_path / "page.csv"
    page.write_text(PAGE.read_text().replace(STRANGE, "launch__something"))
    found = counted(refused=STRANGE, page=page)
    assert found.why is None and STRANGE in found.left_out and found.kernels[0].tensor_percent == 14.1
    first, second = asked(tmp_path)
    assert set(first) - set(second) == {STRANGE}


def test_a_refusal_that_names_no_metric_of_ours_is_not_tried_again(counted, tmp_path):
    found = counted(status=9, log="==ERROR== Failed to find metric other__metric.sum\n")
    assert (found.kernels, found.why) == ((), "it ended with status 9: Failed to find metric other__metric.sum")
    assert len(asked(tmp_path)) == 1


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"log": REFUSED, "status": 1}, "this user may not read performance counters (ERR_NVGPUCTRPERM)"),
        ({"log": "==WARNING== No kernels were profiled.\n"}, "the call launched no kernel"),
        ({"status": 3}, "it ended with status 3: it said nothing"),
        ({"start": False, "status": 1}, "the candidate's process does not start under it"),
        ({"replies": [{}, {"hang": True}], "prove_s": 1.0}, "it took longer than 1 s"),
        ({"replies": [{}, FAULT]}, "the candidate failed under it: CUDA error 700"),
        ({"files": {}}, "it wrote no report"),
        ({"printing": "echo no such file >&2; exit 1"}, "its report cannot be printed: no such file"),
        ({"printing": "head -c 50000000 /dev/zero; exit 0"}, "its raw page is too long"),
        ({"printing": "echo nonsense; exit 0"}, "its raw page has no line of names"),
    ],
)
def test_what_stood_in_the_way_is_told_and_nothing_raises(counted, how, why):
    found = counted(**how)
    assert found.kernels == () and found.why is not None and found.why.startswith(why), found.why


def test_a_missing_tool_is_named_without_its_folder(start, tmp_path):
    found = count(start, (), Limits(), Settings(ncu=tmp_path / "none"))
    assert found.why is not None and "PTXBENCH_NCU" in found.why and str(tmp_path) not in found.why


def test_what_the_candidate_prints_is_no_word_of_the_tool(counted):
    assert counted(replies=[{"returned": REFUSED}, {"returned": REFUSED}]).why is None
