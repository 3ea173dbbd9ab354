"""Flags that tell a model something about its kernel. Those about the judging machine tell it nothing to repair."""

from __future__ import annotations

from collections.abc import Iterable

from ptxbench.schema import Flag

ABOUT_THE_MACHINE = frozenset(
    {
        "weak_sandbox",
        "latency_by_events",
        "reference_drift",
        "proof_unknown",
        "proof_disagrees",
        "bookkeeping_counted",
        "mutation_unknown",
        "sanitizer_unknown",
        "counters_unknown",
        "counters_left_out",
        "memory_unknown",
    }
)
TOLD_ELSEWHERE = frozenset({"work_share"})
"""The share and its range stand beside the proof."""
MOST_FLAGS = 8


def flags_that_matter(flags: Iterable[Flag], *, share_is_told: bool = False) -> tuple[Flag, ...]:
    """Return the flags that are shown, at most ``MOST_FLAGS``; ``share_is_told`` when the text states the work share."""
    hidden = ABOUT_THE_MACHINE | TOLD_ELSEWHERE if share_is_told else ABOUT_THE_MACHINE
    return tuple(flag for flag in flags if flag.code not in hidden)[:MOST_FLAGS]
