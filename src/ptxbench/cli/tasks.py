"""``ptxbench tasks``: the suite."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ptxbench.cli.console import GLOBALS, own_name, print_json, progress, say, wants_json
from ptxbench.cli.counts import counted
from ptxbench.cli.steps import steps
from ptxbench.core.errors import UsageError

if TYPE_CHECKING:
    from ptxbench.suite import Suite

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _sizes(axes: Mapping[str, int]) -> str:
    return ", ".join(f"{axis}={size}" for axis, size in axes.items())


def opened() -> Suite:
    """Return the suite of the options, its warnings printed."""
    from ptxbench.app.suites import open_suite

    return open_suite(GLOBALS.suite, progress)


def register(application: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="The suite: list, show, export, import and validate tasks.")
    application.add_typer(group, name="tasks")

    @group.command("list")
    def list_tasks(
        family: Annotated[
            str | None, typer.Option("--family", metavar="FAMILY", help="Only this family (gemm, mha_forward, …).")
        ] = None,
        json: JsonOption = False,
    ) -> None:
        """List the tasks with their architectures, reference library and workloads."""
        as_json = wants_json(json)
        from ptxbench.app.suites import listing

        rows = listing(opened())
        families = sorted({row["family"] for row in rows})
        if family is not None and family not in families:
            raise UsageError(f"unknown family {family!r}", next_step=f"known: {', '.join(families)}")
        rows = [row for row in rows if family in (None, row["family"])]
        if as_json:
            print_json(rows)
            return
        width = max((len(row["name"]) for row in rows), default=4)
        say(f"{'task':<{width}}  {'family':<14} {'archs':<16} {'reference':<10} workloads")
        for row in rows:
            archs = ",".join(row["archs"])
            say(f"{row['name']:<{width}}  {row['family']:<14} {archs:<16} {row['reference']:<10} {len(row['workloads'])}")

    @group.command()
    def show(
        name: Annotated[str, typer.Argument(metavar="TASK", help="NAME or NAME@UUID.")],
        json: JsonOption = False,
    ) -> None:
        """Show one task: axes, arguments, workloads, tolerances, reference."""
        as_json = wants_json(json)
        tasks = opened()
        spec = tasks.get(name)
        task = tasks.task(name)
        if as_json:
            print_json({"spec": spec, "task": task})
            return
        say(f"{spec.name}  ({spec.family}; {', '.join(spec.archs)}; reference {spec.reference.library})")
        if spec.definition.description:
            say(spec.definition.description)
        say(f"default workload {spec.default_workload}; shown with {task.workload.uuid}: {_sizes(task.axes)}")
        for kind, arguments in (("in ", spec.definition.inputs), ("out", spec.definition.outputs)):
            for argument, tensor in arguments.items():
                shape = "scalar" if tensor.shape is None else f"[{', '.join(tensor.shape)}]"
                say(f"  {kind} {argument:<8} {tensor.dtype:<10} {shape}")
        say(f"tolerance: |got - expected| <= {spec.tolerance.atol} + {spec.tolerance.rtol} * |expected|")
        for output, bound in spec.tolerance.frobenius.items():
            say(f"  strict: relative Frobenius error of {output} <= {bound:g}")
        say("workloads:")
        for item in spec.workloads:
            say(f"  {item.workload.uuid}  {_sizes(item.workload.axes)}  {item.source}")
        say("reference:")
        for line in spec.definition.reference.rstrip().splitlines():
            say(f"  {line}")

    @group.command("export")
    def export_tasks(
        folder: Annotated[
            Path, typer.Argument(metavar="DIR", help="Where to write: a folder that does not exist yet, or is empty.")
        ],
        task: Annotated[
            list[str] | None, typer.Option("--task", metavar="TASK", help="Only these tasks; may be given several times.")
        ] = None,
        blobs: Annotated[bool, typer.Option("--blobs", help="Write derived inputs (O and L of backward tasks) as files.")] = False,
    ) -> None:
        """Write tasks as a FlashInfer-Trace folder."""
        from ptxbench.suite.exporting import export

        tasks = opened()
        written = list(export(tasks, folder, names=task, blobs=blobs))
        count = len(set(task)) if task else len(tasks.names)
        progress(f"wrote {counted(count, 'task')} ({counted(len(written), 'file')}) to {folder}")

    @group.command("import")
    def import_tasks(
        source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A FlashInfer-Trace folder.")],
        out: Annotated[
            Path | None, typer.Option("--out", metavar="DIR", help="Where to write the checked copy; suites/NAME when left out.")
        ] = None,
    ) -> None:
        """Check a foreign FlashInfer-Trace folder and copy it; use it later with --suite."""
        from ptxbench.suite.importing import import_suite

        out = out or Path("suites") / source.resolve().name
        imported = import_suite(source, out)
        for warning in imported.warnings:
            progress(f"warning: {warning}")
        progress(f"imported {counted(len(imported.names), 'task')} from {source} to {out}")
        progress(f"see: {own_name()} --suite {shlex.quote(str(out))} tasks list")

    @group.command()
    def validate(
        folder: Annotated[
            Path | None, typer.Argument(metavar="DIR", help="A FlashInfer-Trace folder; the loaded suite when left out.")
        ] = None,
        task: Annotated[
            list[str] | None, typer.Option("--task", metavar="TASK", help="Only these tasks; may be given several times.")
        ] = None,
        json: JsonOption = False,
    ) -> None:
        """Find broken and degenerate tasks: their rules are tried with answers that are wrong on purpose.

        Zeros, a constant, scaled, shifted and truncated answers, and answers that ignore an input. Tasks for GPUs are tried with
        torch, on the CPU where there is no GPU.
        """
        as_json = wants_json(json)
        from ptxbench.suite import load_folder
        from ptxbench.suite.validating import validate as find

        suite = load_folder(folder) if folder else opened()
        names = [suite.get(name).name for name in task] if task else suite.names
        with steps(len(names)) as watch:
            findings = find(suite, names, watch)
        if as_json:
            print_json(findings)
        else:
            for finding in findings:
                say(f"{finding.severity}: {finding.task}: {finding.text}")
            say(f"{counted(len(names), 'task')}, {counted(len(findings), 'finding')}")
        raise typer.Exit(1 if any(finding.severity == "error" for finding in findings) else 0)
