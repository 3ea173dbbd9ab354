"""``ptxbench view``."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import GLOBALS, print_json, progress, say, wants_json

Directories = Annotated[list[Path], typer.Argument(metavar="DIR", help="Run directories, or folders that hold some.")]
Port = Annotated[int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port on loopback; 0 takes a free one.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
Transcripts = Annotated[
    bool, typer.Option("--transcripts/--no-transcripts", help="Start Inspect's viewer for runs that have Inspect's logs.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the address as JSON.")]


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command()
    def view(
        directory: Directories, port: Port = 0, open: Open = False, transcripts: Transcripts = True, json: Json = False
    ) -> None:
        """Show runs in a browser, live while they go on.

        Serves on loopback until Ctrl-C: tables, curves, and every turn with source, changes, feedback and measurements. New
        turns appear by themselves. Nothing is written.

        Example: ptxbench view runs/first --open
        """
        as_json = wants_json(json)
        from ptxbench.app.viewing import View

        GLOBALS.when_interrupted = "stopped"
        with View(directory, port=port, transcripts=transcripts) as served:
            if as_json:
                print_json({"url": served.url})
            else:
                say(served.url)
                progress("Ctrl-C stops it")
            if open:
                webbrowser.open(served.url)
            served.wait()
