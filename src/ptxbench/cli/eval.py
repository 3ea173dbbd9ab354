"""``ptxbench eval``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import GLOBALS, print_json, progress, say, wants_json
from ptxbench.schema import Language, Profile, ProofMethod


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command("eval")
    def evaluate_kernel(
        kernel: Annotated[Path, typer.Argument(metavar="KERNEL", help="A .cu, .cpp or .py file.")],
        task: Annotated[
            str, typer.Option("--task", metavar="TASK", help="NAME, or NAME@UUID for another workload than the default.")
        ],
        arch: Annotated[
            str | None, typer.Option("--arch", metavar="ARCH", help="sm_90a, sm_100a or cpu; the task's first when left out.")
        ] = None,
        backend: Annotated[
            str | None,
            typer.Option(
                "--backend", metavar="BACKEND", help="gpu, cpu or static; chosen by the task and the machine when left out."
            ),
        ] = None,
        language: Annotated[
            Language | None,
            typer.Option("--language", metavar="LANGUAGE", help="cuda, cpp or python; by the file's ending when left out."),
        ] = None,
        protocol: Annotated[Profile, typer.Option("--protocol", help="The profile that decides the outcome.")] = Profile.STRICT,
        require_proof: Annotated[
            bool, typer.Option("--require-proof", help="Exit 0 only when the target instructions are proven to have executed.")
        ] = False,
        proof: Annotated[
            ProofMethod,
            typer.Option("--proof", help="How executed instructions are counted: cupti (fast), ncu (the published rule), or both."),
        ] = "cupti",
        prove_by_mutation: Annotated[
            bool,
            typer.Option("--prove-by-mutation", help="Run it with its matrix instructions giving zero too: it must become wrong."),
        ] = False,
        check: Annotated[
            str | None,
            typer.Option(
                "--check",
                metavar="A,B",
                help="Also run these memory checkers: racecheck, synccheck, initcheck, memcheck. Their findings are flags.",
            ),
        ] = None,
        check_workload: Annotated[
            str | None,
            typer.Option("--check-workload", metavar="UUID", help="What --check runs; the task's smallest workload when left out."),
        ] = None,
        seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the inputs.")] = 0,
        stages: Annotated[
            str | None,
            typer.Option("--stages", metavar="A,B", help="Only these, such as compare or compare,time; all when left out."),
        ] = None,
        core_dump: Annotated[
            Path | None,
            typer.Option("--core-dump", metavar="FILE", help="Keep the GPU core dump of a hang here, for cuda-gdb."),
        ] = None,
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Evaluate one kernel on one task.

        On a GPU it runs memcheck, compares outputs, measures latency against the library and counts executed instructions.
        Exits 0 when it is correct (with --require-proof: and qualified), 1 when it failed, 4 when that could not be decided here.

        Example: ptxbench eval kernel.cu --task gemm_n7168_k5120
        """
        as_json = wants_json(json)
        from ptxbench.app.evaluating import evaluate_file, exit_code, lacking_proof
        from ptxbench.app.machine import machine_settings
        from ptxbench.cli.sections import show_evaluation

        if kernel.is_file():
            progress(f"evaluating {kernel} on {task}")
        evaluation = evaluate_file(
            kernel,
            selector=task,
            arch=arch,
            backend=backend,
            language=language,
            profile=protocol,
            proof=proof,
            prove_by_mutation=prove_by_mutation,
            checkers=_names(check),
            check_workload=check_workload,
            seed=seed,
            stages=_names(stages),
            core_dump=core_dump,
            suite_paths=GLOBALS.suite,
            settings=machine_settings(),
            warn=progress,
        )
        if as_json:
            print_json(evaluation)
        else:
            show_evaluation(evaluation)
        if require_proof and (lacking := lacking_proof(evaluation)):
            (progress if as_json else say)(f"--require-proof: {lacking}")
        raise typer.Exit(exit_code(evaluation, require_proof=require_proof))


def _names(text: str | None) -> list[str] | None:
    """Return the names in a list with commas, None when the option was left out."""
    return None if text is None else [name.strip() for name in text.split(",")]
