"""``ptxbench quickstart``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import colored, own_name, print_json, progress, say, wants_json
from ptxbench.schema import Turn


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command()
    def quickstart(
        out: Annotated[
            Path | None, typer.Option("--out", metavar="DIR", help="Where to keep the runs; runs/quickstart-… when left out.")
        ] = None,
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Play the main job on a recording: a model's three answers are compiled, judged, fed back and reported.

        First the GEMM of the benchmark for Hopper. Without a GPU its kernels are judged as far as that goes (policy, compilation,
        resources, static census), and a CPU task then shows the same loop to a full verdict. Exits 0 when all that can be decided
        here is as recorded, 3 when a fault of this machine kept kernels from being judged.
        """
        as_json = wants_json(json)
        from ptxbench.app.machine import machine_settings
        from ptxbench.app.quickstart import Part, play
        from ptxbench.cli.progress import verdict_text

        def mark(turn: Turn, expected: str) -> str:
            if not Part.as_recorded(turn, expected):
                return colored(f"recorded as {expected}", "red")
            return colored("as recorded", "green") if turn.outcome else colored(f"recorded as {expected}; needs a GPU", "yellow")

        result = play(machine_settings(), out, progress, width=None if sys.stdout.isatty() else 160)
        if as_json:
            print_json(result)
        else:
            for part in result.parts:
                say(colored(f"{part.task} on {part.arch} ({part.backend})", "bold"))
                # An incident leaves the last turns unplayed.
                for turn, expected, found in zip(part.turns, part.expected, part.found, strict=False):
                    say(f"  turn {turn.turn}: {verdict_text(turn)}  [{mark(turn, expected)}]")
                    if found:
                        say(f"    {found}")
                if part.incident:
                    say(f"  turn {len(part.turns)}: {colored('not judged', 'red')}: {part.incident}")
            say()
            say(result.report.rstrip())
            say()
            say(result.conclusion)
            folder = shlex.quote(result.folder)
            say(f"kept in {folder}; next: {own_name()} report {folder} --html page.html")
        raise typer.Exit(result.exit_code)
