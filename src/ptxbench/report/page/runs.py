"""Run directories as the page reads them: the manifest, the journal's turns and where their texts lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ptxbench.agent.engine.directory import INSPECT_NAME
from ptxbench.agent.engine.ledger import STORE_NAME, EndStep, TurnStep, read_steps
from ptxbench.agent.engine.manifest import Manifest, read_manifest
from ptxbench.core.store import ContentStore
from ptxbench.metrics import Plan
from ptxbench.report.loading import load_runs
from ptxbench.schema import CellKey

INSPECT_LOGS = "logs"
"""Folder, in a run's folder for Inspect, that holds Inspect's logs."""


@dataclass(frozen=True)
class Run:
    """One run directory. ``plans`` has an entry for each of its cells, also of those that have no turn yet."""

    folder: Path
    manifest: Manifest
    turns: tuple[TurnStep, ...]
    ends: tuple[EndStep, ...]
    plans: dict[CellKey, Plan]
    store: ContentStore

    @property
    def inspect_logs(self) -> Path | None:
        """The folder of Inspect's logs of this run; None where there is no log."""
        folder = self.folder / INSPECT_NAME / INSPECT_LOGS
        return folder if folder.is_dir() and any(folder.glob("*.eval")) else None


def read_runs(folders: Iterable[Path]) -> list[Run]:
    """Return run directories in the order in which they are named; one that still goes on may be read.

    Raises ``UsageError`` for a folder that is no run directory and for a run that is named twice, ``StorageError`` for a
    damaged journal.
    """
    listed = list(folders)
    plans = load_runs(listed).planned
    runs = []
    for folder in listed:
        manifest = read_manifest(folder)
        steps = read_steps(folder)
        runs.append(
            Run(
                folder=folder,
                manifest=manifest,
                turns=tuple(step for step in steps if isinstance(step, TurnStep)),
                ends=tuple(step for step in steps if isinstance(step, EndStep)),
                plans={cell.key: plans[cell.key] for cell in manifest.cells if cell.key in plans},
                store=ContentStore(folder / STORE_NAME, keep_damaged=True),
            )
        )
    return runs
