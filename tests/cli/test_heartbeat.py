"""A run that waits says so, at most once a minute and only when nothing else was said: by a clock that the test moves."""

from __future__ import annotations

import asyncio

import pytest

from ptxbench.agent.engine.events import (
    Answered,
    Asking,
    Evaluating,
    Incident,
    MeasuringReference,
    RunStarted,
    TrajectoryEnded,
    TurnFinished,
)
from ptxbench.agent.engine.places import Place
from ptxbench.agent.spending import Caps
from ptxbench.cli.heartbeat import Heartbeat
from ptxbench.cli.live import watching
from ptxbench.schema import TokenCount

START = RunStarted(run="r", planned=8, done=1, trajectories=2)


def place(number):
    return Place(task="t", workload="w", arch="cpu", variant="plain", number=number)


class Clock:
    """Timers that ring when a test moves the time on."""

    def __init__(self):
        self.now, self.timers = 1000.0, []

    def time(self):
        return self.now

    def call_later(self, delay, callback):
        timer = Timer(self.now + delay, callback)
        self.timers.append(timer)
        return timer

    def move(self, seconds):
        end = self.now + seconds
        while due := [timer for timer in self.timers if timer.at <= end]:
            timer = min(due, key=lambda one: one.at)
            self.timers.remove(timer)
            self.now = max(self.now, timer.at)
            if not timer.cancelled:
                timer.callback()
        self.now = end


class Timer:
    def __init__(self, at, callback):
        self.at, self.callback, self.cancelled = at, callback, False

    def cancel(self):
        self.cancelled = True


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def said():
    return []


@pytest.fixture
def heartbeat(clock, said):
    made = Heartbeat(said.append, timers=lambda: clock)
    made.take("", START)
    return made


def test_what_is_waited_for_is_said_each_quiet_minute(heartbeat, clock, said):
    heartbeat.take("", Asking(place(0), 1))
    clock.move(59)
    assert said == []
    clock.move(2)
    assert said == ["waiting for 1 answer (for 60 s); 1 of 8 turns done"]
    clock.move(180)
    assert said[1:] == [f"waiting for 1 answer (for {span}); 1 of 8 turns done" for span in ("2 min", "3 min", "4 min")]


def test_each_kind_of_waiting_is_counted_with_its_longest(heartbeat, clock, said):
    heartbeat.take("a", Asking(place(0), 1))
    clock.move(30)
    heartbeat.take("b", Asking(place(0), 1))
    heartbeat.take("b", Evaluating(place(1), 0))
    clock.move(30)
    assert said == ["waiting for 2 answers (the longest for 60 s) and 1 verdict (for 30 s); 1 of 8 turns done"]


def test_a_line_of_the_run_begins_a_new_minute(heartbeat, clock, said):
    heartbeat.take("", Asking(place(0), 1))
    for _ in range(10):
        clock.move(50)
        heartbeat.said()
    assert said == []
    clock.move(60)
    assert said == ["waiting for 1 answer (for 9 min); 1 of 8 turns done"]


@pytest.mark.parametrize(
    "end",
    [
        Answered(place(0), 1, 2.0, TokenCount()),
        Incident(place(0), 1, "down", final=True),
        TrajectoryEnded(place(0), "incomplete", "down"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_has_come_is_no_longer_waited_for(heartbeat, clock, said, end):
    heartbeat.take("", Asking(place(0), 1))
    heartbeat.take("", end)
    clock.move(600)
    assert said == []


def test_a_request_that_is_made_again_is_still_waited_for(heartbeat, clock, said):
    heartbeat.take("", Asking(place(0), 1))
    heartbeat.take("", Incident(place(0), 1, "HTTP 503", final=False))
    clock.move(60)
    assert said == ["waiting for 1 answer (for 60 s); 1 of 8 turns done"]


def test_finished_turns_are_counted(heartbeat, clock, said):
    heartbeat.take("", TurnFinished(place(0), None))
    heartbeat.take("", Asking(place(0), 1))
    clock.move(60)
    assert said == ["waiting for 1 answer (for 60 s); 2 of 8 turns done"]


def test_a_measurement_before_the_first_request_is_waited_for_as_well(clock, said):
    made = Heartbeat(said.append, timers=lambda: clock)
    made.take("", MeasuringReference("t"))
    clock.move(60)
    made.take("", START)
    clock.move(60)
    assert said == ["waiting for 1 library measurement (for 60 s)"]


def test_nothing_is_said_after_the_end(heartbeat, clock, said):
    heartbeat.take("", Asking(place(0), 1))
    heartbeat.close()
    clock.move(600)
    assert said == []


class MovedLoop(asyncio.SelectorEventLoop):
    """A real event loop whose clock a test moves on."""

    moved = 0.0

    def time(self):
        return super().time() + self.moved


@pytest.mark.parametrize(("quiet", "lines"), [(False, 3), (True, 0)])
def test_off_a_terminal_a_run_says_what_it_waits_for_unless_it_is_to_be_quiet(capsys, quiet, lines):
    async def wait():
        with watching("runs/r", Caps(), quiet=quiet) as watch:
            watch("", START)
            watch("", Asking(place(0), 1))
            asyncio.get_running_loop().moved = 61.0
            for _ in range(3):
                await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=MovedLoop) as runner:
        runner.run(wait())
    out, told = capsys.readouterr()
    assert out == "" and len(told.splitlines()) == lines
    assert quiet or told.splitlines()[-1].startswith("waiting for 1 answer (for ")
