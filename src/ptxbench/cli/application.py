"""The root of the command line and its global options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ptxbench import __version__
from ptxbench.cli import compare, doctor, export, import_turns, packs, quickstart, report, run, tasks, view
from ptxbench.cli import compile as compile_command
from ptxbench.cli import eval as eval_command
from ptxbench.cli.console import GLOBALS

application = typer.Typer(
    name="ptxbench",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure, and improve, how well language models write GPU kernels with architecture-specific PTX.\n\n"
    "Start with `ptxbench doctor` (what is here and what is missing) and `ptxbench quickstart` (the whole loop on a recording). "
    "Options of this page stand before the command, as in `ptxbench --json doctor`.\n\n"
    "Exit codes: 0 it holds, 1 the candidate failed, 2 wrong usage or input, 3 infrastructure, 4 undecided here.",
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"ptxbench {__version__}")
        raise typer.Exit


@application.callback()
def options(
    suite: Annotated[
        list[Path] | None,
        typer.Option("--suite", metavar="DIR", help="A FlashInfer-Trace folder with more tasks; may be given several times."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")] = False,
    verbose: Annotated[
        int,
        typer.Option(
            "-v",
            "--verbose",
            count=True,
            show_default=False,
            help="Say more on stderr: every step of a run, and where an error came from.",
        ),
    ] = 0,
    color: Annotated[str, typer.Option("--color", metavar="WHEN", help="auto, always or never.")] = "auto",
    version: Annotated[
        bool | None, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = None,
) -> None:
    """Take the options that stand before the command."""
    if color not in ("auto", "always", "never"):
        raise typer.BadParameter("must be auto, always or never", param_hint="--color")
    GLOBALS.suite = list(suite or [])
    GLOBALS.json = json
    GLOBALS.verbose = verbose
    GLOBALS.color = color


doctor.register(application)
quickstart.register(application)
tasks.register(application)
compile_command.register(application)
eval_command.register(application)
packs.register(application)
run.register(application)
report.register(application)
view.register(application)
compare.register(application)
export.register(application)
import_turns.register(application)
