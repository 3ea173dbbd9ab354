"""Activities of the device go to the calls that caused them, by the device's own clock."""

from __future__ import annotations

import pytest

from ptxbench.evaluate.sandbox.inside.activity import COPY, FILL, KERNEL, Activity, Unavailable
from ptxbench.evaluate.sandbox.inside.calls import MARKS, attribute

OURS, THEIRS, OTHER = 13, 7, 22
POISON = 0xFF


class Timeline:
    """Lays out activities one behind the other, a nanosecond apart."""

    def __init__(self) -> None:
        self.now = 1000
        self.done: list[Activity] = []
        self.calls = 0

    def add(self, ns: int, kind: str, stream: int, name: str = "", value: int = 0) -> Timeline:
        self.done.append(Activity(self.now, self.now + ns, kind, name, stream, value))
        self.now += ns + 1
        return self

    def prepare(self, pieces: int = 1) -> Timeline:
        self.add(30, FILL, OURS, value=POISON)
        for _ in range(pieces):
            self.add(40, FILL, OURS, value=self.calls % MARKS)
        self.calls += 1
        return self

    def kernel(self, ns: int, name: str = "gemm", stream: int = THEIRS) -> Timeline:
        return self.add(ns, KERNEL, stream, name)

    def attribute(self, calls: int | None = None):
        return attribute(sorted(self.done), OURS, self.calls if calls is None else calls)


def test_a_call_spans_from_its_first_start_to_its_last_end_on_every_stream():
    found = Timeline().prepare().kernel(100).add(10, COPY, OTHER).add(5, FILL, THEIRS, value=0).prepare().kernel(70).attribute()
    assert found.spans_ns == [100 + 1 + 10 + 1 + 5, 70]
    assert found.launches == {"gemm": 1} and found.late == 0


def test_only_the_last_calls_launches_are_counted():
    found = Timeline().prepare().kernel(5, "warm").prepare().kernel(5, "a").kernel(5, "b").kernel(5, "a").attribute()
    assert found.launches == {"a": 2, "b": 1}


def test_a_call_that_does_nothing_has_no_span():
    assert Timeline().prepare().prepare().kernel(9).prepare().attribute().spans_ns == [0, 9, 0]


def test_work_before_the_first_call_or_during_our_fills_is_late():
    line = Timeline().kernel(5).prepare().kernel(10).prepare()
    poison, mark = line.done[-2], line.done[-1]
    line.done.append(Activity(poison.start + 1, mark.end, KERNEL, "late", OTHER))
    found = line.kernel(20).attribute()
    assert found.late == 2 and found.spans_ns == [10, 20]


def test_fills_that_the_driver_does_in_pieces_are_one():
    found = Timeline().prepare(pieces=3).kernel(10).prepare(pieces=2).kernel(20).attribute()
    assert found.spans_ns == [10, 20] and found.late == 0


def test_kernels_on_our_stream_are_the_candidates():
    assert Timeline().prepare().kernel(10, stream=OURS).prepare().kernel(3).attribute().spans_ns == [10, 3]


def test_more_calls_than_marks_are_told_apart():
    line = Timeline()
    for number in range(2 * MARKS + 3):
        line.prepare().kernel(10 + number)
    assert line.attribute().spans_ns == [10 + number for number in range(2 * MARKS + 3)]


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_lost_records_of_our_fills_are_no_measurement(kept):
    line = Timeline().prepare().kernel(10).prepare().kernel(10).prepare().kernel(10)
    marks = [one for one in line.done if one.kind == FILL and one.value != POISON]
    line.done = [one for one in line.done if one not in marks[kept:]]
    with pytest.raises(Unavailable, match=f"records of {kept} of 3 calls"):
        line.attribute()


def test_fills_of_the_candidate_with_a_mark_of_ours_change_nothing():
    found = Timeline().prepare().add(5, FILL, THEIRS, value=1).kernel(10).prepare().kernel(20).attribute()
    assert found.spans_ns == [16, 20] and found.late == 0
