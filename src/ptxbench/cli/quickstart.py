"""``ptxbench quickstart``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import colored, print_json, progress, say, wants_json


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command()
    def quickstart(
        out: Annotated[Path | None, typer.Option("--out", help="Where to keep the runs; runs/quickstart-… when left out.")] = None,
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Play the main job on a recording: a model's three answers are compiled, judged, fed back and reported.

        First the GEMM of the benchmark for Hopper. Without a GPU its kernels are judged as far as that goes (policy, compilation,
        resources, static census), and a CPU task then shows the same loop to a full verdict. Exits 0 when all that can be decided
        here is as recorded.
        """
        as_json = wants_json(json)
        from ptxbench.app.quickstart import play
        from ptxbench.cli.progress import verdict_text
        from ptxbench.core.settings import Settings

        def show(text: str) -> None:
            progress(text)

        result = play(Settings(), out, show)
        if as_json:
            print_json(result)
        else:
            for part in result.parts:
                say(colored(f"{part.task} on {part.arch} ({part.backend})", "bold"))
                for turn, expected in zip(part.turns, part.expected, strict=True):
                    mark = (
                        colored("as recorded", "green")
                        if part.as_recorded(turn, expected)
                        else colored(f"expected {expected}", "red")
                    )
                    say(f"  turn {turn.turn}: {verdict_text(turn)}  [{mark}]")
            say()
            say(result.report.rstrip())
            say()
            say(result.conclusion)
            say(f"kept in {result.folder}; try: ptxbench report {result.folder}/gemm --json")
        raise typer.Exit(0 if result.ok else 1)
