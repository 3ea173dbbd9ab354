"""Ctrl-C while a coroutine runs: it is cancelled once, and ends in peace."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 15.0
"""How long ending may take before a further Ctrl-C is an order to leave everything as it is."""


def run_interruptible(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as ``asyncio.run`` does, but that a second Ctrl-C does not disturb what the first one began.

    The first cancels the coroutine, which ends its processes and keeps what was paid for, and raises ``KeyboardInterrupt`` when
    that is done. ``asyncio.run`` would answer the second by a ``KeyboardInterrupt`` in the midst of that. Where Ctrl-C is somebody
    else's affair (another thread, another handler) this is ``asyncio.run``. After ``PATIENCE_SECONDS`` a further one ends it.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return asyncio.run(main)
    interrupted: float | None = None
    task: asyncio.Task[T] | None = None

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted is None:
            interrupted = time.monotonic()
            if task is not None:
                task.get_loop().call_soon_threadsafe(task.cancel)
        elif time.monotonic() - interrupted >= PATIENCE_SECONDS:
            raise KeyboardInterrupt

    async def begun() -> T:
        nonlocal task
        task = asyncio.ensure_future(main)
        if interrupted is not None:
            task.cancel()
        return await task

    # A Runner takes care of Ctrl-C only where nobody else does.
    signal.signal(signal.SIGINT, interrupt)
    try:
        with asyncio.Runner() as runner:
            return runner.run(begun())
    except asyncio.CancelledError:
        if interrupted is not None:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
