"""``ptxbench import``: turns that were made elsewhere."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import own_name, print_json, progress, say, wants_json


def register(application: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="Make run directories of turns that were made elsewhere.")
    application.add_typer(group, name="import")

    @group.callback()
    def only_groups() -> None:
        """Keep ``published`` a command of its own while it is the only one."""

    @group.command("published")
    def published(
        table: Annotated[Path, typer.Argument(metavar="TURNS.csv", help="A table of turns in the published form.")],
        out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the run directories go: a new or empty folder.")],
        turns: Annotated[
            int,
            typer.Option("--turns", metavar="N", help="Turns that a trajectory was planned to have; missing ones are not reached."),
        ] = 8,
        json: Annotated[bool, typer.Option("--json", help="Print what was made as JSON.")] = False,
    ) -> None:
        """Read a table of published turns as run directories.

        One run directory for each run of the table, which report, compare and view read like any other. Instruction tags that
        were read from source stay claims: proofs are unknown.

        Example: ptxbench import published turns.csv --out runs/published
        """
        as_json = wants_json(json)
        from ptxbench.app.importing import import_published

        made = import_published(table, out, turns=turns)
        if as_json:
            print_json(made)
            return
        trajectories = sum(run.trajectories for run in made.runs)
        say(f"{made.turns} turns of {trajectories} trajectories in {len(made.runs)} run directories under {out}")
        shortened, lost = sum(run.shortened for run in made.runs), sum(run.lost for run in made.runs)
        if shortened:
            say(f"{shortened} trajectories end before turn {turns}; what is missing counts as not reached")
        if lost:
            say(f"{lost} turns are missing inside trajectories; their runs are incomplete")
        progress(f"next: {own_name()} report {shlex.quote(str(out))}")
