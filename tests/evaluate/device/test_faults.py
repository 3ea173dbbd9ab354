"""A fault of the machine is believed where the device shows it, and a candidate's failure where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from ptxbench.core.errors import JudgeError
from ptxbench.evaluate.device.driver import ContextLost
from ptxbench.evaluate.device.faults import CLAIMED_FAULT, MachineFaults
from ptxbench.schema import RunFailure

MEMORY, NVLINK, CONTAINED, ILLEGAL_ADDRESS = 214, 220, 226, 700


def named(code: int) -> RunFailure:
    return RunFailure(kind="cuda_error", text=f"CUDA error {code} (CUDA_ERROR_SOME): it failed")


def faults(*counts: int | None, lost: bool = False) -> MachineFaults:
    """Return faults of a device that counts these memory errors, one after the other."""
    counted: Iterator[int | None] = chain(counts, repeat(counts[-1]))

    def require_context() -> None:
        if lost:
            raise ContextLost("the judge's context is lost")

    return MachineFaults(lambda: next(counted), require_context)


def test_a_memory_error_that_the_device_counted_is_the_machines() -> None:
    with pytest.raises(JudgeError, match="CUDA error 214"):
        faults(3, 4).blame(named(MEMORY))


def test_a_count_that_comes_late_counts() -> None:
    with pytest.raises(JudgeError, match="the device failed"):
        faults(3, 3, 3, 4).blame(named(MEMORY))


def test_a_contained_error_need_show_nowhere_else() -> None:
    with pytest.raises(JudgeError, match="CUDA error 226"):
        faults(3, 3).blame(named(CONTAINED))


@pytest.mark.parametrize("counts", [(None, None), (0, None), (None, 0)])
def test_a_device_that_does_not_count_is_believed_to_have_failed(counts: tuple[int | None, int | None]) -> None:
    with pytest.raises(JudgeError, match="the device failed"):
        faults(*counts).blame(named(MEMORY))


@pytest.mark.parametrize("code", [MEMORY, NVLINK, 46, 802, 803])
def test_a_fault_of_which_the_device_shows_nothing_stays_the_candidates(code: int) -> None:
    flag = faults(3, 3).blame(named(code))
    assert flag is not None and flag.code == CLAIMED_FAULT


@pytest.mark.parametrize("code", [MEMORY, NVLINK])
def test_a_device_that_the_judge_has_lost_is_the_machines(code: int) -> None:
    with pytest.raises(ContextLost):
        faults(3, 3, lost=True).blame(named(code))


def test_a_kernels_own_fault_is_nobody_elses() -> None:
    assert faults(3, 9, lost=True).blame(named(ILLEGAL_ADDRESS)) is None
