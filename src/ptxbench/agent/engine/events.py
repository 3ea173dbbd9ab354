"""What a run reports while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ptxbench.agent.engine.places import Place
from ptxbench.schema import TokenCount, Turn

TrajectoryState = Literal["finished", "not_reached", "incomplete", "paused"]
"""All turns made; ended by the model's context window; stopped by a fault that is not the candidate's; held by a cap."""


@dataclass(frozen=True)
class MeasuringReference:
    """The library's latency is measured, which the first request for a task names: nothing was asked before."""

    task: str


@dataclass(frozen=True)
class RunStarted:
    """The run begins or resumes: ``done`` of ``planned`` turns are in the journal already."""

    run: str
    planned: int
    done: int
    trajectories: int = 0
    """How many trajectories are planned."""
    past: tuple[Turn, ...] = ()
    """The rows of the turns that are done."""
    endpoint: str | None = None
    """The public address that the model is asked at, where one was named."""


@dataclass(frozen=True)
class Asking:
    """The model is asked for a turn's reply."""

    place: Place
    turn: int


@dataclass(frozen=True)
class Answered:
    """The model's reply is in the journal."""

    place: Place
    turn: int
    seconds: float
    """From the request to the whole reply, tries of the same request included."""
    tokens: TokenCount
    """As far as the endpoint says."""


@dataclass(frozen=True)
class Evaluating:
    """A turn's candidate is evaluated."""

    place: Place
    turn: int


@dataclass(frozen=True)
class TurnFinished:
    """A turn is in the journal."""

    place: Place
    turn: Turn


@dataclass(frozen=True)
class Incident:
    """Something that is not the candidate's fault failed; it is tried again unless ``final``.

    Requests that a model's client tries again by itself are told as well; the journal has only those that it gave up.
    """

    place: Place
    turn: int
    text: str
    final: bool


@dataclass(frozen=True)
class TrajectoryEnded:
    """A trajectory has come to its end."""

    place: Place
    state: TrajectoryState
    reason: str | None


Event = MeasuringReference | RunStarted | Asking | Answered | Evaluating | TurnFinished | Incident | TrajectoryEnded
Progress = Callable[[Event], None]
