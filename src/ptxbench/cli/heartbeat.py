"""A line now and then that a run still waits, and for what: where no live view shows it, silence looks like a hang."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

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
from ptxbench.agent.engine.places import Place

QUIET_S = 60.0
"""So long nothing was said before a line says that something is waited for."""


class Timer(Protocol):
    """A call that is to come."""

    def cancel(self) -> None:
        """Let it not come."""


class Timers(Protocol):
    """What a heartbeat needs of an event loop."""

    def time(self) -> float:
        """Return the seconds of a clock that only goes forward."""

    def call_later(self, delay: float, callback: Callable[[], None], /) -> Timer:
        """Call back in so many seconds."""


class Heartbeat:
    """Takes a run's events in its event loop, and says what is waited for when nothing was said for ``QUIET_S``."""

    def __init__(self, say: Callable[[str], None], *, timers: Callable[[], Timers] = asyncio.get_running_loop) -> None:
        """``say`` prints a line. ``timers`` gives the event loop, or a clock of a test's own."""
        self._say = say
        self._find = timers
        self._timers: Timers | None = None
        self._timer: Timer | None = None
        self._said_at = 0.0
        self._waits: dict[tuple[str, Place | None], tuple[str, float]] = {}
        """What each trajectory, or a run that has not begun, waits for, and since when."""
        self._planned = 0
        self._done = 0

    def take(self, run: str, event: Event) -> None:
        """Note an event of a run."""
        timers = self._timers = self._timers or self._find()
        now = timers.time()
        if isinstance(event, MeasuringReference):
            self._waits[run, None] = "library measurement", now
        elif isinstance(event, RunStarted):
            self._waits.pop((run, None), None)
            self._planned += event.planned
            self._done += event.done
        elif isinstance(event, Asking):
            self._waits[run, event.place] = "answer", now
        elif isinstance(event, Evaluating):
            self._waits[run, event.place] = "verdict", now
        elif isinstance(event, Answered | TurnFinished | TrajectoryEnded) or (isinstance(event, Incident) and event.final):
            self._waits.pop((run, event.place), None)
            self._done += isinstance(event, TurnFinished)
        if self._timer is None:
            self._said_at = now
            self._timer = timers.call_later(QUIET_S, self._beat)

    def said(self) -> None:
        """Note that a line was printed just now: the next quiet minute begins."""
        if self._timers is not None:
            self._said_at = self._timers.time()

    def close(self) -> None:
        """Say nothing more."""
        if self._timer is not None:
            self._timer.cancel()

    def _beat(self) -> None:
        assert self._timers is not None
        now = self._timers.time()
        left = self._said_at + QUIET_S - now
        if left <= 0:
            if self._waits:
                self._say(self._line(now))
            self._said_at, left = now, QUIET_S
        self._timer = self._timers.call_later(left, self._beat)

    def _line(self, now: float) -> str:
        parts = []
        for what in ("library measurement", "answer", "verdict"):
            since = [begun for waits_for, begun in self._waits.values() if waits_for == what]
            if since:
                longest = f"{'the longest ' if len(since) > 1 else ''}for {_span(now - min(since))}"
                parts.append(f"{len(since)} {what}{'s' if len(since) > 1 else ''} ({longest})")
        done = f"; {self._done} of {self._planned} turns done" if self._planned else ""
        return f"waiting for {' and '.join(parts)}{done}"


def _span(seconds: float) -> str:
    """Return a span of time in a few words: seconds below two minutes, then minutes."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
