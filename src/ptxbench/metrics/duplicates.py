"""Turns that occur twice would count twice: they are refused, with the list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ptxbench.core.errors import UsageError
from ptxbench.metrics.rows import Plan
from ptxbench.schema import CellKey, Turn


def refuse_repeated(turns: Iterable[Turn], planned: Mapping[CellKey, Plan]) -> None:
    """Raise ``UsageError`` for turns that occur twice, and for those that a plan says were not reached."""
    counted = Counter((turn.key, turn.trajectory, turn.turn) for turn in turns)
    for key, plan in planned.items():
        for gap in plan.not_reached:
            counted.update((key, gap.trajectory, index) for index in range(gap.first, plan.turns))
    refuse_duplicates(sorted(f"{key.run}/{key.task}/{name}/{index}" for (key, name, index), count in counted.items() if count > 1))


def refuse_duplicates(twice: Sequence[str]) -> None:
    """Raise ``UsageError`` when there are any; ``twice`` names each as ``run/task/trajectory/turn``, in order."""
    if twice:
        shown = ", ".join(twice[:5]) + (f" and {len(twice) - 5} more" if len(twice) > 5 else "")
        raise UsageError(
            f"{len(twice)} turns occur more than once: {shown}",
            next_step="name each run directory once; a run whose trajectory goes on after its end is damaged",
            duplicates=list(twice),
        )
