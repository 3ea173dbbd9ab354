"""``ptxbench report``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import progress, say, wants_json, write_out
from ptxbench.cli.counts import counted
from ptxbench.core.errors import UsageError

Directories = Annotated[
    list[Path] | None,
    typer.Argument(metavar="DIR", help="Run directories, or folders that hold some; for throughput, evidence files (.json)."),
]
TableNames = Annotated[
    list[str] | None, typer.Option("--table", metavar="NAME", help="A kind of table, or all; may be given several times.")
]
FigureNames = Annotated[
    list[str] | None, typer.Option("--figure", metavar="NAME", help="A kind of figure, or all; may be given several times.")
]
Formats = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="The overview and tables: table, csv, json or markdown; tables also latex; figures: svg, png, csv or json. Several "
        "with commas between, where --out is given.",
    ),
]
Pool = Annotated[
    list[str] | None,
    typer.Option(
        "--pool", metavar="WHAT", help="For --table and --figure: pool cells that differ in run, task or workload alone, as asked."
    ),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write files into this folder instead of stdout.")]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write one self-contained page: tables, curves, every turn's source.")
]
Sidecar = Annotated[
    Path | None,
    typer.Option(
        "--sidecar", metavar="DIR", help="With --html: a page for each run with all turns, where one file cannot hold them."
    ),
]
ListKinds = Annotated[bool, typer.Option("--list", help="List the kinds of table and figure, and the paper's that each is.")]
Json = Annotated[bool, typer.Option("--json", help="The same as --format json.")]

EVERY_FORMAT = ("markdown", "latex", "csv", "json", "svg", "png")
"""What --out writes when no format is named."""


HELP = """Show what runs found: turn correctness, target instructions, Fast_p, best speedups.

Without --table and --figure, an overview: one row for each model and workload. With them, the tables and figures of a
results section, from any set of runs.

\b
the overview                         ptxbench report runs/hopper
what else there is                   ptxbench report --list
models x workloads                   ptxbench report runs/hopper --table models
the same for a paper                 ptxbench report runs/hopper --table models --format latex
curves of two runs as pictures       ptxbench report runs/a runs/b --figure fast_p --format svg --out plots
one picture through a pipe           ptxbench report runs/hopper --figure fast_p --format svg > fast_p.svg
two runs of the same cells as one    ptxbench report runs/a runs/b --pool run --table models
every kind in every format           ptxbench report runs/hopper --out results
a page to look at, send and keep     ptxbench report runs/hopper --html results.html
what the service's benchmarks say    ptxbench report evidence/h200/judge.json --table throughput

Runs that are not comparable (another device, profile, pack, baseline, harness, ...) are never pooled: they come as
tables of their own, each under its header. Comparable ones are pooled only by --pool. First lines ask for executed
target instructions, second lines, in parentheses, do not; triplets are at most 1, 4 and 8 turns. Published figures stand
below one's own, marked with their source. Tables and figures need the extra `report`.
"""
"""What --help says; \\b keeps the lines of its examples whole."""


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command(help=HELP)
    def report(
        directory: Directories = None,
        table: TableNames = None,
        figure: FigureNames = None,
        format: Formats = None,
        pool: Pool = None,
        out: Out = None,
        html: Html = None,
        sidecar: Sidecar = None,
        list_kinds: ListKinds = False,
        json: Json = False,
    ) -> None:
        """Show what runs found: turn correctness, target instructions, Fast_p, best speedups."""
        if list_kinds:
            _list(wants_json(json))
            return
        if not directory and not table and not figure:
            raise UsageError("no run to report on", next_step="give run directories, or --list for the kinds of table and figure")
        if pool and not table and not figure and out is None:
            raise UsageError("the overview pools nothing", next_step="name a --table or --figure, or --list them")
        if sidecar is not None and html is None:
            raise UsageError("--sidecar is what does not fit into a page", next_step="name the page with --html FILE")
        if html is not None:
            _page(directory or [], html, sidecar, as_json=wants_json(json))
            if not table and not figure and out is None:
                return
        if not table and not figure and out is None:
            _overview(directory or [], "json" if wants_json(json) else format or "table")
            return
        if wants_json(json):
            format = "json"
        _kinds(directory or [], table or [], figure or [], pool or [], format, out)


def _overview(directories: list[Path], format: str) -> None:
    from ptxbench.app.reporting import report_runs

    text = report_runs(directories, format, width=_width())
    write_out(text if text.endswith("\n") else text + "\n", encoding=None if format == "table" else "utf-8")


def _page(directories: list[Path], html: Path, sidecar: Path | None, *, as_json: bool) -> None:
    from ptxbench.app.paging import report_page
    from ptxbench.cli.console import print_json

    made = report_page(directories, html, sidecar=sidecar)
    if as_json:
        print_json({name: str(value) if isinstance(value, Path) else value for name, value in asdict(made).items()})
    else:
        say(str(html))
    progress(f"{counted(made.turns, 'turn')} of {counted(made.runs, 'run')} in {made.size_bytes / 1e6:.1f} MB")
    if made.sidecar:
        progress(f"all turns: {counted(made.sidecar_pages, 'page')} in {made.sidecar}, which the page links to")
    elif not made.whole:
        progress("the page holds the best and the last turn of each trajectory; for all of them: --sidecar DIR")


def _kinds(paths: list[Path], tables: list[str], figures: list[str], pool: list[str], format: str | None, out: Path | None) -> None:
    from ptxbench.app.reporting import report_kinds, write_documents

    if not tables and not figures:
        tables, figures = ["all"], ["all"]
    formats = _formats(format, tables, figures, out)
    documents, empty = report_kinds(paths, tables, figures, formats, pool=pool, width=_width())
    for name in empty:
        progress(f"{name}: nothing to show in these runs")
    if out is not None:
        for path in write_documents(documents, out):
            say(str(path))
        return
    if len(documents) > 1:
        raise UsageError(f"{len(documents)} documents do not fit into one stdout", next_step="name a folder with --out")
    for one in documents:
        write_out(one.text, encoding=None if one.name.endswith(".txt") else "utf-8")


def _formats(format: str | None, tables: list[str], figures: list[str], out: Path | None) -> list[str]:
    from ptxbench.report.documents import FIGURE_FORMATS, TABLE_FORMATS

    if figures and out is None:
        _refuse_on_stdout(figures, format)
    if format is not None:
        formats = [name.strip() for name in format.split(",")]
    elif out is None:
        formats = ["table"]
    else:
        formats = [name for name in EVERY_FORMAT if (tables and name in TABLE_FORMATS) or (figures and name in FIGURE_FORMATS)]
    if "png" in formats and out is None:
        raise UsageError("a PNG is no text for stdout", next_step="name a folder with --out")
    return formats


def _refuse_on_stdout(figures: list[str], format: str | None) -> None:
    """Refuse figures for a terminal, which shows none, and for a pipe that does not say what it takes."""
    from ptxbench.report.catalogue import FIGURES, chosen

    chosen(FIGURES, figures, "figure")  # A name that does not exist is the first thing to mend.
    if format is None or sys.stdout.isatty():
        what = "a terminal shows no figure" if sys.stdout.isatty() else "a figure has no format for stdout unless one is named"
        raise UsageError(
            what,
            next_step="name a folder with --out DIR (it gets svg, png, csv and json, or what --format names), "
            "or write one figure to a file: --format svg > FILE (or csv, json)",
        )


def _width() -> int | None:
    return None if sys.stdout.isatty() else 160


def _list(as_json: bool) -> None:
    from ptxbench.cli.console import print_json
    from ptxbench.report.catalogue import FIGURES, TABLES

    kinds = [("table", kind.name, kind.paper, kind.about) for kind in TABLES]
    kinds += [("figure", kind.name, kind.paper, kind.about) for kind in FIGURES]
    if as_json:
        print_json([dict(zip(("form", "name", "paper", "about"), kind, strict=True)) for kind in kinds])
        return
    for form, name, paper, about in kinds:
        say(f"--{form:<6} {name:<11} {paper or '-':<22} {about}")
