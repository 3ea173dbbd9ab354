"""Turns that occur twice would count twice: they are refused, with the list."""

from __future__ import annotations

from collections.abc import Sequence

from ptxbench.core.errors import UsageError


def refuse_duplicates(twice: Sequence[str]) -> None:
    """Raise ``UsageError`` when there are any; ``twice`` names each as ``run/task/trajectory/turn``, in order."""
    if twice:
        shown = ", ".join(twice[:5]) + (f" and {len(twice) - 5} more" if len(twice) > 5 else "")
        raise UsageError(
            f"{len(twice)} turns occur more than once: {shown}", next_step="name each run directory once", duplicates=list(twice)
        )
