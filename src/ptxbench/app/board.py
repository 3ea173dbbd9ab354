"""The state of a run as its events tell it: what a live view shows, without a terminal."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from ptxbench.agent.engine.events import Asking, Evaluating, Event, Incident, RunStarted, TrajectoryEnded, TurnFinished
from ptxbench.agent.engine.places import Place
from ptxbench.schema import Turn
from ptxbench.schema.pace import NO_JUDGE_STAGES


@dataclass(frozen=True)
class BestTurn:
    """The fastest trusted turn of a run and task."""

    speedup: float
    qualified: bool
    trajectory: str
    turn: int


@dataclass(frozen=True)
class Snapshot:
    """The board at one moment. ``states`` counts trajectories, ``outcomes`` turns, those of earlier calls too."""

    planned: int
    done: int
    done_before: int
    states: dict[str, int]
    outcomes: dict[str, int]
    best: dict[tuple[str, str], BestTurn]
    """By run and task."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None as soon as one turn's is unknown."""
    judge_s: float
    devices: tuple[str, ...]
    """Where kernels were judged, as the device table names it."""
    asking: int
    evaluating: int
    incidents: int
    last: str
    seconds: float


@dataclass
class Board:
    """Takes events of any number of runs, from one thread, and is read from another."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _started: float = field(default_factory=time.monotonic)
    _planned: int = 0
    _trajectories: int = 0
    _before: int = 0
    _states: dict[tuple[str, Place], str] = field(default_factory=dict)
    _outcomes: Counter[str] = field(default_factory=Counter)
    _best: dict[tuple[str, str], BestTurn] = field(default_factory=dict)
    _input: int = 0
    _output: int = 0
    _cost: float = 0.0
    _unpriced: int = 0
    _judge_s: float = 0.0
    _devices: dict[str, None] = field(default_factory=dict)
    _incidents: int = 0
    _last: str = ""

    def take(self, run: str, event: Event) -> None:
        """Note an event of a run."""
        with self._lock:
            if isinstance(event, RunStarted):
                self._planned += event.planned
                self._trajectories += event.trajectories
                self._before += event.done
                for row in event.past:
                    self._count(run, row)
            elif isinstance(event, Asking):
                self._states[run, event.place] = "asking"
            elif isinstance(event, Evaluating):
                self._states[run, event.place] = "evaluating"
            elif isinstance(event, TurnFinished):
                self._states[run, event.place] = "waiting"
                self._count(run, event.turn)
            elif isinstance(event, TrajectoryEnded):
                self._states[run, event.place] = event.state
            elif isinstance(event, Incident):
                self._incidents += 1
                self._last = f"{event.place.task} {event.place.trajectory} turn {event.turn}: {event.text}"

    def snapshot(self) -> Snapshot:
        """Return the state of now."""
        with self._lock:
            states = Counter(self._states.values())
            waiting = states.pop("waiting", 0) + max(0, self._trajectories - len(self._states))
            return Snapshot(
                planned=self._planned,
                done=self._outcomes.total(),
                done_before=self._before,
                states={"waiting": waiting, **states} if waiting else dict(states),
                outcomes=dict(self._outcomes.most_common()),
                best=dict(self._best),
                input_tokens=self._input,
                output_tokens=self._output,
                cost_usd=None if self._unpriced else self._cost,
                judge_s=self._judge_s,
                devices=tuple(self._devices),
                asking=states["asking"],
                evaluating=states["evaluating"],
                incidents=self._incidents,
                last=self._last,
                seconds=time.monotonic() - self._started,
            )

    def _count(self, run: str, row: Turn) -> None:
        self._outcomes["undecided" if row.outcome is None else row.outcome.value] += 1
        self._input += row.tokens.input or 0
        self._output += row.tokens.output or 0
        self._unpriced += row.cost_usd is None
        self._cost += row.cost_usd or 0.0
        spent = (value for stage, value in row.seconds.items() if stage not in NO_JUDGE_STAGES and value is not None)
        self._judge_s += math.fsum(spent)
        if row.key.device is not None:
            self._devices[row.key.device] = None
        speedup = row.trusted_speedup
        known = self._best.get((run, row.key.task))
        if speedup is not None and (known is None or speedup > known.speedup):
            qualified = row.proof is not None and row.proof.status == "qualified"
            self._best[run, row.key.task] = BestTurn(speedup, qualified, row.trajectory, row.turn)
