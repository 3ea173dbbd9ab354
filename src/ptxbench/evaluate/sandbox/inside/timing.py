"""Timed calls on a GPU: each after poisoning its outputs and emptying the L2 cache, outside of its span."""

from __future__ import annotations

import gc
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .activity import KERNEL, ActivityTrace
from .driver import Driver

Poison = Callable[[int, int], None]
"""Poison the outputs of a slot, on a stream."""
Launch = Callable[[int], object]
"""Call the candidate on a slot, and do not wait for the device."""
NAMES_BYTES = 32 << 10
"""What the names of launched kernels may take of an answer, which is one packet of 64 KiB at most."""


class Timing:
    """What timed calls share: a stream of our own, and the memory whose writing empties the cache (0 bytes: no timing)."""

    def __init__(self, driver: Driver, flush_bytes: int) -> None:
        self._driver = driver
        self._flush_bytes = flush_bytes
        self._stream = driver.make_stream() if flush_bytes else 0
        self._flushed = driver.allocate(flush_bytes) if flush_bytes else 0

    def by_activity(self, trace: ActivityTrace, order: list[int], warm_up: int, poison: Poison, launch: Launch) -> dict[str, Any]:
        """Time calls by what the device did in each, from its first start to its last end. Raises ``Unavailable``."""
        ours = trace.stream_id(self._driver.context, self._stream)
        begins, ends = [], []
        trace.start()
        with _undisturbed():
            for slot in order:
                self._prepare(slot, poison)
                begins.append(trace.now())
                launch(slot)
                self._driver.synchronise()
                ends.append(trace.now())
        spans: dict[int, tuple[int, int]] = {}
        launches: Counter[str] = Counter()
        late = 0
        for activity in trace.take():
            place = bisect_right(begins, activity.start) - 1
            if place >= 0 and activity.start <= ends[place]:
                first, last = spans.get(place, (activity.start, activity.end))
                spans[place] = min(first, activity.start), max(last, activity.end)
                if place == len(order) - 1 and activity.kind == KERNEL:
                    launches[activity.name] += 1
            elif activity.kind == KERNEL or activity.stream != ours:
                late += 1
        found = [spans.get(place) for place in range(warm_up, len(order))]
        return {
            "ns": [span[1] - span[0] if span else 0 for span in found],
            "method": "cupti",
            "launches": most_launched(launches),
            "late": late,
            "empty": found.count(None),
        }

    def by_events(self, order: list[int], warm_up: int, poison: Poison, launch: Launch) -> dict[str, Any]:
        """Time calls by events on the default stream, all of the context's streams at rest before and after.

        The second event waits for the device, as the function of a reference does by itself: work on a stream that waits for no
        other counts, and both sides pay for one synchronisation.
        """
        start, end = self._driver.make_event(), self._driver.make_event()
        took = []
        with _undisturbed():
            for slot in order:
                self._prepare(slot, poison)
                self._driver.record(start)
                launch(slot)
                self._driver.synchronise()
                self._driver.record(end)
                self._driver.synchronise()
                took.append(self._driver.elapsed_ns(start, end))
        return {"ns": took[warm_up:], "method": "events", "launches": {}, "late": 0, "empty": 0}

    def _prepare(self, slot: int, poison: Poison) -> None:
        poison(slot, self._stream)
        if self._flush_bytes:
            self._driver.fill(self._flushed, slot & 0xFF, self._flush_bytes, self._stream)
        self._driver.forget_persisting_lines()
        self._driver.synchronise()


def most_launched(launches: Counter[str]) -> dict[str, int]:
    """Return the kernels that were launched most, as many as fit an answer; one that is left out counts as launched once."""
    kept: dict[str, int] = {}
    left = NAMES_BYTES
    for name, count in launches.most_common():
        left -= len(json.dumps({name: count}))
        if left < 0:
            break
        kept[name] = count
    return kept


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep Python's collector from running between two calls."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
