"""Report on run directories: the overview, and tables and figures by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ptxbench.agent.engine.manifest import MANIFEST_NAME
from ptxbench.core.errors import StorageError, UsageError
from ptxbench.metrics import summarise
from ptxbench.report import load_runs, render
from ptxbench.report.catalogue import FIGURES, TABLES, chosen
from ptxbench.report.documents import FIGURE_FORMATS, TABLE_FORMATS, Document, figure_documents, table_document

if TYPE_CHECKING:
    from ptxbench.report.sources import Sources

FORMATS = ("table", "csv", "json", "markdown")
"""Formats of the overview."""

NEED_NO_RUN = {"exposure", "throughput"}
"""Kinds that have something to say without a run."""

_WHERE_RUNS_ARE = "give the --out of ptxbench run, or the folder that ptxbench quickstart names"


@dataclass(frozen=True)
class Written:
    """Files that a report made, and kinds that had nothing to show."""

    files: tuple[Path, ...]
    empty: tuple[str, ...]


def report_runs(directories: Sequence[Path], format: str, *, width: int | None = None) -> str:
    """Return the overview of the runs as text. Raises ``UsageError`` for an unknown format or a folder without a run.

    A folder that is no run but holds some stands for all of them.
    """
    if format not in FORMATS:
        other = "--table" if format in TABLE_FORMATS else "--figure" if format in FIGURE_FORMATS else ""
        hint = f"; {format} is for {other} NAME" if other else ""
        raise UsageError(f"unknown format {format!r}", next_step=f"use one of {', '.join(FORMATS)}{hint}")
    runs = load_runs([run for folder in directories for run in runs_in(folder)])
    return render(summarise(runs.turns, runs.planned), format, width=width)


def report_kinds(
    paths: Sequence[Path],
    tables: Sequence[str],
    figures: Sequence[str],
    formats: Sequence[str],
    *,
    pool: Sequence[str] = (),
    width: int | None = None,
) -> tuple[list[Document], list[str]]:
    """Return tables and figures by name in each of the formats that fit them, and the names that have nothing to show.

    ``paths``: run directories, folders of some, and evidence files (``.json``). ``pool``: what to pool cells over, of ``run``,
    ``task`` and ``workload``; nothing is pooled unasked. Raises ``UsageError`` for unknown names and
    formats, and for a format that fits nothing that was asked for.
    """
    asked = chosen(TABLES, tables, "table"), chosen(FIGURES, figures, "figure")
    _check_formats(formats, bool(tables), bool(figures))
    names = {kind.name for kinds in asked for kind in kinds}
    if not paths and names - NEED_NO_RUN:
        raise UsageError("no run to report on", next_step="give run directories, such as the --out of ptxbench run")
    sources = sources_of(paths, with_resources="resources" in names, pool=pool)
    documents, empty = [], []
    for table in asked[0]:
        built = [one for one in table.build(sources) if one.rows]
        empty += [] if built else [table.name]
        documents += [table_document(table.name, built, format, width) for format in formats if format in TABLE_FORMATS and built]
    for figure in asked[1]:
        drawn = figure.build(sources)
        empty += [] if drawn else [figure.name]
        documents += [
            one for format in formats if format in FIGURE_FORMATS and drawn for one in figure_documents(figure.name, drawn, format)
        ]
    return documents, empty


def write_documents(documents: Sequence[Document], out: Path) -> tuple[Path, ...]:
    """Write documents into a folder, over files of the same names. Raises ``StorageError`` where that cannot be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for one in documents:
            (out / one.name).write_bytes(one.content)
    except OSError as error:
        raise StorageError(f"{out} cannot be written: {error.strerror}", next_step="name another --out") from error
    return tuple(out / one.name for one in documents)


def sources_of(paths: Sequence[Path], *, with_resources: bool = False, pool: Sequence[str] = ()) -> Sources:
    """Return the turns of run directories, and evidence files, that these paths are."""
    from ptxbench.metrics.frame import TurnFrame
    from ptxbench.metrics.pooling import pooled
    from ptxbench.report.evaluations import resources_of
    from ptxbench.report.evidence import read_evidence
    from ptxbench.report.sources import Sources

    evidence = [path for path in paths if path.suffix == ".json" and not path.is_dir()]
    folders = [run for path in paths if path not in evidence for run in runs_in(path)]
    runs = load_runs(folders)
    resources = resources_of(folders, runs.turns) if with_resources else None
    frame = TurnFrame.of(runs.turns, runs.planned, resources=resources)
    return Sources(pooled(frame, pool) if pool else frame, tuple(map(read_evidence, evidence)))


def _check_formats(formats: Sequence[str], tables: bool, figures: bool) -> None:
    known = {**(TABLE_FORMATS if tables else {}), **(FIGURE_FORMATS if figures else {})}
    for format in formats:
        if format not in known:
            what = " and ".join(word for word, asked in (("tables", tables), ("figures", figures)) if asked)
            raise UsageError(f"{what} have no format {format!r}", next_step=f"use one of {', '.join(known)}")


def runs_in(folder: Path) -> list[Path]:
    """Return the run directories that a folder stands for; the folder itself when it is one.

    Raises ``UsageError`` for what is no folder and for a folder that holds no run.
    """
    if not folder.is_dir():
        what = f"{folder} is a file and no run directory" if folder.exists() else f"there is no folder {folder}"
        raise UsageError(what, next_step=_WHERE_RUNS_ARE)
    if (folder / MANIFEST_NAME).exists():
        return [folder]
    runs = sorted(path.parent for path in folder.glob(f"*/{MANIFEST_NAME}"))
    if not runs:
        raise UsageError(
            f"{folder} holds no run: neither it nor a folder in it has a {MANIFEST_NAME}",
            next_step=_WHERE_RUNS_ARE,
        )
    return runs
