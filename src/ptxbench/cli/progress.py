"""Progress of a run as lines on stderr."""

from __future__ import annotations

import sys

from ptxbench.agent.engine.events import Asking, Evaluating, Event, Incident, RunStarted, TrajectoryEnded, TurnFinished
from ptxbench.cli.console import GLOBALS, colored, progress
from ptxbench.schema import Turn


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


def show_event(event: Event) -> None:
    """Print what a person watching a run wants to see."""
    if isinstance(event, RunStarted):
        resumed = f", {event.done} of them done before" if event.done else ""
        progress(f"run {event.run}: {event.planned} turns planned{resumed}")
    elif isinstance(event, Asking):
        progress(f"{event.place.task} {event.place.trajectory} turn {event.turn}: asking the model")
    elif isinstance(event, Evaluating):
        if GLOBALS.verbose:
            progress(f"{event.place.task} {event.place.trajectory} turn {event.turn}: evaluating the kernel")
    elif isinstance(event, TurnFinished):
        place = event.place
        progress(f"{place.task} {place.trajectory} turn {event.turn.turn}: {verdict_text(event.turn)}")
    elif isinstance(event, Incident):
        again = "given up" if event.final else "trying again"
        progress(
            colored(f"{event.place.task} {event.place.trajectory} turn {event.turn}: {event.text} ({again})", "yellow", sys.stderr)
        )
    elif isinstance(event, TrajectoryEnded) and event.state != "finished":
        progress(colored(f"{event.place.task} {event.place.trajectory}: {event.state}: {event.reason}", "yellow", sys.stderr))
