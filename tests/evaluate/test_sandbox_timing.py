"""In which order timed calls do what is around them: on a stand-in for the driver that writes down what it is asked."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from ptxbench.evaluate.sandbox.inside.timing import NAMES_BYTES, Timing, most_launched
from ptxbench.evaluate.sandbox.process import MESSAGE_BYTES


class Writer:
    """Takes the place of ``Driver`` and notes every request."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._events = 0

    def make_event(self) -> str:
        self._events += 1
        return f"event {self._events}"

    def record(self, event: str) -> None:
        self.asked.append(event)

    def synchronise(self) -> None:
        self.asked.append("wait")

    def forget_persisting_lines(self) -> None:
        self.asked.append("forget")

    def elapsed_ns(self, start: str, end: str) -> int:
        return 7


@pytest.fixture
def driver() -> Writer:
    return Writer()


def test_events_enclose_the_work_of_every_stream_and_nothing_of_ours(driver):
    found = Timing(driver, 0).by_events(  # type: ignore[arg-type]
        [0, 1], 1, lambda slot, _stream: driver.asked.append(f"poison {slot}"), lambda slot: driver.asked.append(f"call {slot}")
    )
    each = ["poison {}", "forget", "wait", "event 1", "call {}", "wait", "event 2", "wait"]
    assert driver.asked == [step.format(slot) for slot in (0, 1) for step in each]
    assert found["ns"] == [7] and found["method"] == "events"


def test_names_of_many_kernels_fit_the_answer_and_the_most_launched_stay():
    few = Counter({"_Z4gemmPf": 3, "_Z4copyPf": 1})
    assert most_launched(few) == few
    many = Counter({f"_Z{number}" + "\u00e4" * 4000: 1 for number in range(100)}) + few
    kept = most_launched(many)
    assert kept["_Z4gemmPf"] == 3 and 0 < len(json.dumps(kept)) <= NAMES_BYTES < MESSAGE_BYTES
