"""Timed calls on a GPU: each after poisoning its outputs and emptying the L2 cache, outside of its span."""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .activity import ActivityTrace
from .calls import MARKS, attribute
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
        trace.start()
        with _undisturbed():
            for number, slot in enumerate(order):
                self._prepare(slot, number % MARKS, poison)
                launch(slot)
                self._driver.synchronise()
        calls = attribute(trace.take(), ours, len(order))
        found = calls.spans_ns[warm_up:]
        return {
            "ns": found,
            "method": "cupti",
            "launches": most_launched(calls.launches),
            "late": calls.late,
            "empty": found.count(0),
        }

    def by_events(self, order: list[int], warm_up: int, poison: Poison, launch: Launch) -> dict[str, Any]:
        """Time calls by events on the default stream, all of the context's streams at rest before and after.

        The second event waits for the device, as the function of a reference does by itself: work on a stream that waits for no
        other counts, and both sides pay for one synchronisation.
        """
        start, end = self._driver.make_event(), self._driver.make_event()
        took = []
        with _undisturbed():
            for number, slot in enumerate(order):
                self._prepare(slot, number % MARKS, poison)
                self._driver.record(start)
                launch(slot)
                self._driver.synchronise()
                self._driver.record(end)
                self._driver.synchronise()
                took.append(self._driver.elapsed_ns(start, end))
        return {"ns": took[warm_up:], "method": "events", "launches": {}, "late": 0, "empty": 0}

    def _prepare(self, slot: int, mark: int, poison: Poison) -> None:
        poison(slot, self._stream)
        # Persisting lines become ordinary ones first, or they would outlive the writing that is to empty the cache.
        self._driver.forget_persisting_lines()
        if self._flush_bytes:
            self._driver.fill(self._flushed, mark, self._flush_bytes, self._stream)
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
