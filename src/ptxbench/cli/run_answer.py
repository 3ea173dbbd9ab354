"""What ``ptxbench run`` does with its jobs, and how it answers."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from ptxbench.agent.engine.places import TaskSource
from ptxbench.agent.engine.run import RunSummary
from ptxbench.agent.spending import FOR_THIS_CALL, Caps
from ptxbench.app.jobs import Job
from ptxbench.app.machine import machine_settings
from ptxbench.app.rehearsal import Assumptions, DryCell, Rehearsal, rehearse
from ptxbench.app.running import SweepSummary, run_jobs
from ptxbench.cli.console import GLOBALS, colored, own_name, print_json, progress, say
from ptxbench.cli.counts import counted
from ptxbench.cli.live import watching
from ptxbench.core.durations import seconds_text
from ptxbench.schema import Pace


def play_jobs(
    jobs: Sequence[Job],
    suite: TaskSource,
    *,
    folder: Path,
    plan: str | None,
    caps: Caps,
    backend: str | None,
    accept_changes: bool,
    quiet: bool,
    as_json: bool,
    when_checked: Callable[[], None] = lambda: None,
) -> int:
    """Play the jobs, show how it goes, print how they stand and return the exit code. ``plan`` None: there is one job.

    ``when_checked`` is called once nothing was refused, before the first request.
    """
    GLOBALS.when_interrupted = f"interrupted; {folder} keeps what is finished, and the same command goes on from there"
    if caps.cost_usd is not None and any(job.config.price is None for job in jobs):
        progress("warning: a model's price is unknown (--prices); unless its endpoint names costs, the cost cap ends the run early")
    with watching(str(folder), caps, quiet=quiet) as watch:
        summaries = run_jobs(
            jobs,
            suite=suite,
            settings=machine_settings(),
            backend=backend,
            caps=caps,
            accept_changes=accept_changes,
            progress=lambda job, event: watch(job.name if plan is not None else "", event),
            when_checked=when_checked,
            warn=lambda text: progress(f"warning: {text}"),
        )
    if plan is None:
        (summary,) = summaries
        answer: RunSummary | SweepSummary = summary
    else:
        answer = _sweep(plan, folder, summaries)
    if as_json:
        print_json(answer)
    else:
        _say(answer, summaries)
        if not quiet:
            progress(f"see: {own_name()} report {shlex.quote(str(folder))}")
    return answer.exit_code


def _sweep(plan: str, folder: Path, summaries: Sequence[RunSummary]) -> SweepSummary:
    return SweepSummary(
        plan=plan,
        folder=str(folder),
        planned_turns=sum(summary.planned_turns for summary in summaries),
        evaluated_turns=sum(summary.evaluated_turns for summary in summaries),
        new_turns=sum(summary.new_turns for summary in summaries),
        paused_by=next((summary.paused_by for summary in summaries if summary.paused_by), None),
        runs=tuple(summaries),
    )


def _say(answer: RunSummary | SweepSummary, summaries: Sequence[RunSummary]) -> None:
    say(f"{answer.evaluated_turns} of {answer.planned_turns} turns evaluated, {answer.new_turns} of them now")
    for summary in summaries:
        for stopped in summary.incomplete:
            where = f"{summary.run}: " if len(summaries) > 1 else ""
            say(f"incomplete: {where}{stopped.task} {stopped.trajectory}: {stopped.reason}")
    for summary in summaries:
        if summary.undecided_turns:
            where = f"{summary.run}: " if len(summaries) > 1 else ""
            turns = f"{summary.undecided_turns} of {summary.evaluated_turns} turns"
            say(f"undecided: {where}{turns} could not be judged here, and are neither right nor wrong: {summary.undecided_because}")
        say_pace(summary.pace, f"{summary.run}: " if len(summaries) > 1 else "")
    if any(summary.incomplete for summary in summaries):
        kept = "all answers are kept; " if answer.evaluated_turns else ""
        say(f"{kept}once the fault is mended, the same command goes on from there")
    if answer.paused_by:
        higher = "" if FOR_THIS_CALL in answer.paused_by else " with a higher cap"
        say(f"stopped: {answer.paused_by}; all answers are kept, and the same command{higher} goes on")


def say_pace(pace: Pace, where: str) -> None:
    """Print how long turns took and how long answers were, as far as that is known."""
    parts = []
    if pace.judge_s is not None:
        parts.append(f"{seconds_text(pace.judge_s)} of judging a turn")
    if pace.model_s is not None:
        parts.append(f"{seconds_text(pace.model_s)} for an answer")
    if pace.reply_tokens is not None:
        parts.append(f"{pace.reply_tokens:.0f} tokens an answer")
    if parts:
        say(f"pace: {where}{', '.join(parts)}")


def show_rehearsal(
    jobs: Sequence[Job],
    suite: TaskSource,
    seconds_per_turn: float | None,
    reply_tokens: int | None,
    *,
    backend: str | None,
    device: str | None,
    accept_changes: bool,
    as_json: bool,
) -> None:
    """Print what the jobs would ask; ``device``: on a machine with that one."""
    given = {"seconds_per_turn": seconds_per_turn, "reply_tokens": reply_tokens}
    assumptions = Assumptions(**{name: value for name, value in given.items() if value is not None})
    found = rehearse(
        jobs, suite, assumptions, settings=machine_settings(), backend=backend, device=device, accept_changes=accept_changes
    )
    for reason in found.unreachable:
        progress(f"warning: the run itself would be refused here: {reason}")
    if as_json:
        print_json(found)
        return
    for cell in found.cells:
        _say_cell(cell)
    say(
        colored(
            f"{counted(len(found.cells), 'cell')}, {_trajectories(found)} ({found.turns_done} done)",
            "bold",
        )
    )
    say(f"tokens: about {found.input_tokens:,} in, {found.output_tokens:,} out")
    minutes = {f"GPU minutes{f' on {device}' if device else ''}": found.gpu_minutes, "CPU minutes": found.cpu_minutes}
    minutes["compile minutes"] = found.compile_minutes
    judges = {cell.judge.upper() for cell in found.cells}
    told = [f"{value:.1f} {name}" for name, value in minutes.items() if value or name.partition(" ")[0] in judges]
    say(f"judge: about {', '.join(told)}")
    if device is not None:
        say(f"Prompts and minutes are those of a machine with {device}.")
    elsewhere = {cell.arch for cell in found.cells if device is not None and cell.shown_for == device}
    if archs := sorted({cell.arch for cell in found.cells if cell.backend == "static"} - elsewhere):
        say(f"Nothing here can run {' or '.join(archs)} kernels: answers would be asked and paid for, and kernels only compiled.")
    say(f"cost: {_usd(found.cost_usd)}")
    compiling = f"{assumptions.compile_seconds:g} s of compiling one that cannot run here (evidence/h200/turn.json), "
    say(
        f"Assumed: {assumptions.seconds_per_turn:g} s of judging a turn (--seconds-per-turn), "
        f"{compiling if found.compile_minutes else ''}{assumptions.reply_tokens} tokens an "
        f"answer (--reply-tokens), {assumptions.feedback_tokens} a feedback; cost without discounts for cached input."
    )
    say("Nothing was asked. The whole first prompts: the same with --json, or -v.")


def _say_cell(cell: DryCell) -> None:
    tokens = cell.prompt.tokens
    parts = [cell.model, f"{cell.task}@{cell.workload}", cell.arch, cell.language, f"variant {cell.variant}"]
    parts += [f"{name} {value}" for name in ("pack", "arm", "guidance") if (value := getattr(cell, name))]
    say(colored(" · ".join(parts), "bold"))
    done = f", {cell.turns_done} of them done" if cell.turns_done else ""
    say(f"  {_trajectories(cell)}{done}, kept in {cell.folder}")
    say(f"  judged here by the {cell.backend} backend" + (f" on {cell.device}" if cell.device else ": nothing runs"))
    if cell.shown_for != cell.device:
        say(f"  the prompt speaks of {cell.shown_for} (--device ID: of another one)")
    ours = f", {cell.prompt.pack.tokens} of them the pack's" if cell.prompt.pack is not None else ""
    say(f"  first prompt: {'' if tokens.exact else 'about '}{tokens.tokens} tokens{ours} ({tokens.counted_by})")
    say(f"  cost: {_usd(cell.cost_usd)}" + (f" (prices of {cell.price.date}: {cell.price.source})" if cell.price else ""))
    if GLOBALS.verbose:
        for role, text in (("system", cell.prompt.system), ("user", cell.prompt.user)):
            say(f"  --- {role}")
            say("\n".join(f"  {line}" for line in text.splitlines()))


def _trajectories(planned: Rehearsal | DryCell) -> str:
    trajectories = "1 trajectory" if planned.trajectories == 1 else f"{planned.trajectories} trajectories"
    return f"{trajectories}, {counted(planned.turns, 'turn')}"


def _usd(cost: float | None) -> str:
    return "unknown (name prices with --prices)" if cost is None else f"about {cost:.2f} USD"
