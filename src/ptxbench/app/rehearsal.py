"""``--dry-run``: what a run would ask and about what it would take. Nothing is asked, compiled or evaluated."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from ptxbench import arch as architectures
from ptxbench.agent.engine.ledger import TurnStep, read_steps
from ptxbench.agent.engine.opening import opening_messages
from ptxbench.agent.engine.places import PlannedTask, TaskSource, plan
from ptxbench.agent.engine.run import device_of
from ptxbench.agent.models import load_model
from ptxbench.agent.prices import Price
from ptxbench.agent.tokens import TokenEstimate, count_tokens, pack_tokens, sum_of
from ptxbench.app.directories import check_directory
from ptxbench.app.evaluators import Evaluators
from ptxbench.app.jobs import Job
from ptxbench.arch import DEVICES
from ptxbench.core.errors import ToolMissing, UsageError
from ptxbench.core.settings import Settings
from ptxbench.evaluate import Evaluator
from ptxbench.schema import Language, Record, TokenCount


class Assumptions(Record):
    """What an estimate rests on. None of it is measured: give your own."""

    seconds_per_turn: float = Field(default=5.0, gt=0)
    """Time that one candidate holds the judge. On an H200 a GEMM took 2.5 to 5 s, a hang 13 s (evidence/h200/judge.json)."""
    reply_tokens: int = Field(default=8000, ge=1)
    """Length of one answer, its reasoning included; all of it is taken to be sent again."""
    feedback_tokens: int = Field(default=700, ge=0)
    compile_seconds: float = Field(default=2.5, gt=0)
    """Time that one kernel compiles where none can run: a GEMM took 2.2 to 2.7 s on 16 cores (evidence/h200/turn.json)."""


COMPILED = frozenset({Language.CUDA, Language.CPP})
"""Languages whose sources go through a compiler before anything runs."""


class FirstPrompt(Record):
    """The first request of a trajectory."""

    system: str
    user: str
    tokens: TokenEstimate
    pack: TokenEstimate | None = None
    """Of them, the pack's."""


class DryCell(Record):
    """One model on one task in one prompt variant."""

    folder: str
    model: str
    task: str
    workload: str
    arch: str
    language: str
    variant: str
    pack: str | None
    arm: str | None
    guidance: str | None
    trajectories: int
    turns: int
    """In all trajectories together."""
    turns_done: int
    """Of them, in the run's journal already."""
    prompt: FirstPrompt
    input_tokens: int
    """Expected for the turns that are left; the history grows with each."""
    output_tokens: int
    backend: str
    """What would judge on this machine; ``static`` leaves GPU kernels undecided."""
    device: str | None
    """Where candidates would run on this machine, None where they would not."""
    shown_for: str | None
    """Device that the prompt speaks of: the one that was asked for, else ``device``, else the pack's first; None: of none."""
    judge: str
    """``gpu`` or ``cpu``: where the task is judged to a full verdict."""
    judge_minutes: float
    """On this machine, or on the device that was asked for; 0 where nothing can run."""
    compile_minutes: float
    """Where kernels are compiled and nothing runs, one after another; 0 elsewhere: they compile while others are judged."""
    cost_usd: float | None
    """None: the model's price is unknown. Without discounts for cached input, so an upper figure."""
    price: Price | None


class Rehearsal(Record):
    """What would happen."""

    assumptions: Assumptions
    cells: tuple[DryCell, ...]
    trajectories: int
    turns: int
    turns_done: int
    input_tokens: int
    output_tokens: int
    gpu_minutes: float
    cpu_minutes: float
    compile_minutes: float
    cost_usd: float | None
    """None as soon as one cell's is unknown."""
    unreachable: tuple[str, ...] = ()
    """Why a run would be refused in this environment though the rehearsal is not: a key or an address that is not set."""


def rehearse(
    jobs: Sequence[Job],
    suite: TaskSource,
    assumptions: Assumptions,
    *,
    settings: Settings,
    backend: str | None = None,
    device: str | None = None,
    accept_changes: bool = False,
) -> Rehearsal:
    """Return what the jobs would ask; ``device``: as on a machine with that device of the table, for the tasks that it can run.

    Raises ``UsageError`` for what a run would refuse before its first request, and for a device that is unknown or of no use.
    """
    arch = _arch_of(device)
    evaluators = Evaluators(backend, settings)
    try:
        cells = []
        for job in jobs:
            planned = []
            for item in plan(job.config, suite):
                # An evaluator only tells here where candidates would be judged, which a prompt may name.
                evaluator = evaluators.lend(item.task)
                planned.append((item, evaluator, device if item.task.arch == arch else device_of(evaluator, item.task)))
            where_each = [(item, where) for item, _, where in planned]
            check_directory(job, suite, where_each, device=device, accept_changes=accept_changes)
            for item, evaluator, where in planned:
                cells += _cells(job, item, assumptions, evaluator, where)
    finally:
        asyncio.run(evaluators.close())
    if device is not None and arch not in (asked := {cell.arch for cell in cells}):
        fitting = [facts.id for facts in DEVICES.values() if facts.arch in asked]
        raise UsageError(
            f"{device} runs {arch} kernels, and these are asked for on {', '.join(sorted(asked))}",
            next_step=f"use --device {' or '.join(fitting)}" if fitting else "leave --device out",
        )
    costs = [cell.cost_usd for cell in cells]
    known = [cost for cost in costs if cost is not None]
    return Rehearsal(
        assumptions=assumptions,
        cells=tuple(cells),
        trajectories=sum(cell.trajectories for cell in cells),
        turns=sum(cell.turns for cell in cells),
        turns_done=sum(cell.turns_done for cell in cells),
        input_tokens=sum(cell.input_tokens for cell in cells),
        output_tokens=sum(cell.output_tokens for cell in cells),
        gpu_minutes=math.fsum(cell.judge_minutes for cell in cells if cell.judge == "gpu"),
        cpu_minutes=math.fsum(cell.judge_minutes for cell in cells if cell.judge == "cpu"),
        compile_minutes=math.fsum(cell.compile_minutes for cell in cells),
        cost_usd=math.fsum(known) if len(known) == len(costs) else None,
        unreachable=_unreachable(jobs),
    )


def _unreachable(jobs: Sequence[Job]) -> tuple[str, ...]:
    """Return why models cannot be asked from here, each reason once, with what to do."""
    reasons = []
    for name, base_url, key_variable in dict.fromkeys(job.asks for job in jobs):
        try:
            model = load_model(name, base_url=base_url, key_variable=key_variable)
        except (UsageError, ToolMissing) as error:
            reasons.append(error.message + (f" ({error.next_step})" if error.next_step else ""))
        else:
            asyncio.run(model.close())
    return tuple(dict.fromkeys(reasons))


def _arch_of(device: str | None) -> str | None:
    """Return what a device of the table runs. Raises ``UsageError`` with the table's ids for another one."""
    if device is None:
        return None
    if device not in DEVICES:
        raise UsageError(f"unknown device {device!r}", next_step=f"use one of {', '.join(DEVICES)}")
    return DEVICES[device].arch


def _cells(job: Job, item: PlannedTask, assumed: Assumptions, evaluator: Evaluator, device: str | None) -> list[DryCell]:
    """Return the cells of a task. ``device``: the table's name of where its candidates run, None for nowhere."""
    config, task = job.config, item.task
    done = {
        (step.row.trajectory, step.row.turn)
        for step in read_steps(job.folder)
        if isinstance(step, TurnStep) and (step.row.key.task, step.row.key.workload) == (task.name, task.workload.uuid)
    }
    found, known = [], item.knowledge
    for variant in item.variants:
        prompt = _first_prompt(job, item, variant, device)
        names = [f"{variant}-{number}" for number in range(config.trajectories)]
        indices = [index for name in names for index in range(config.turns) if (name, index) not in done]
        again = assumed.reply_tokens + assumed.feedback_tokens
        sent = [min(index, 1) if config.history == "latest" else index for index in indices]
        input_tokens = prompt.tokens.tokens * len(indices) + again * sum(sent)
        output_tokens = assumed.reply_tokens * len(indices)
        runs = evaluator.backend != "static" or device is not None
        compile_s = assumed.compile_seconds if item.language in COMPILED and not runs else 0.0
        found.append(
            DryCell(
                folder=str(job.folder),
                model=_shown(config.model),
                task=task.name,
                workload=task.workload.uuid,
                arch=task.arch,
                language=item.language.value,
                variant=variant,
                pack=known.pack if known is not None else None,
                arm=known.arm.value if known is not None else None,
                guidance=known.guidance.id if known is not None and known.guidance is not None else None,
                trajectories=config.trajectories,
                turns=config.trajectories * config.turns,
                turns_done=config.trajectories * config.turns - len(indices),
                prompt=prompt,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                judge_minutes=len(indices) * assumed.seconds_per_turn / 60 if runs else 0.0,
                compile_minutes=len(indices) * compile_s / 60,
                backend=evaluator.backend,
                device=device_of(evaluator, task),
                shown_for=known.rendering(variant, device).device if known is not None else device,
                judge="gpu" if architectures.get(task.arch).is_gpu else "cpu",
                cost_usd=_cost(config.price, input_tokens, output_tokens),
                price=config.price,
            )
        )
    return found


def _first_prompt(job: Job, item: PlannedTask, variant: str, device: str | None) -> FirstPrompt:
    config = job.config
    system, user = opening_messages(config, item, variant=variant, device=device)
    total = sum_of(count_tokens(message.content, config.model) for message in (system, user))
    if item.knowledge is None:
        return FirstPrompt(system=system.content, user=user.content, tokens=total)
    rendering = item.knowledge.rendering(variant, device)
    pack = pack_tokens(rendering, config.model)
    if not pack.exact:
        # Code has fewer characters a token than prose, and a pack knows which of its parts are code.
        rest = total.tokens - count_tokens(rendering.text, config.model).tokens
        total = pack.model_copy(update={"tokens": rest + pack.tokens})
    return FirstPrompt(system=system.content, user=user.content, tokens=total, pack=pack)


def _cost(price: Price | None, input_tokens: int, output_tokens: int) -> float | None:
    return None if price is None else price.cost_usd(TokenCount(input=input_tokens, output=output_tokens))


def _shown(model: str) -> str:
    """Return a model's name as records have it: a recording without its path."""
    return f"replay/{Path(model).name}" if model.startswith("replay/") else model
