"""The options of ``ptxbench run``, as types that Typer reads."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

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


PlanFile = Annotated[Path | None, typer.Argument(metavar="PLAN.toml", help="A sweep, in place of --task and --model.")]
Tasks = Annotated[
    list[str] | None,
    typer.Option("--task", metavar="TASK", help="NAME or NAME@UUID; may be given several times."),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="MODEL", help="openai/NAME (any OpenAI-compatible endpoint), inspect/PROVIDER/NAME or replay/FILE."
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url", metavar="URL", help="The endpoint's address, such as http://127.0.0.1:8000/v1; OPENAI_BASE_URL when left out."
    ),
]
Arch = Annotated[
    str | None,
    typer.Option("--arch", metavar="ARCH", help="sm_90a, sm_100a or cpu; each task's first when left out."),
]
LanguageName = Annotated[
    Language | None,
    typer.Option("--language", metavar="LANGUAGE", help="cuda, cpp or python; by the architecture when left out."),
]
Variants = Annotated[
    str | None,
    typer.Option(
        "--variants", metavar="NAMES", help="Prompt variants of the pack, with commas between, or all; the first when left out."
    ),
]
Pack = Annotated[
    str,
    typer.Option("--pack", metavar="ID", help="Knowledge pack in the prompt, or none; auto: the one for the task's architecture."),
]
Arm = Annotated[
    str | None,
    typer.Option(
        "--arm",
        metavar="NAME",
        help="How much of the pack: parameters, wrappers, representative or contracts (all of it, the default).",
    ),
]
Guidance = Annotated[str | None, typer.Option("--guidance", metavar="ID", help="Expert-edited fragment of the pack.")]
Trajectories = Annotated[int, typer.Option("--trajectories", metavar="N", min=1, help="Independent conversations per task.")]
Turns = Annotated[
    int,
    typer.Option("--turns", metavar="N", min=1, help="Answers per trajectory; there is no early stop without --target-speedup."),
]
Protocol = Annotated[Profile, typer.Option("--protocol", help="The profile that decides outcomes.")]
FeedbackName = Annotated[Feedback, typer.Option("--feedback", help="What the model is told.")]
ProfileFeedback = Annotated[
    bool,
    typer.Option("--profile-feedback", help="Profile correct kernels with Nsight Compute and tell the model where the time goes."),
]
HistoryName = Annotated[History, typer.Option("--history", help="How much of the conversation is sent.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the judge's inputs.")]
TargetSpeedup = Annotated[
    float | None,
    typer.Option(
        "--target-speedup", metavar="X", min=0.0, help="End a trajectory at this speedup. Such a run is comparable with no other."
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option("--temperature", metavar="X", min=0.0, help="The model's own when left out."),
]
TopP = Annotated[
    float | None,
    typer.Option("--top-p", metavar="X", min=0.0, max=1.0, help="The model's own when left out."),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", metavar="N", min=1, help="Longest answer, reasoning included; the model's own limit when left out."
    ),
]
ReasoningEffort = Annotated[
    str | None,
    typer.Option("--reasoning-effort", metavar="WORD", help="low, medium, high or what else the model knows."),
]
SamplingSeed = Annotated[
    int | None,
    typer.Option("--sampling-seed", metavar="N", min=0, help="Moved on by trajectory and turn."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="The run's directory, resumed when it exists; when left out runs/MODEL-TASK with the options that are not the "
        "defaults, or runs/PLAN.",
    ),
]
Backend = Annotated[
    str | None,
    typer.Option("--backend", metavar="BACKEND", help="gpu, cpu or static; by task and machine when left out."),
]
Concurrency = Annotated[int, typer.Option("--concurrency", metavar="N", min=1, help="Requests to models in flight at once.")]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would be asked, and about what it takes; ask nothing."),
]
DeviceId = Annotated[
    str | None,
    typer.Option("--device", metavar="ID", help="For --dry-run: as on a machine with h100, h200 or b200, whatever this one has."),
]
SecondsPerTurn = Annotated[
    float | None,
    typer.Option("--seconds-per-turn", metavar="S", min=0.001, help="For --dry-run: judge's time of a turn."),
]
ReplyTokens = Annotated[
    int | None,
    typer.Option("--reply-tokens", metavar="N", min=1, help="For --dry-run: expected length of an answer."),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", min=0.0, help="Begin no request once the run has cost this."),
]
MaxTotalTokens = Annotated[
    int | None,
    typer.Option("--max-total-tokens", metavar="N", min=1, help="Begin no request once the run has taken this many."),
]
MaxTurnsNow = Annotated[
    int | None,
    typer.Option("--max-turns-now", metavar="N", min=1, help="Begin at most this many requests in this call."),
]
PricesFile = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="A TOML file with prices of your own (docs/running.md)."),
]
AcceptChanges = Annotated[
    bool,
    typer.Option(
        "--accept-changes", help="Go on in a directory of other code, suite or model versions; recorded, and no longer comparable."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
