"""Timed calls on a GPU: what is in a span, what is late, and what is told where CUPTI is missing."""

from __future__ import annotations

import numpy as np
import pytest

from ptxbench.evaluate.sandbox.claims import Counts, Timings
from ptxbench.evaluate.sandbox.launch import Program
from ptxbench.schema import Language

pytestmark = pytest.mark.gpu

SECONDS = 20.0


def test_times_by_activity_whatever_stream_the_work_is_on(vectors, program, loaded):
    with vectors.child(program("spreads")) as child:
        found = loaded(child).time([0, 1], 3, 20, "cupti", SECONDS)
        assert isinstance(found, Timings) and found.why is None, found
        assert found.method == "cupti" and len(found.ns) == 20 and min(found.ns) > 0
        assert sum(found.launches.values()) == 2 and all("add_one" in name for name in found.launches)
        assert found.late == found.empty == 0
        again = child.time([0], 0, 1, "cupti", SECONDS)
        assert isinstance(again, Timings) and len(again.ns) == 1


def test_outputs_are_poisoned_before_each_timed_call_and_written_by_it(vectors, program, loaded):
    with vectors.child(program("add")) as child:
        assert isinstance(loaded(child).time([0], 0, 2, "cupti", SECONDS), Timings)
        assert np.array_equal(vectors.result(), vectors.inputs[0] + 1)
    with vectors.child(program("idles")) as child:
        assert isinstance(loaded(child).time([1], 0, 2, "cupti", SECONDS), Timings)
        assert np.isnan(vectors.result(1)).all()


def test_events_and_activity_tell_the_same_time_of_a_long_kernel(gemm_bench, gemm, loaded):
    bench = gemm_bench(4096, 4096, 4096)
    with bench.child(Program(Language.CUDA, "run", gemm.library.read_bytes())) as child:
        loaded(child)
        by = {method: child.time([0], 3, 10, method, SECONDS) for method in ("cupti", "events")}
    assert all(isinstance(found, Timings) and found.method == method for method, found in by.items()), by
    medians = {method: float(np.median(found.ns)) for method, found in by.items()}
    assert medians["events"] == pytest.approx(medians["cupti"], rel=0.2)


def test_calls_that_do_nothing_are_counted_as_empty(vectors, program, loaded):
    with vectors.child(program("idles")) as child:
        found = loaded(child).time([0], 1, 5, "cupti", SECONDS)
        assert isinstance(found, Timings)
        assert found.ns == (0,) * 5 and found.empty == 5 and found.launches == {} and found.late == 0


def test_work_outside_of_every_call_is_late(vectors, program, loaded):
    with vectors.child(program("lingers")) as child:
        found = loaded(child).time([0], 1, 20, "cupti", SECONDS)
        assert isinstance(found, Timings) and found.late > 0


def test_without_cupti_there_is_a_reason_and_events_still_work(vectors, program, loaded):
    with vectors.child(program("add"), cupti=None) as child:
        found = loaded(child).time([0], 0, 2, "cupti", SECONDS)
        assert isinstance(found, Timings) and found.method is None and "not installed" in (found.why or "")
        assert isinstance(child.time([0], 0, 2, "events", SECONDS), Timings)
        counted = child.prove(0, SECONDS)
        assert isinstance(counted, Counts) and counted.why and not counted.functions and not counted.permission
