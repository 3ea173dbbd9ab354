"""``ptxbench compare``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import print_json, wants_json, write_out

UNDECIDED = 4

EXAMPLES = """Examples:

  ptxbench compare runs/monday runs/tuesday

  ptxbench compare runs/without runs/with --across pack

  ptxbench compare runs/old runs/new --across judge --json
"""


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command(epilog=EXAMPLES)
    def compare(
        first: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory, or a folder that holds some.")],
        second: Annotated[Path, typer.Argument(metavar="DIR", help="Another one; differences are second less first.")],
        across: Annotated[
            list[str] | None,
            typer.Option(
                "--across", metavar="KEY", help="What the comparison is about and may differ: pack, judge, …; repeatable."
            ),
        ] = None,
        force: Annotated[bool, typer.Option("--force", help="Compare whatever differs; the answer says what does.")] = False,
        seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the resamples.")] = 0,
        json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
    ) -> None:
        """Say which differences between two runs exceed noise, and what makes them incomparable.

        Runs that differ in a key of protocol section 9 (profile, feedback, pack, device, judge, …) are refused with the list of
        these keys, unless --across names them or --force is given.

        Exit codes: 0 compared, 2 not comparable or no runs, 4 nothing could be told from noise.
        """
        as_json = wants_json(json)
        from ptxbench.app.comparing import compare_runs
        from ptxbench.report.compare_text import comparison_text

        found = compare_runs(first, second, across=across or (), force=force, seed=seed)
        if as_json:
            print_json(found)
        else:
            write_out(comparison_text(found, width=None if sys.stdout.isatty() else 140))
        if not found.tells:
            raise typer.Exit(UNDECIDED)
