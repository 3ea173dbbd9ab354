"""The judge on a GPU: verdicts of kernels that are right, wrong, slow, stuck and out of bounds, and what it says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxbench.schema import Evaluation

KERNELS = Path(__file__).with_name("kernels")
HEADLINE = "gemm_n7168_k5120"
"""The published workload: M = 8192. The other tests take a smaller one."""

pytestmark = pytest.mark.gpu


def line_of(name: str) -> int:
    lines = (KERNELS / f"{name}.cu").read_text(encoding="utf-8").splitlines()
    return 1 + next(number for number, line in enumerate(lines) if "// FAULT" in line)


def flags(evaluation: Evaluation) -> set[str]:
    return {flag.code for flag in evaluation.flags}


def test_the_reference_gemm_is_correct_qualified_and_does_its_work_on_the_tensor_cores(judge):
    found = judge("gemm_bf16", HEADLINE)
    assert found.outcome == "correct", found.correct.reasons
    assert found.correct.paper and found.correct.strict
    assert found.sanitizer is not None and found.sanitizer.status == "clean"
    assert found.proof is not None and found.proof.status == "qualified" and found.proof.method == "cupti"
    assert 0.99 <= (found.proof.work_share or 0.0) <= 1.05
    assert found.latency is not None and found.latency.method == "cupti" and len(found.latency.samples_us) == 150
    assert found.latency.reference.library == "cuBLAS" and found.latency.reference.version
    assert found.latency.clocks is not None and 500 < (found.latency.clocks.sm_mhz_timed or 0) < 2500
    # Three trials of five requests, each with up to four input sets, and inputs drawn for this candidate alone.
    assert found.correctness is not None and 15 < found.correctness.timed_outputs_checked <= 3 * 5 * 4 + 4
    assert "clock_disagrees" not in flags(found) and "late_work" not in flags(found)


def test_a_plain_gemm_is_correct_and_executes_no_target_instruction(judge):
    found = judge("plain")
    assert found.outcome == "correct", found.correct.reasons
    assert found.proof is not None and found.proof.status in ("absent", "not_executed")
    assert found.proof.compute is False and found.proof.data_movement is False


def test_a_wrong_swizzle_is_a_wrong_value(judge):
    found = judge("wrong_swizzle")
    assert found.outcome == "wrong_value" and found.blame == "candidate"
    assert found.correctness is not None and found.correctness.outputs[0].pattern is not None
    assert found.latency is None


def test_a_kernel_that_waits_for_a_barrier_forever_times_out_and_is_looked_into(judge):
    found = judge("barrier_hang", run_s=2.0)
    assert found.outcome == "timeout"
    assert found.debug is not None and found.debug.kind == "timeout"
    first = found.debug.stuck[0]
    lines = (KERNELS / "barrier_hang.cu").read_text(encoding="utf-8").splitlines()
    waiting = next(number for number, line in enumerate(lines, 1) if "void wait(uint64_t* barrier" in line)
    assert first.file == "barrier_hang.cu" and first.line is not None and waiting < first.line <= waiting + 9
    assert first.threads >= 128 and first.block_dim == (128, 1, 1)


def test_an_illegal_address_is_found_with_kernel_and_line(judge):
    found = judge("illegal_address")
    assert found.outcome == "sanitizer_error"
    assert found.sanitizer is not None
    first = found.sanitizer.findings[0]
    assert first.line == line_of("illegal_address") and first.file == "illegal_address.cu"
    assert "gemm" in (first.kernel or "")
    assert found.debug is not None and str(first.line) in found.debug.text


def test_compare_alone_calls_an_illegal_address_a_runtime_error(judge):
    found = judge("illegal_address", stages=("compare",))
    assert found.outcome == "runtime_error" and found.sanitizer is None
    assert found.debug is not None and "CUDA_ERROR_ILLEGAL_ADDRESS" in found.debug.text


def test_a_host_that_crashes_is_a_runtime_error_with_its_signal(judge):
    found = judge("host_crash", stages=("compare",))
    assert found.outcome == "runtime_error"
    assert found.debug is not None and found.debug.signal == "SIGSEGV"


def test_a_decoy_qualifies_by_the_published_rule_and_its_work_share_shows_it(judge):
    found = judge("decoy_wgmma")
    assert found.outcome == "correct", found.correct.reasons
    assert found.proof is not None and found.proof.status == "qualified"
    assert (found.proof.work_share or 0.0) < 0.01
    assert "work_share" in flags(found)


def test_counts_of_cupti_and_ncu_agree(judge):
    found = judge("gemm_bf16", stages=("compare", "prove"), proof="both")
    assert found.proof is not None and found.proof.method == "both" and found.proof.status == "qualified"
    assert "proof_disagrees" not in flags(found)


def test_the_judge_is_as_good_as_new_after_faults(judge):
    for name in ("illegal_address", "host_crash", "barrier_hang"):
        judge(name, stages=("compare",), run_s=2.0)
    assert judge("gemm_bf16", stages=("compare",)).outcome == "correct"


def test_paper_runs_what_it_needs_and_leaves_strict_open(judge):
    found = judge("gemm_bf16", profile="paper", stages=("compare",))
    assert found.outcome == "correct" and found.correct.paper is True and found.correct.strict is None
