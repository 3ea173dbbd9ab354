"""``ptxbench packs``: the knowledge packs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ptxbench.cli.console import print_json, progress, say, wants_json, write_out
from ptxbench.cli.counts import counted
from ptxbench.core.atomic import write_atomic
from ptxbench.core.errors import UsageError

if TYPE_CHECKING:
    from ptxbench.packs import Library
    from ptxbench.toolchain import Toolchain

PackName = Annotated[str, typer.Argument(metavar="PACK", help="A pack of `packs list`.")]
Data = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="A folder of pack data in place of the one that comes with ptxbench.")
]
Device = Annotated[str | None, typer.Option("--device", metavar="ID", help="h100 or h200; the pack's first when left out.")]
ArmName = Annotated[
    str, typer.Option("--arm", metavar="ARM", help="parameters, wrappers, representative or contracts (the whole pack).")
]
Family = Annotated[str | None, typer.Option("--family", metavar="FAMILY", help="Problem family: gemm, mha_forward, mha_backward.")]
Variant = Annotated[str, typer.Option("--variant", metavar="NAME", help="Prompt variant of the family; base adds nothing.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write to a file instead of stdout.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(application: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="Knowledge packs: what a prompt tells a model about an architecture.")
    application.add_typer(group, name="packs")

    @group.command("list")
    def list_packs(data: Data = None, json: Json = False) -> None:
        """List the packs with their target, devices, arms and prompt variants."""
        as_json = wants_json(json)
        from ptxbench.packs.listing import listing

        rows = listing(_library(data))
        if as_json:
            print_json(rows)
            return
        for row in rows:
            say(f"{row.id}: {row.title} ({row.arch}, {row.language}; {', '.join(row.devices)}; arms {', '.join(row.arms)})")
            for family, variants in row.variants.items():
                say(f"  {family}: {', '.join(variants)}")
            if row.guidance:
                say(f"  guidance: {', '.join(row.guidance)}")

    @group.command("render")
    def render_pack(
        pack: PackName,
        device: Device = None,
        arm: ArmName = "contracts",
        family: Family = None,
        variant: Variant = "base",
        out: Out = None,
        data: Data = None,
        json: Json = False,
    ) -> None:
        """Print a pack's text, as a prompt carries it. The same inputs give the same bytes on every machine.

        Example: ptxbench packs render hopper --device h200 --family gemm --variant warp-specialised
        """
        as_json = wants_json(json)
        from ptxbench.packs.listing import arm_named
        from ptxbench.packs.render import render

        made = render(_library(data), pack, device=device, arm=arm_named(arm), family=family, variant=variant)
        if out is not None:
            write_atomic(out, made.text.encode())
            progress(f"wrote {len(made.text.encode())} bytes to {out}")
        if as_json:
            named = {"pack": made.pack, "device": made.device, "arm": made.arm.value, "family": made.family}
            print_json({**named, "variant": made.variant, "sha256": made.hash, "text": made.text})
        elif out is None:
            write_out(made.text, encoding="utf-8")

    @group.command("check")
    def check_packs(
        write_lock: Annotated[bool, typer.Option("--write-lock", help="Write the lock anew, then check.")] = False,
        compile: Annotated[
            bool, typer.Option("--compile", help="Compile every header as well, each alone, for its pack's architecture.")
        ] = False,
        data: Data = None,
        json: Json = False,
    ) -> None:
        """Check every pack: names, links, targets, tests of contracts, budget, lock. Exits 1 when something is wrong.

        Notes say what is known from documentation only; they do not change the exit code. No compiler is needed without --compile.
        """
        as_json = wants_json(json)
        from ptxbench.packs import lock
        from ptxbench.packs.check import check
        from ptxbench.packs.listing import source_tree

        library = _library(data)
        tools = _tools() if compile else None
        if write_lock:
            lock.write(library, lock.compute(library))
            progress(f"wrote {lock.NAME}")
        tree = source_tree()
        report = check(library, tree)
        if tools is not None:
            from ptxbench.packs.compiling import not_compiled

            report = report.adding(not_compiled(library, tools))
        if as_json:
            print_json(report)
        else:
            if tree is None:
                progress("no source tree here: the tests that contracts name were not looked for")
            for finding in report.findings:
                say(f"{finding.severity}: {finding.code}: {finding.where}: {finding.text}")
            for name, statuses in report.contracts.items():
                known = ", ".join(f"{count} {status}" for status, count in statuses.items())
                say(f"{name}: {counted(report.wrappers[name], 'wrapper')}; contracts: {known}")
            errors = sum(finding.severity == "error" for finding in report.findings)
            say(f"{errors} errors, {len(report.findings) - errors} notes; lock: {report.lock}")
        raise typer.Exit(0 if report.ok else 1)

    @group.command("tokens")
    def count_pack(
        pack: PackName,
        device: Device = None,
        arm: ArmName = "contracts",
        family: Family = None,
        variant: Variant = "base",
        model: Annotated[
            str | None, typer.Option("--model", metavar="PROVIDER/NAME", help="Count for this model where its tokenizer is here.")
        ] = None,
        data: Data = None,
        json: Json = False,
    ) -> None:
        """Count a pack's tokens by kind and by fragment."""
        as_json = wants_json(json)
        from ptxbench.packs.listing import arm_named
        from ptxbench.packs.render import render
        from ptxbench.packs.tokens import cost

        library = _library(data)
        made = render(library, pack, device=device, arm=arm_named(arm), family=family, variant=variant)
        counted = cost(made, library.manifest.pack(pack).budget_tokens, model)
        if as_json:
            print_json(counted)
            return
        for kind, count in counted.by_kind.items():
            say(f"{count:7d}  {kind}")
            for part in counted.fragments:
                if part.kind is kind and part.fragment is not None:
                    say(f"{part.tokens:7d}    {part.fragment}")
        exactly = "" if counted.exact else " (estimate)"
        say(f"{counted.tokens:7d}  in all by {counted.counted_by}{exactly}; budget {counted.budget_tokens}, {counted.bytes} bytes")

    @group.command("evidence")
    def list_evidence(
        pack: Annotated[str | None, typer.Argument(metavar="PACK", help="A pack of `packs list`; all when left out.")] = None,
        data: Data = None,
        json: Json = False,
    ) -> None:
        """Say of each contract how it is known, and what was tried of it on which device."""
        as_json = wants_json(json)
        from ptxbench.packs.standing import standings

        rows = standings(_library(data), pack)
        if as_json:
            print_json(rows)
            return
        for row in rows:
            say(f"{row.pack}: {row.contract} ({row.level}): {row.status}" + (f"; {row.reason}" if row.reason else ""))
            for one in row.tried:
                changed = f"; changed since: {', '.join(one.changed)}" if one.changed else ""
                on = f"{one.device}, {one.date[:10]}"
                say(f"  {on}: {one.checks} checks of {one.cases} cases, {one.failed} failed{changed}")

    @group.command("amalgamate")
    def amalgamate_kernel(
        kernel: Annotated[Path, typer.Argument(metavar="KERNEL", help="A .cu file that includes pack headers.")],
        include: Annotated[
            list[Path] | None, typer.Option("--include", metavar="DIR", help="Look for headers here too, before the packs' own.")
        ] = None,
        out: Out = None,
        json: Json = False,
    ) -> None:
        """Make one self-contained source of a kernel and the headers that it includes.

        Example: ptxbench packs amalgamate gemm.cu --out kernel.cu
        """
        as_json = wants_json(json)
        from ptxbench.packs.amalgamate import INCLUDE, amalgamate

        made = amalgamate(kernel, (*(include or []), INCLUDE))
        if out is not None:
            write_atomic(out, made.text.encode())
            progress(f"wrote {out}: {kernel.name} and {counted(len(made.headers), 'header')}")
        if as_json:
            print_json({"headers": list(made.headers), "text": made.text})
        elif out is None:
            write_out(made.text, encoding="utf-8")


def _library(data: Path | None) -> Library:
    from ptxbench.packs.loading import DATA, load

    if data is not None and not data.is_dir():
        raise UsageError(f"there is no folder {data}", next_step="name a folder of pack data, or leave --data out")
    return load(data or DATA)


def _tools() -> Toolchain:
    from ptxbench.app.machine import machine_settings
    from ptxbench.toolchain import locate

    return locate(machine_settings())
