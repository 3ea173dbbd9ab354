"""Proof by mutation on a GPU: outputs of a kernel whose matrix instructions give zero."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.gpu

STAGES = ("compare", "prove")


def test_the_reference_gemm_is_wrong_without_its_matrix_instructions(judge):
    found = judge("gemm_bf16", stages=STAGES, prove_by_mutation=True)
    assert found.outcome == "correct", found.correct.reasons
    assert found.proof is not None and found.proof.status == "qualified" and found.proof.mutation == "wrong"
    assert not {flag.code for flag in found.flags} & {"mma_not_needed", "mutation_unknown"}


def test_a_decoy_stays_right_without_its_matrix_instructions_and_is_flagged(judge):
    found = judge("decoy_wgmma", stages=STAGES, prove_by_mutation=True)
    assert found.outcome == "correct", found.correct.reasons
    assert found.proof is not None and found.proof.status == "qualified" and found.proof.mutation == "right"
    assert "mma_not_needed" in {flag.code for flag in found.flags}


def test_a_kernel_without_matrix_instructions_of_the_target_has_nothing_to_mutate(judge):
    found = judge("plain", stages=STAGES, prove_by_mutation=True)
    assert found.outcome == "correct" and found.proof is not None and found.proof.mutation is None
    assert not {flag.code for flag in found.flags} & {"mma_not_needed", "mutation_unknown"}


def test_the_check_leaves_the_verdict_as_it_was_and_is_off_by_default(judge):
    with_it, without = (judge("gemm_bf16", stages=STAGES, prove_by_mutation=asked) for asked in (True, False))
    assert with_it.outcome == without.outcome == "correct" and without.proof is not None and without.proof.mutation is None
