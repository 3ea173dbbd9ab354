"""``ptxbench doctor``."""

from __future__ import annotations

from typing import Annotated

import typer

from ptxbench.cli.console import colored, print_json, say, wants_json


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command()
    def doctor(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
        """Show what is here and what is missing: compiler, GPU, profilers, sandbox, models; each line with its fix.

        Exits 0 when everything that a machine without a GPU needs is here, 3 otherwise.
        """
        as_json = wants_json(json)
        from ptxbench.app.doctor import examine
        from ptxbench.app.machine import machine_settings

        report = examine(machine_settings())
        if as_json:
            print_json(report)
        else:
            width = max(len(check.name) for check in report.checks)
            marks = {
                "ok": colored("ok     ", "green"),
                "missing": colored("missing", "yellow"),
                "failed": colored("failed ", "red"),
            }
            for check in report.checks:
                value = f"{check.value or ''}{f' ({check.where})' if check.where else ''}"
                say(f"{marks[check.status]} {check.name:<{width}}  {value}".rstrip())
                if check.fix:
                    say(f"        {'':<{width}}  fix: {check.fix}")
            say()
            say(report.summary)
        raise typer.Exit(0 if report.usable else 3)
