"""A run whose process starts before it is wanted: it waits for that, and ends when nobody wants it."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from ptxbench.core.errors import DeviceMemoryFull, InfrastructureError
from ptxbench.core.settings import Settings
from ptxbench.evaluate.tools.early import Abandoned, Early, NotStarted
from ptxbench.evaluate.tools.sanitizer import memcheck
from ptxbench.schema import Limits

CLEAN = {"--save": str(Path(__file__).parent / "recorded" / "clean.xml")}
SOON = 30.0


@pytest.fixture
def started(start):
    """Return ``start``, the processes that it started so far, an event for the first, and those that were told to load."""
    children, loads, any_started = [], [], threading.Event()

    @contextmanager
    def begin(tool=None, exact=False):
        with start(tool, exact) as child:
            load = child.load

            def noted_load():
                loads.append(child)
                return load()

            child.load = noted_load
            children.append(child)
            any_started.set()
            yield child

    return begin, children, any_started, loads


def test_the_process_starts_at_once_and_the_result_is_the_same(started, stand_in):
    begin, children, any_started, loads = started
    settings = Settings(compute_sanitizer=stand_in(files=CLEAN))
    waiting, wanted = threading.Event(), threading.Event()

    def watched(go):
        def noted_go():
            waiting.set()
            assert wanted.wait(SOON) and not loads, "nothing is loaded before the run is wanted"
            return go()

        return memcheck(begin, Limits(sanitize_s=20), settings=settings, go=noted_go)

    with Early(watched) as early:
        assert any_started.wait(SOON) and waiting.wait(SOON)
        wanted.set()
        found = early.result()
    assert (found.status, found.why) == ("clean", None) and loads == children and len(children) == 1


def test_a_wait_takes_nothing_from_the_limit(started, stand_in):
    """The waiting is longer than the run may take, and counts neither against it nor as the run's own time."""
    begin, _, _, _ = started
    waited = 100.0
    settings = Settings(compute_sanitizer=stand_in(files=CLEAN))

    def go() -> float:
        return waited

    found = memcheck(begin, Limits(sanitize_s=20), settings=settings, go=go)
    assert found.status == "clean" and found.seconds is not None and found.seconds < 20 - waited


def test_a_run_that_nobody_wants_ends_without_loading_the_candidate(started, stand_in):
    begin, children, any_started, loads = started
    settings = Settings(compute_sanitizer=stand_in(files=CLEAN))
    ended: list[BaseException] = []

    def work(go):
        try:
            return memcheck(begin, Limits(sanitize_s=20), settings=settings, go=go)
        except Abandoned as error:
            ended.append(error)
            raise

    with Early(work):
        assert any_started.wait(SOON)
    assert len(ended) == 1 and len(children) == 1 and not loads
    with pytest.raises(ProcessLookupError):
        os.kill(children[0].pid, 0)


def test_what_the_work_raises_is_raised_where_the_result_is_wanted():
    def work(go):
        go()
        raise InfrastructureError("no room for the report")

    with Early(work) as early, pytest.raises(InfrastructureError, match="no room"):
        early.result()


def test_a_failure_that_nobody_asked_for_is_raised_too():
    def work(go):
        raise InfrastructureError("a process did not end")

    with pytest.raises(InfrastructureError, match="did not end"), Early(work):
        pass


def test_a_process_that_does_not_start_early_is_worth_another_try(stand_in):
    """What kept it from starting may be at an end when it is wanted."""

    def no_room(tool=None, exact=False):
        raise DeviceMemoryFull("another process has taken it all")

    settings = Settings(compute_sanitizer=stand_in(files=CLEAN))
    with (
        Early(lambda go: memcheck(no_room, Limits(sanitize_s=20), settings=settings, go=go)) as early,
        pytest.raises(NotStarted),
    ):
        early.result()
    with Early(lambda go: memcheck(no_room, Limits(sanitize_s=20), settings=settings, go=go)):
        pass
    assert memcheck(no_room, Limits(sanitize_s=20), settings=settings).status == "unknown"
