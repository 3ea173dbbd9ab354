"""What a CUDA error says of whom: a kernel's own fault, the machine's, or neither."""

from __future__ import annotations

import pytest

from ptxbench.evaluate.cuda_error import (
    KERNEL_FAULTS,
    MACHINE_FAULTS,
    counted_as_memory_error,
    is_contained,
    is_kernel_fault,
    is_machine_fault,
)
from ptxbench.schema import RunFailure


def failure(code: int, kind: str = "cuda_error") -> RunFailure:
    return RunFailure(kind=kind, text=f"CUDA error {code} (CUDA_ERROR_SOME): it failed")


@pytest.mark.parametrize("code", sorted(MACHINE_FAULTS))
def test_what_no_kernel_does_is_no_kernel_fault(code: int) -> None:
    assert is_machine_fault(failure(code)) and not is_kernel_fault(failure(code))
    assert counted_as_memory_error(failure(code)) is (code == 214)
    assert is_contained(failure(code)) is (code == 226)


@pytest.mark.parametrize("code", [*sorted(KERNEL_FAULTS), 2, 1, 7000])
def test_everything_else_stays_the_candidates(code: int) -> None:
    assert not is_machine_fault(failure(code))
    assert is_kernel_fault(failure(code)) is (code in KERNEL_FAULTS)


@pytest.mark.parametrize("said", [failure(214, kind="exception"), RunFailure(kind="cuda_error", text="no number")])
def test_a_candidates_own_words_blame_nobody_else(said: RunFailure) -> None:
    assert not is_machine_fault(said) and not is_kernel_fault(said) and not counted_as_memory_error(said)
