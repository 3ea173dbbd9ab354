"""Writes the page, and beside it a folder with a page for each run that has every turn."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ptxbench.core.atomic import write_atomic
from ptxbench.report.page.document import document
from ptxbench.report.page.packing import PAGE_BYTES, Packed, Place, packed
from ptxbench.report.page.runs import Run, read_runs
from ptxbench.report.page.summary import summary


@dataclass(frozen=True)
class Written:
    """What was written. ``whole``: the page itself holds every turn; else the best and the last one of each trajectory."""

    html: Path
    size_bytes: int
    runs: int
    turns: int
    whole: bool
    sidecar: Path | None = None
    sidecar_pages: int = 0


def write_page(folders: Iterable[Path], html: Path, *, sidecar: Path | None = None, budget: int = PAGE_BYTES) -> Written:
    """Write the page of some runs to ``html``: one file that needs nothing beside it.

    ``budget`` (bytes) is about how large the file may get before it holds only the best and the last turn of each trajectory.
    ``sidecar`` (a folder in the folder of ``html``, or below) then gets a page of each run with all of its turns, to which the
    page links. Raises what ``read_runs`` and ``summary`` raise, and ``StorageError`` when a file cannot be written.
    """
    runs = read_runs(folders)
    data = summary(runs)
    program = len(document("", data))
    held = packed(runs, max(0, budget - program))
    pages = _page_names(runs) if sidecar is not None and not held.whole else {}
    text = _page(runs, data, held, links={run: _link(sidecar, html, name) for run, name in pages.items() if sidecar})
    if sidecar is not None:
        for run in runs if pages else ():
            alone = _page([run], summary([run]), packed([run]), links={})
            write_atomic(sidecar / pages[run.manifest.run], alone.encode(), durable=False)
    written = text.encode()
    write_atomic(html, written, durable=False)
    return Written(
        html=html,
        size_bytes=len(written),
        runs=len(runs),
        turns=sum(len(run.turns) for run in runs),
        whole=held.whole,
        sidecar=sidecar if pages else None,
        sidecar_pages=len(pages),
    )


def page_title(runs: Sequence[Run]) -> str:
    """Return a title for the page of some runs."""
    return f"{runs[0].manifest.run} · ptxbench" if len(runs) == 1 else f"{len(runs)} runs · ptxbench"


def stamped(data: dict[str, Any], *, live: bool = False) -> dict[str, Any]:
    """Return the page's data with the moment at which it was made."""
    return {**data, "made": datetime.now(UTC).isoformat(timespec="seconds"), "live": live}


def _page(runs: Sequence[Run], data: dict[str, Any], held: Packed, *, links: dict[str, str]) -> str:
    cells = [
        {**cell, "trajectories": [_placed(one, held.places.get((cell["id"], one["name"]))) for one in cell["trajectories"]]}
        for cell in data["cells"]
    ]
    shown = stamped({**data, "cells": cells, "whole": held.whole, "links": links})
    return document(page_title(runs), shown, held.text)


def _placed(trajectory: dict[str, Any], place: Place | None) -> dict[str, Any]:
    if place is None:
        return trajectory
    return {**trajectory, "details": [place.start, place.length], "held": list(place.turns)}


def _page_names(runs: Sequence[Run]) -> dict[str, str]:
    """Return a file name for each run: its name where that can be one, and a number that keeps names apart."""
    names = {}
    for number, run in enumerate(runs):
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", run.manifest.run).strip(".-")[:80]
        names[run.manifest.run] = f"{number:03d}-{plain}.html"
    return names


def _link(sidecar: Path, html: Path, name: str) -> str:
    return quote(Path(os.path.relpath((sidecar / name).resolve(), html.resolve().parent)).as_posix())
