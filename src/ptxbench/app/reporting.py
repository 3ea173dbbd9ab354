"""Report on run directories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ptxbench.core.errors import UsageError
from ptxbench.metrics import summarise
from ptxbench.report import load_runs, render

FORMATS = ("table", "csv", "json", "markdown")


def report_runs(directories: Sequence[Path], format: str, *, width: int | None = None) -> str:
    """Return the report of the runs as text. Raises ``UsageError`` for an unknown format or a folder without a run."""
    if format not in FORMATS:
        raise UsageError(f"unknown format {format!r}", next_step=f"use one of {', '.join(FORMATS)}")
    runs = load_runs(directories)
    return render(summarise(runs.turns, runs.planned), format, width=width)
