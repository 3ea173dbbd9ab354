"""``ptxbench run``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import GLOBALS, own_name, print_json, progress, say, wants_json
from ptxbench.schema import Language, Profile


class Feedback(StrEnum):
    """Feedback profiles."""

    PAPER = "paper"
    FULL = "full"


class History(StrEnum):
    """History policies."""

    FULL = "full"
    LATEST = "latest"
    SINGLE = "single"


def register(application: typer.Typer) -> None:
    """Add the command."""

    @application.command("run")
    def run_models(
        task: Annotated[list[str], typer.Option("--task", metavar="TASK", help="NAME or NAME@UUID; may be given several times.")],
        model: Annotated[
            str, typer.Option("--model", metavar="MODEL", help="openai/NAME (any OpenAI-compatible endpoint) or replay/FILE.")
        ],
        out: Annotated[
            Path | None,
            typer.Option(
                "--out", metavar="DIR", help="The run's directory, resumed when it exists; runs/MODEL-TASK when left out."
            ),
        ] = None,
        arch: Annotated[
            str | None, typer.Option("--arch", metavar="ARCH", help="sm_90a, sm_100a or cpu; each task's first when left out.")
        ] = None,
        language: Annotated[
            Language | None,
            typer.Option("--language", metavar="LANGUAGE", help="cuda, cpp or python; by the architecture when left out."),
        ] = None,
        trajectories: Annotated[
            int, typer.Option("--trajectories", metavar="N", min=1, help="Independent conversations per task.")
        ] = 4,
        turns: Annotated[
            int, typer.Option("--turns", metavar="N", min=1, help="Answers per trajectory; there is no early stop.")
        ] = 8,
        protocol: Annotated[Profile, typer.Option("--protocol", help="The profile that decides outcomes.")] = Profile.STRICT,
        feedback: Annotated[Feedback, typer.Option("--feedback", help="What the model is told.")] = Feedback.FULL,
        history: Annotated[History, typer.Option("--history", help="How much of the conversation is sent.")] = History.FULL,
        backend: Annotated[
            str | None, typer.Option("--backend", metavar="BACKEND", help="gpu, cpu or static; by task and machine when left out.")
        ] = None,
        concurrency: Annotated[int, typer.Option("--concurrency", metavar="N", min=1, help="Trajectories at once.")] = 8,
        temperature: Annotated[
            float | None, typer.Option("--temperature", metavar="X", min=0.0, help="The model's own when left out.")
        ] = None,
        max_tokens: Annotated[
            int | None,
            typer.Option("--max-tokens", metavar="N", min=1, help="Longest answer; the model's own limit when left out."),
        ] = None,
        seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the judge's inputs.")] = 0,
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Measure a model: it writes a kernel per turn and repairs it from feedback.

        The directory resumes by itself after any interruption. Exits 0 when every trajectory ended, 3 when a fault of the
        model's endpoint or of this machine left one incomplete (run the same command again).

        The endpoint is OPENAI_BASE_URL (or PTXBENCH_MODEL_URL), the key OPENAI_API_KEY.

        Example: ptxbench run --task cpu_gemm_n256_k256 --model openai/NAME --trajectories 2 --turns 3 --out runs/first
        """
        as_json = wants_json(json)
        from ptxbench.agent import RunConfig
        from ptxbench.agent.models.message import Sampling
        from ptxbench.app.machine import machine_settings
        from ptxbench.app.running import default_folder, run_benchmark
        from ptxbench.cli.progress import show_event

        config = RunConfig(
            tasks=tuple(dict.fromkeys(task)),
            model=model,
            arch=arch,
            language=language,
            trajectories=trajectories,
            turns=turns,
            profile=protocol,
            feedback=feedback.value,
            history=history.value,
            seed=seed,
            concurrency=concurrency,
            sampling=Sampling(temperature=temperature, max_tokens=max_tokens),
        )
        folder = out or default_folder(config)
        GLOBALS.when_interrupted = f"interrupted; {folder} keeps what is finished, and the same command goes on from there"
        summary = run_benchmark(
            config,
            out=folder,
            suite_paths=GLOBALS.suite,
            settings=machine_settings(),
            backend=backend,
            progress=show_event,
            warn=progress,
        )
        if as_json:
            print_json(summary)
        else:
            say(f"{summary.evaluated_turns} of {summary.planned_turns} turns evaluated, {summary.new_turns} of them now")
            for stopped in summary.incomplete:
                say(f"incomplete: {stopped.task} {stopped.trajectory}: {stopped.reason}")
            progress(f"see: {own_name()} report {folder}")
        raise typer.Exit(summary.exit_code)
