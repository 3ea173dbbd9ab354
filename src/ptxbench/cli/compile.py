"""``ptxbench compile``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import print_json, progress, wants_json
from ptxbench.schema import Profile


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command("compile")
    def compile_kernel(
        kernel: Annotated[Path, typer.Argument(metavar="KERNEL", help="A .cu file (or .cpp with --arch cpu).")],
        arch: Annotated[str, typer.Option("--arch", metavar="ARCH", help="sm_90a, sm_100a or cpu.")] = "sm_90a",
        protocol: Annotated[Profile, typer.Option("--protocol", help="Whose policy decides.")] = Profile.STRICT,
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Compile a kernel: diagnostics, resources per kernel, policy verdict, static opcode census.

        Needs no GPU and no CUDA installation. Exits 0 when it compiles and keeps the policy, 1 when not.

        Example: ptxbench compile kernel.cu --arch sm_90a
        """
        as_json = wants_json(json)
        from ptxbench.app.compiling import compile_file
        from ptxbench.app.machine import machine_settings
        from ptxbench.cli.sections import show_build, show_policy

        if kernel.is_file():
            progress(f"compiling {kernel} for {arch}")
        result = compile_file(kernel, arch=arch, profile=protocol, settings=machine_settings())
        if as_json:
            print_json(result)
        else:
            show_policy(result.policy)
            show_build(result.build, arch)
        raise typer.Exit(0 if result.build.ok and result.policy.ok else 1)
