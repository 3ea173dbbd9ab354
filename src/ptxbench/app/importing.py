"""Import turns that were made elsewhere."""

from __future__ import annotations

from pathlib import Path

from ptxbench.agent.imports.directory import PUBLISHED_TURNS, write_directories
from ptxbench.agent.imports.published import MOST_TURNS, read_published
from ptxbench.core.errors import UsageError
from ptxbench.schema import Record


class ImportedRun(Record):
    """One run directory that was made of a table."""

    run: str
    model: str
    task: str
    arch: str
    folder: str
    turns: int
    trajectories: int
    shortened: int
    """Trajectories without their last turns: those count as not reached."""
    lost: int
    """Turns that are missing before a trajectory's last one: the run is incomplete."""


class ImportSummary(Record):
    """What an import made."""

    table: str
    sha256: str
    folder: str
    turns: int
    runs: tuple[ImportedRun, ...]


def import_published(table: Path, out: Path, *, turns: int = PUBLISHED_TURNS) -> ImportSummary:
    """Make a folder of run directories from a table of published turns, whole or not at all.

    ``turns``: how many a trajectory was planned to have. Raises ``UsageError`` for a table that is not of the published form,
    with its lines, and for an ``out`` that holds something.
    """
    if not 0 < turns <= MOST_TURNS:
        raise UsageError(f"--turns {turns}: a trajectory has 1 to {MOST_TURNS} turns")
    read = read_published(table)
    cells = write_directories(read, out, turns=turns)
    return ImportSummary(
        table=read.name,
        sha256=read.sha256,
        folder=str(out),
        turns=len(read.turns),
        runs=tuple(
            ImportedRun(
                run=cell.key.run,
                model=cell.key.model,
                task=cell.key.task,
                arch=cell.key.arch,
                folder=str(cell.folder),
                turns=cell.turns,
                trajectories=cell.trajectories,
                shortened=cell.shortened,
                lost=cell.lost,
            )
            for cell in cells
        ),
    )
