"""The same page while a run goes on: what a server of it hands out, read again from the run directories when they change."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptxbench.agent.engine.ledger import JOURNAL_NAME
from ptxbench.agent.engine.manifest import MANIFEST_NAME
from ptxbench.report.page.details import trajectory_details
from ptxbench.report.page.document import document
from ptxbench.report.page.packing import trajectories
from ptxbench.report.page.runs import Run, read_runs
from ptxbench.report.page.summary import cell_id, summary
from ptxbench.report.page.writing import page_title, stamped

Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class _Reading:
    """What was read at one moment."""

    stamp: Stamp
    runs: list[Run]
    data: dict[str, Any]


class LiveRuns:
    """Run directories that may still grow. Every answer is of what is on disk; nothing is read twice unless it changed.

    ``find`` names the directories, again each time, so that new ones are found; ``viewers`` are addresses of Inspect's viewer by
    run. Safe to use from several threads.
    """

    def __init__(self, find: Callable[[], Sequence[Path]], viewers: Mapping[str, str] | None = None) -> None:
        self._find = find
        self._viewers = dict(viewers or {})
        self._lock = threading.Lock()
        self._reading: _Reading | None = None

    def stamp(self) -> Stamp:
        """Return what changes when a run directory does."""
        found = []
        for folder in self._find():
            for name in (MANIFEST_NAME, JOURNAL_NAME):
                path = folder / name
                try:
                    state = path.stat()
                except FileNotFoundError:
                    continue
                found.append((str(path), state.st_mtime_ns, state.st_size))
        return tuple(found)

    def page(self) -> str:
        """Return the page as it stands now. Raises what ``read_runs`` and ``summary`` raise, as all of these do."""
        reading = self._read()
        return document(page_title(reading.runs), self._data(reading), live=True)

    def data(self) -> bytes:
        """Return the page's data as JSON."""
        return _json(self._data(self._read()))

    def trajectory(self, cell: str, name: str) -> bytes | None:
        """Return the details of every turn of a trajectory as JSON, or None when there is no such trajectory."""
        for run in self._read().runs:
            for key, trajectory, steps in trajectories(run):
                if trajectory == name and cell_id(key) == cell:
                    return _json(trajectory_details(steps, run.store))
        return None

    def _data(self, reading: _Reading) -> dict[str, Any]:
        runs = [{**run, "viewer": self._viewers.get(run["run"])} for run in reading.data["runs"]]
        return stamped({**reading.data, "runs": runs}, live=True)

    def _read(self) -> _Reading:
        with self._lock:
            # The stamp is older than what is read: a line that arrives in between is read again, and never missed.
            stamp = self.stamp()
            if self._reading is None or self._reading.stamp != stamp:
                runs = read_runs(self._find())
                self._reading = _Reading(stamp, runs, summary(runs))
            return self._reading


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
