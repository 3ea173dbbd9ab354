"""``ptxbench run``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ptxbench.cli.console import GLOBALS, print_json, progress, say, wants_json
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
        task: Annotated[list[str], typer.Option("--task", help="NAME or NAME@UUID; may be given several times.")],
        model: Annotated[str, typer.Option("--model", help="openai/NAME (any OpenAI-compatible endpoint) or replay/FILE.")],
        out: Annotated[Path, typer.Option("--out", help="The run's directory; an existing run is resumed.")],
        arch: Annotated[str | None, typer.Option("--arch", help="sm_90a, sm_100a or cpu.")] = None,
        language: Annotated[Language | None, typer.Option("--language", help="cuda, cpp or python.")] = None,
        trajectories: Annotated[int, typer.Option("--trajectories", min=1, help="Independent conversations per task.")] = 4,
        turns: Annotated[int, typer.Option("--turns", min=1, help="Answers per trajectory; there is no early stop.")] = 8,
        protocol: Annotated[Profile, typer.Option("--protocol", help="The profile that decides outcomes.")] = Profile.STRICT,
        feedback: Annotated[Feedback, typer.Option("--feedback", help="What the model is told.")] = Feedback.FULL,
        history: Annotated[History, typer.Option("--history", help="How much of the conversation is sent.")] = History.FULL,
        backend: Annotated[str | None, typer.Option("--backend", help="gpu, cpu or static.")] = None,
        concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Trajectories at once.")] = 8,
        temperature: Annotated[float | None, typer.Option("--temperature", min=0.0)] = None,
        max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Longest answer.")] = None,
        seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the judge's inputs.")] = 0,
        json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Measure a model: it writes a kernel per turn and repairs it from feedback.

        The directory resumes by itself after any interruption. Exits 0 when every trajectory ended, 3 when a fault of the
        model's endpoint or of this machine left one incomplete (run the same command again).

        The endpoint is OPENAI_BASE_URL (or PTXBENCH_MODEL_URL), the key OPENAI_API_KEY.
        """
        as_json = wants_json(json)
        from ptxbench.agent import RunConfig
        from ptxbench.agent.models.message import Sampling
        from ptxbench.app.running import run_benchmark
        from ptxbench.cli.progress import show_event
        from ptxbench.core.settings import Settings

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
        summary = run_benchmark(
            config, out=out, suite_paths=GLOBALS.suite, settings=Settings(), backend=backend, progress=show_event
        )
        if as_json:
            print_json(summary)
        else:
            say(f"{summary.evaluated_turns} of {summary.planned_turns} turns evaluated, {summary.new_turns} of them now")
            for stopped in summary.incomplete:
                say(f"incomplete: {stopped.task} {stopped.trajectory}: {stopped.reason}")
            progress(f"see: ptxbench report {out}")
        raise typer.Exit(summary.exit_code)
