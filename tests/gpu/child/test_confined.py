"""What a candidate on a GPU cannot do, and what it can do to nobody but itself."""

from __future__ import annotations

import numpy as np
import pytest

from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.tools.core_dump import core_dump
from ptxbench.schema import Limits, RunFailure

pytestmark = pytest.mark.gpu

SECONDS = 20.0


def test_inputs_are_read_only(vectors, program, loaded):
    with vectors.child(program("writes_input")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and failure.kind == "cuda_error"
    assert np.array_equal(
        vectors.memory[0].read(vectors.arguments[0][0]["offset"], vectors.output.size, np.float32), vectors.inputs[0]
    )


def test_rights_that_a_candidate_gives_itself_change_only_what_the_judge_compares(vectors, program, loaded):
    with vectors.child(program("widens")) as child:
        answer = loaded(child).call([0], SECONDS)
        seen = vectors.memory[0].read(vectors.arguments[0][0]["offset"], vectors.output.size, np.float32)
        assert np.array_equal(seen, vectors.inputs[0]) is isinstance(answer, RunFailure)


def test_a_candidate_finds_every_door_closed_in_all_its_threads(vectors, program, loaded):
    with vectors.child(program("pries")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure)
        if child.protections["root"] and child.protections["landlock"] >= 6 and child.protections["seccomp"]:
            assert failure.text == "Report"


def test_where_the_driver_may_dump_the_candidates_own_threads_find_the_same_doors_closed(vectors, program, loaded):
    """The threads that the driver made before have no filter: one of them starts the helper that writes the dump."""
    with core_dump() as dump, Child(program("pries"), None, Limits(), device=vectors.setup(), tool=dump.tool) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure)
        if child.protections["root"] and child.protections["landlock"] >= 6 and child.protections["seccomp"]:
            found = set(failure.text.removeprefix("Report").strip(":; ").split("; ")) - {""}
            assert found <= {"a thread lacks Seccomp:\t2"}
