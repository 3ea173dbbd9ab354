"""A run under a tool whose process starts before it is known whether it will be needed: tools take their time to start."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")

Go = Callable[[], float]
"""Asked when the process is ready, before the candidate is loaded: waits until it may be and returns the seconds that took.
Raises ``Abandoned`` when nobody wants the run any more."""


class Abandoned(Exception):
    """The run is not wanted."""


class NotStarted(Exception):
    """The process did not start, at a time when something else may have been to blame: it is worth another try later."""


class Early(Generic[T]):
    """Work that begins at once in a thread, and waits where it asks to go on until its result is wanted.

    A context manager: leaving it abandons work whose result nobody asked for, and waits for its end. That such work could not start
    is nobody's concern then; whatever else it raised is raised.
    """

    def __init__(self, work: Callable[[Go], T]) -> None:
        self._decided = threading.Event()
        self._wanted = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="early")
        self._running = self._thread.submit(work, self._go)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._decided.set()
        self._thread.shutdown()
        failed = None if self._wanted else self._running.exception()
        if failed is not None and not isinstance(failed, Abandoned | NotStarted):
            raise failed

    def result(self) -> T:
        """Let the work go on and return what it gives. Raises what it raises."""
        self._wanted = True
        self._decided.set()
        return self._running.result()

    def _go(self) -> float:
        began = time.monotonic()
        self._decided.wait()
        if not self._wanted:
            raise Abandoned
        return time.monotonic() - began
