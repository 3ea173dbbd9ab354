"""Progress of a run as lines on stderr."""

from __future__ import annotations

import sys

from ptxbench.agent.engine.events import (
    Answered,
    Asking,
    Evaluating,
    Event,
    Incident,
    MeasuringReference,
    RunStarted,
    TrajectoryEnded,
    TurnFinished,
)
from ptxbench.cli.console import GLOBALS, colored, progress
from ptxbench.core.durations import seconds_text
from ptxbench.schema import Outcome, TokenCount, Turn

MOST_CHARACTERS = 100
"""How much of a failure's message a line shows."""

NO_CODE = {
    "cut_off": "cut off",
    "refusal": "refused",
    "empty_reply": "empty",
    "empty_block": "empty code block",
    "only_other_labels": "no code block with the right label",
    "no_block": "no code block",
}
"""Why a reply holds no code, for people."""


def verdict_text(turn: Turn) -> str:
    """Return a turn's verdict in a few words."""
    if turn.outcome is None:
        return f"undecided ({turn.undecided})"
    text = str(turn.outcome)
    if turn.speedup is not None:
        text += f", speedup {turn.speedup:.3f}"
    if turn.proof is not None and turn.proof.status == "qualified":
        text += ", qualified"
    return text


def reason_text(turn: Turn) -> str | None:
    """Return in one bounded line why a reply held no code, or why a kernel did not load or run; None for other turns.

    The message of a failure is the candidate's claim: it is shown without paths of this machine and control characters.
    """
    said = turn.correct.reasons[-1:]  # What ended the turn stands last, behind breaches of rules that did not.
    if not said or turn.outcome not in (Outcome.NO_CODE, Outcome.RUNTIME_ERROR, Outcome.LOAD_ERROR):
        return None
    if turn.outcome is Outcome.NO_CODE:
        return NO_CODE.get(said[0], said[0])
    from ptxbench.agent.feedback.hiding import hide_paths
    from ptxbench.agent.templating import clip

    return clip(hide_paths(said[0].strip().partition("\n")[0]), MOST_CHARACTERS) or None


def event_line(run: str, event: Event) -> str | None:
    """Return the line that an event is worth, None when it is worth none. ``run`` names the run where there are several."""
    named = f"{run}: " if run else ""
    if isinstance(event, RunStarted):
        at = f" at {event.endpoint}" if event.endpoint else ""
        resumed = f", {event.done} of them done before" if event.done else ""
        return f"run {event.run}: {event.planned} {'turn' if event.planned == 1 else 'turns'} planned{at}{resumed}"
    if isinstance(event, MeasuringReference):
        return f"{named}{event.task}: measuring the library's latency, which the first request names"
    where = f"{named}{event.place.task} {event.place.trajectory}"
    if isinstance(event, Asking):
        return f"{where} turn {event.turn}: asking the model"
    if isinstance(event, Answered):
        return f"{where} turn {event.turn}: answered in {seconds_text(event.seconds)}, {_length(event.tokens)}"
    if isinstance(event, Evaluating):
        return f"{where} turn {event.turn}: evaluating the kernel" if GLOBALS.verbose else None
    if isinstance(event, TurnFinished):
        why = reason_text(event.turn)
        return f"{where} turn {event.turn.turn}: {verdict_text(event.turn)}{f' ({why})' if why else ''}"
    if isinstance(event, Incident):
        return f"{where} turn {event.turn}: {event.text} ({'given up' if event.final else 'trying again'})"
    return None if event.state == "finished" and event.reason is None else f"{where}: {event.state}: {event.reason}"


def _length(tokens: TokenCount) -> str:
    if tokens.output is None:
        return "tokens unknown"
    return f"{tokens.output} tokens" + (f" ({tokens.reasoning} of them reasoning)" if tokens.reasoning else "")


def show_event(event: Event, run: str = "") -> bool:
    """Print what a person watching a run wants to see; return whether there was anything."""
    line = event_line(run, event)
    if line is None:
        return False
    alarming = isinstance(event, Incident) or (isinstance(event, TrajectoryEnded) and event.state != "finished")
    progress(colored(line, "yellow", sys.stderr) if alarming else line)
    return True
