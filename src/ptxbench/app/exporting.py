"""Export run directories into other people's formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ptxbench.agent.engine.manifest import read_manifest
from ptxbench.agent.exports.writing import export_runs
from ptxbench.app.reporting import runs_in
from ptxbench.core.errors import UsageError


def export_trajectories(directories: Sequence[Path], out: Path, format: str) -> list[Path]:
    """Write every trajectory of the runs to ``out`` and return the files, in the order of their names.

    A folder that is no run but holds some stands for all of them. Raises ``UsageError`` for an unknown format, for a folder
    without a run, and for runs that hold no finished turn yet.
    """
    runs = [run for folder in directories for run in runs_in(folder)]
    written = export_runs(runs, out, format)
    if not written and all(read_manifest(run).imported for run in runs):
        raise UsageError("nothing to export: a table of turns that was imported holds no replies", next_step="name a run made here")
    if not written:
        raise UsageError(
            f"nothing to export: {', '.join(map(str, directories))} holds no finished turn",
            next_step="let ptxbench run finish a turn first",
        )
    return written
