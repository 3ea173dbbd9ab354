"""``ptxbench report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import wants_json, write_out


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command()
    def report(
        directory: Annotated[list[Path], typer.Argument(metavar="DIR", help="Run directories, or folders that hold some.")],
        format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="table, csv, json or markdown.")] = "table",
        json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    ) -> None:
        """Show what runs found: turn correctness, target instructions, Fast_p, best speedups."""
        as_json = wants_json(json)
        from ptxbench.app.reporting import report_runs

        chosen = "json" if as_json else format
        text = report_runs(directory, chosen, width=None if sys.stdout.isatty() else 160)
        write_out(text if text.endswith("\n") else text + "\n", encoding=None if chosen == "table" else "utf-8")
