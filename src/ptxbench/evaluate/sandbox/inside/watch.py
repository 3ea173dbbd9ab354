"""Death with the judge where another process stands between: a tool, which is this process's parent and ends when this one does."""

from __future__ import annotations

import os
import select
import threading

SIGKILL = 9


def end_with(judge: int) -> None:
    """Kill this process as soon as the judge's process has ended."""
    try:
        descriptor = os.pidfd_open(judge)
    except ProcessLookupError:
        os._exit(0)
    threading.Thread(target=_wait, args=(descriptor,), daemon=True).start()


def _wait(descriptor: int) -> None:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    waiting.poll()
    os.kill(os.getpid(), SIGKILL)
