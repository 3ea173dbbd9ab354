"""Which of the device's activities belong to which timed call, by the device's own clock.

In front of each call our stream fills memory: outputs with poison, and last the buffer that empties the cache, with the call's
mark. All that is not ours and begins between the end of a call's marked fill and our next fill is the call's. Two readings of the
host's clock would need that it and the device's never drift apart, not even by the microseconds of a short kernel.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .activity import FILL, KERNEL, Activity, Unavailable

MARKS = 251
"""Marks in turn; poison, whose bytes have all bits set, is none of them."""


class Calls(NamedTuple):
    """What timed calls did: the span of each (0: nothing), the kernels of the last one, activities outside of every call."""

    spans_ns: list[int]
    launches: Counter[str]
    late: int


def attribute(activities: Sequence[Activity], ours: int, calls: int) -> Calls:
    """Return what each of ``calls`` calls did, from all activities in the order of time; ``ours`` is the number of our stream.

    Raises ``Unavailable`` when a call's marked fill is not among them.
    """
    opened: list[int] = []
    closed: list[int] = []
    strangers = []
    for activity in activities:
        if activity.stream != ours or activity.kind != FILL:
            strangers.append(activity)
            continue
        if len(closed) < len(opened):
            closed.append(activity.start)
        if len(opened) < calls and activity.value == len(opened) % MARKS:
            opened.append(activity.end)
        elif opened and activity.value == (len(opened) - 1) % MARKS:  # a fill that the driver has done in pieces
            opened[-1] = activity.end
            closed.pop()
    if len(opened) != calls:
        raise Unavailable(f"CUPTI has records of {len(opened)} of {calls} calls")
    spans: dict[int, tuple[int, int]] = {}
    launches: Counter[str] = Counter()
    late = 0
    for activity in strangers:
        call = bisect_right(opened, activity.start) - 1
        if call < 0 or (call < len(closed) and activity.start >= closed[call]):
            late += 1
            continue
        first, last = spans.get(call, (activity.start, activity.end))
        spans[call] = min(first, activity.start), max(last, activity.end)
        if call == calls - 1 and activity.kind == KERNEL:
            launches[activity.name] += 1
    return Calls([spans[call][1] - spans[call][0] if call in spans else 0 for call in range(calls)], launches, late)
