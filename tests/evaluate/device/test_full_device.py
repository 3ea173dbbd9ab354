"""A device that is full, or lost: whose fault that is, and what is left of it; tried without one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ptxbench.core.errors import DeviceMemoryFull, JudgeError
from ptxbench.schema import Profile
from ptxbench.suite import load

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from ptxbench.evaluate.device import driver, held  # noqa: E402
from ptxbench.evaluate.sandbox.inside.driver import CudaError  # noqa: E402


@pytest.fixture
def cuda(monkeypatch):
    """A driver that answers every question with one code."""
    answers = SimpleNamespace(code=0, asked=[])

    class Library:
        def __getattr__(self, name):
            return lambda *arguments: answers.asked.append(name) or answers.code

    monkeypatch.setattr(driver, "_cuda", lambda: Library())
    return answers


def test_a_full_device_is_told_from_a_driver_that_failed(cuda):
    with pytest.raises(DeviceMemoryFull, match="not enough memory"), held.blaming_a_full_device():
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 MiB")
    with pytest.raises(DeviceMemoryFull, match="not enough memory"), held.blaming_a_full_device():
        raise CudaError(2, "CUDA error 2 (CUDA_ERROR_OUT_OF_MEMORY): out of memory")
    with pytest.raises(JudgeError, match="CUDA error 719"), held.blaming_a_full_device():
        raise CudaError(719, "CUDA error 719 (CUDA_ERROR_LAUNCH_FAILED): launch failed")


def test_a_reference_that_finds_no_room_is_not_to_blame(cuda, monkeypatch):
    def full(task, device):
        def call(inputs):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 MiB")

        return call

    monkeypatch.setattr(held, "load_reference_on", full)
    made = held.hold_on_device(load().task("cpu_gemm_n256_k256"), 0, Profile.PAPER, "cpu")
    with pytest.raises(DeviceMemoryFull):
        made.published(0)


def test_a_lost_context_is_no_failure_of_anybody(cuda):
    driver.require_context()
    cuda.code = 700
    with pytest.raises(driver.ContextLost, match="700"):
        driver.require_context()
