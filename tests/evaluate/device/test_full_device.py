"""A device that is full, or lost: whose fault that is, and what is left of it; tried without one."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace

import pytest

from ptxbench.core.errors import DeviceMemoryFull, JudgeError
from ptxbench.schema import Profile
from ptxbench.suite import load

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from ptxbench.evaluate.device import bench, driver, held, lent  # noqa: E402
from ptxbench.evaluate.device.layout import lay_out  # noqa: E402
from ptxbench.evaluate.judge.held import ReferenceFailed  # noqa: E402
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


def test_a_lost_context_ends_the_judge_and_nothing_is_blamed(cuda, monkeypatch):
    driver.require_context()
    cuda.code = 700
    with pytest.raises(driver.ContextLost, match="700"):
        driver.require_context()

    judge = object.__new__(bench.GpuBench)
    judge.holdings = SimpleNamespace(get=_fail, trim=lambda: None, clear=lambda: None)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 0)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 0)
    request = SimpleNamespace(task=None, options=SimpleNamespace(seed=0, profile=Profile.PAPER))
    with pytest.raises(driver.ContextLost):
        judge._evaluate(request, lambda stage, seconds: None)
    cuda.code = 0
    found = judge._evaluate(request, lambda stage, seconds: None)
    assert found.reference_failure == "it failed"


def _fail(task, seed, profile):
    raise ReferenceFailed("it failed")


def test_a_workload_that_found_no_room_is_let_go_before_the_second_attempt(cuda, monkeypatch):
    class Workload:
        pass

    seen = []

    def evaluate(self, request, announce):
        seen.append(weakref.ref(workload := Workload()))
        if len(seen) == 1:
            raise DeviceMemoryFull("full")
        return seen[0](), workload

    monkeypatch.setattr(bench.GpuBench, "_evaluate", evaluate)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 0)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 0)
    judge = object.__new__(bench.GpuBench)
    judge.holdings = SimpleNamespace(trim=lambda: None, clear=lambda: None)
    first, second = judge.evaluate(None, lambda stage, seconds: None)
    assert first is None and second is not None and len(seen) == 2


def test_lent_memory_is_given_back_when_torch_finds_no_room_beside_it(monkeypatch):
    closed = []

    class Allocation:
        address, descriptor = 0, -1

        def __init__(self, size, ordinal):
            self.size_bytes = size

        def close(self):
            closed.append(self.size_bytes)

    def full(*arguments, **options):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(lent, "Allocation", Allocation)
    monkeypatch.setattr(torch, "as_tensor", full)
    task = load().task("cpu_gemm_n256_k256")
    layout = lay_out(task, {}, 1)
    with pytest.raises(torch.OutOfMemoryError):
        lent.LentMemory(layout, 0)
    gc.collect()
    assert sorted(closed) == sorted(layout.sizes)
