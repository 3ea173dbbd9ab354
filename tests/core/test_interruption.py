"""Ctrl-C while a coroutine runs."""

from __future__ import annotations

import asyncio
import signal

import pytest

from ptxbench.core import interruption
from ptxbench.core.interruption import run_interruptible


def test_a_second_ctrl_c_does_not_disturb_what_the_first_began():
    ended = []

    async def work() -> None:
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
                await asyncio.to_thread(ended.append, "in a thread")

    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work())
    assert ended == ["in a thread"] * 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ending_that_takes_too_long_can_be_left(monkeypatch):
    monkeypatch.setattr(interruption, "PATIENCE_SECONDS", 0.0)
    reached = []

    async def work() -> None:
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work())
    assert reached == []


def test_a_result_and_an_error_come_through():
    async def answer() -> int:
        return 7

    async def fail() -> int:
        raise ValueError("of its own")

    assert run_interruptible(answer()) == 7
    with pytest.raises(ValueError, match="of its own"):
        run_interruptible(fail())


def test_a_cancellation_that_nobody_asked_for_by_ctrl_c_is_none():
    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_interruptible(cancelled())


def test_who_handles_ctrl_c_otherwise_keeps_it():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:

        async def work() -> str:
            signal.raise_signal(signal.SIGINT)
            return "done"

        assert run_interruptible(work()) == "done" and heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)
