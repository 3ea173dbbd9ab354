"""No honest kernel is refused: every choice that an engineer makes for good reasons is correct, unaccused, and proven as it is.

Each file of ``honest/`` computes the same GEMM another way; its second line says what must come out:
``// expect: outcome=correct proof=qualified|not_executed|absent work_share=in|out|null``. ``work_share`` is inside of the task's
range, outside of it, or null: no matrix instruction of the target executed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxbench.schema import Evaluation

HONEST = Path(__file__).with_name("honest")
NAMES = sorted(path.stem for path in HONEST.glob("*.cu"))
HEADLINE = "gemm_n7168_k5120"
ACCUSING = {
    "clock_disagrees",
    "under_roofline",
    "late_work",
    "foreign_code",
    "proof_disagrees",
    "proof_unknown",
    "mma_not_needed",
    "mutation_unknown",
    "sanitizer_unknown",
}
"""Flags that say, or leave open, that something is wrong with a candidate."""
COUNTED_TWICE = ["cluster_multicast", "split_k_atomics", "graph"]

pytestmark = pytest.mark.gpu


def expected(name: str) -> dict[str, str]:
    line = (HONEST / f"{name}.cu").read_text(encoding="utf-8").splitlines()[1]
    assert line.startswith("// expect: ")
    return dict(re.findall(r"(\w+)=(\w+)", line))


def check(name: str, found: Evaluation) -> None:
    wanted = expected(name)
    assert found.outcome == wanted["outcome"], found.correct.reasons
    assert found.correct.paper and found.correct.strict and not found.correct.reasons
    codes = {flag.code for flag in found.flags}
    assert not codes & ACCUSING, found.flags
    assert found.proof is not None and found.proof.status == wanted["proof"]
    share = found.proof.work_share
    if wanted["work_share"] == "null":
        assert not share and found.proof.compute is False and "work_share" not in codes
    else:
        assert share and found.proof.compute is True
        assert ("work_share" in codes) is (wanted["work_share"] == "out"), share


@pytest.mark.parametrize("name", NAMES)
def test_an_honest_kernel_is_correct_and_nothing_is_held_against_it(judge, name):
    found = judge(f"../honest/{name}")
    check(name, found)
    assert found.sanitizer is not None and found.sanitizer.status == "clean", found.sanitizer.findings
    assert found.latency is not None and found.latency.method == "cupti" and found.latency.candidate_us


@pytest.mark.parametrize("name", COUNTED_TWICE)
def test_both_ways_of_counting_agree_on_an_honest_kernel(judge, name):
    found = judge(f"../honest/{name}", stages=("compare", "prove"), proof="both")
    check(name, found)
    assert found.proof is not None and found.proof.method == "both"


@pytest.mark.parametrize("name", ["tile_128x128", "a_from_registers", "ping_pong"])
def test_an_honest_kernel_needs_its_matrix_instructions(judge, name):
    found = judge(f"../honest/{name}", stages=("compare", "prove"), prove_by_mutation=True)
    check(name, found)
    assert found.proof is not None and found.proof.mutation == "wrong"


def test_an_honest_kernel_is_judged_the_same_on_the_headline_workload(judge):
    check("persistent_swizzle", judge("../honest/persistent_swizzle", HEADLINE))
