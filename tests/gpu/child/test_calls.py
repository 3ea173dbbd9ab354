"""Calls of a candidate on a GPU: what it is lent, what it answers, what is told of its failures, and what is left of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ptxbench.core.errors import DeviceMemoryFull, JudgeError
from ptxbench.evaluate.sandbox.child import Answer
from ptxbench.evaluate.sandbox.launch import LentBuffer
from ptxbench.schema import RunFailure

pytestmark = pytest.mark.gpu

SECONDS = 20.0


def test_reads_what_is_lent_and_writes_where_the_judge_looks(vectors, program, loaded):
    with vectors.child(program("add")) as child:
        loaded(child)
        assert child.first_launch_s is None
        for slot in range(2):
            answer = child.call([slot], SECONDS)
            assert isinstance(answer, Answer) and answer.pending is None and answer.claimed_ns[0] > 0
            assert np.array_equal(vectors.result(slot), vectors.inputs[0] + 1)
        assert child.first_launch_s is not None and child.first_launch_s > 0
        assert child.protections["limits"] and child.protections["no_new_privs"]
        print(json.dumps({"start_s": child.start_s, "first_launch_s": child.first_launch_s, "protections": child.protections}))


def test_a_launch_that_was_refused_is_told_though_the_candidate_did_not_look(vectors, program, loaded):
    with vectors.child(program("refused")) as child:
        answer = loaded(child).call([0], SECONDS)
        assert isinstance(answer, Answer) and "cudaErrorInvalid" in (answer.pending or "")
        assert np.isnan(vectors.result()).all()


def test_clusters_pools_and_plain_allocations_work_in_the_sandbox(vectors, program, loaded):
    with vectors.child(program("clusters")) as child:
        for slot in (0, 1, 0):
            answer = loaded(child).call([slot], SECONDS) if child.first_launch_s is None else child.call([slot], SECONDS)
            assert isinstance(answer, Answer), answer
            assert np.array_equal(vectors.result(slot), vectors.inputs[0] + 1)


def test_exact_copies_leave_the_lent_memory_alone(vectors, program, loaded):
    with vectors.child(program("add"), exact=True, flush_bytes=0) as child:
        assert isinstance(loaded(child).call([0], SECONDS), Answer)
        assert np.isnan(vectors.result()).all()


def test_what_a_candidate_raises_and_how_it_ends_is_told(vectors, program, loaded):
    with vectors.child(program("raises")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and (failure.kind, failure.text) == ("exception", "ValueError: not today")
    with vectors.child(program("exits")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and (failure.kind, failure.exit_code) == ("exit", 7)
    with vectors.child(program("greedy")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and "out of memory" in failure.text
    with vectors.child(program("nowhere")) as child:
        failure = child.load()
        assert isinstance(failure, RunFailure) and failure.kind == "missing_symbol"


def test_what_cannot_be_lent_or_allocated_is_our_failure(vectors, program):
    short = LentBuffer(vectors.memory[0].descriptor, vectors.memory[0].size * 64, False)
    with pytest.raises(JudgeError, match="CUDA error"):
        vectors.child(program("add"), buffers=(short, vectors.setup().buffers[1]))
    with pytest.raises(DeviceMemoryFull, match="CUDA_ERROR_OUT_OF_MEMORY"):
        vectors.child(program("add"), flush_bytes=1 << 43)
    with pytest.raises(JudgeError, match=r"CUDA_ERROR_(NO|INVALID)_DEVICE"):
        vectors.child(program("add"), uuid="GPU-00000000-0000-0000-0000-000000000000")
