"""How a process on a GPU ends: by a fault, by force, by itself and with its judge. The GPU stays usable and its memory is free."""

from __future__ import annotations

import os
import select
import signal
from pathlib import Path

import numpy as np
import pytest

from ptxbench.evaluate.sandbox.child import Answer
from ptxbench.schema import RunFailure

pytestmark = pytest.mark.gpu

SECONDS = 20.0


def test_a_fault_is_named_and_the_gpu_goes_on(vectors, program, loaded):
    with vectors.child(program("faults")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and failure.kind == "cuda_error"
        assert failure.text.startswith("CUDA error 700 (CUDA_ERROR_ILLEGAL_ADDRESS): ")
        assert child.call([0], SECONDS) is failure
    with vectors.child(program("add")) as child:
        assert isinstance(loaded(child).call([0], SECONDS), Answer)
        assert np.array_equal(vectors.result(), vectors.inputs[0] + 1)


def test_a_hang_costs_its_process_and_gives_the_memory_back(gpu, vectors, program, loaded):
    free = gpu.free_bytes()
    with vectors.child(program("hangs")) as child:
        failure = loaded(child).call([0], 1.0)
        assert isinstance(failure, RunFailure) and failure.kind == "timeout"
        assert gpu.free_bytes() < free
    assert not Path(f"/proc/{child.pid}").exists()
    assert gpu.free_bytes() == free
    with vectors.child(program("add")) as child:
        assert isinstance(loaded(child).call([1], SECONDS), Answer)
        assert np.array_equal(vectors.result(1), vectors.inputs[0] + 1)


def test_a_child_that_is_let_go_ends_by_itself(vectors, program, loaded):
    with vectors.child(program("add")) as child:
        loaded(child).call([0], SECONDS)
        assert child.finish(SECONDS) == 0
    assert not Path(f"/proc/{child.pid}").exists()


def test_a_child_ends_with_its_judge_even_in_a_kernel_that_never_ends(gpu, vectors, program, tmp_path, loaded):
    free = gpu.free_bytes()
    judge = os.fork()
    if judge == 0:  # a judge of its own: it inherits what is lent, and never touches the GPU
        with vectors.child(program("hangs")) as child:
            loaded(child)
            (tmp_path / "started").write_text(str(child.pid))
            (tmp_path / "started").rename(tmp_path / "pid")
            child.call([0], 600.0)
        os._exit(0)
    try:
        while not (tmp_path / "pid").exists() or gpu.free_bytes() == free:
            os.sched_yield()
        waited = os.pidfd_open(int((tmp_path / "pid").read_text()))
    finally:
        os.kill(judge, signal.SIGKILL)
        os.waitpid(judge, 0)
    poll = select.poll()
    poll.register(waited, select.POLLIN)
    assert poll.poll(20_000), "the child outlived its judge"
    os.close(waited)
