"""The results of runs as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ptxbench.app.reporting import runs_in
from ptxbench.core.errors import UsageError
from ptxbench.report.page import Written, write_page


def report_page(directories: Sequence[Path], html: Path, *, sidecar: Path | None = None) -> Written:
    """Write the page of the runs, over a file of that name; ``sidecar`` gets what does not fit into it.

    A folder that is no run but holds some stands for all of them. Raises ``UsageError`` for a folder without a run and for a
    file or folder that cannot be one.
    """
    if not directories:
        raise UsageError("no run to report on", next_step="give run directories, such as the --out of ptxbench run")
    if html.is_dir():
        raise UsageError(f"{html} is a folder", next_step="name a file, such as results.html")
    if sidecar is not None and sidecar.exists() and not sidecar.is_dir():
        raise UsageError(f"{sidecar} is not a folder", next_step="name another --sidecar")
    return write_page([run for folder in directories for run in runs_in(folder)], html, sidecar=sidecar)
