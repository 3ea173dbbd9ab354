"""The reference's latency, taken in the judge by the very code that takes a candidate's in its child."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from ptxbench.core.errors import JudgeError
from ptxbench.evaluate.device.plan import ITERATIONS, TRIALS, WARM_UP, Plan, plan
from ptxbench.evaluate.judge.held import Held, InputSet, ReferenceFailed
from ptxbench.evaluate.sandbox.claims import TimeMethod
from ptxbench.evaluate.sandbox.inside.activity import ActivityTrace, Unavailable
from ptxbench.evaluate.sandbox.inside.driver import Driver, load_driver
from ptxbench.evaluate.sandbox.inside.timing import Timing

FLUSH_MULTIPLE = 2
"""How many times the L2 cache's size is written before each timed call."""
DEAR_S = 0.3 / (TRIALS + 1)
"""A reference of which a trial takes longer (all of them: 0.3 s) is not measured anew for each candidate (protocol section 5) …"""
AGREES = 0.02
"""… while a few calls of it agree with what was measured to this part."""
PROBE = Plan(2, 5)
"""The few calls."""


class ReferenceClock:
    """Times references on the first visible device. ``method`` is the best that this machine has; ``why`` says what is missing."""

    def __init__(self, cupti: str | None, l2_bytes: int) -> None:
        self.flush_bytes = FLUSH_MULTIPLE * l2_bytes
        self._timing = Timing(Driver(load_driver(), 0), self.flush_bytes)
        self._known: dict[tuple[str, int, TimeMethod], list[float]] = {}
        self._trace: ActivityTrace | None = None
        self.why: str | None = None
        try:
            trace = ActivityTrace(cupti)
            # The library can be there and still refuse to record: under another profiler, or with a driver that is too old.
            trace.start()
            trace.stop()
            self._trace = trace
        except Unavailable as error:
            self.why = str(error)

    @property
    def method(self) -> TimeMethod:
        """``cupti``, or ``events`` where it is missing."""
        return "events" if self._trace is None else "cupti"

    def is_dear(self, held: Held) -> bool:
        """Whether all trials of a reference would take too long to be made anew for each candidate."""
        return held.reference_s * (WARM_UP + ITERATIONS) > DEAR_S

    def measure(self, held: Held, sets: Sequence[InputSet], method: TimeMethod) -> list[float]:
        """Return the microseconds of one trial of the reference on the input sets in turn, the caches cold.

        A dear reference's are those of before, while a few calls agree with them. Raises ``ReferenceFailed``.
        """
        key = (held.task.hash, held.seed, method)
        known = self._known.get(key)
        if known is not None:
            probed = statistics.median(self.time(held, sets, PROBE, method))
            if abs(probed / statistics.median(known) - 1.0) <= AGREES:
                return known
        measured = self.time(held, sets, plan(held.reference_s), method)
        if self.is_dear(held):
            self._known[key] = measured
        return measured

    def time(self, held: Held, sets: Sequence[InputSet], chosen: Plan, method: TimeMethod) -> list[float]:
        """Return the microseconds of that many calls of the reference. Raises ``ReferenceFailed``."""
        order = [place % len(sets) for place in range(chosen.calls)]

        def launch(slot: int) -> object:
            return held.compute(held.reference, sets[slot].inputs)

        if method == "cupti" and self._trace is not None:
            try:
                try:
                    found: dict[str, Any] = self._timing.by_activity(self._trace, order, chosen.warm_up, _nothing, launch)
                finally:
                    self._trace.stop()
            except Unavailable as error:
                raise JudgeError(f"CUPTI, which was there, has failed in the judge: {error}") from error
        else:
            found = self._timing.by_events(order, chosen.warm_up, _nothing, launch)
        if not all(found["ns"]):
            raise ReferenceFailed(f"the reference of {held.task.name} did nothing on the device")
        return [ns / 1e3 for ns in found["ns"]]


def _nothing(slot: int, stream: int) -> None:
    """Poison nothing: a reference's outputs are fresh memory."""
