"""What happens to the files of one folder, told by the kernel as it happens (``inotify(7)``; numbers of ``linux/inotify.h``)."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from types import TracebackType
from typing import Self

_WRITTEN, _CLOSED_AFTER_WRITING, _MOVED_IN = 0x002, 0x008, 0x080
_ONLY_A_FOLDER, _NO_LINK = 0x01000000, 0x02000000
_ROOM, _MOST_READS = 1 << 16, 16
"""A read takes more than a thousand events; who makes them faster than they are taken shall not hold the reader."""


class FolderEvents:
    """A descriptor that can be read once a file of the folder was written to, was closed by who did that, or was moved there.

    A context manager. Raises ``OSError`` where the kernel has no watch to give.
    """

    def __init__(self, folder: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise _last_error()
        wanted = _WRITTEN | _CLOSED_AFTER_WRITING | _MOVED_IN | _ONLY_A_FOLDER | _NO_LINK
        if libc.inotify_add_watch(self._descriptor, os.fsencode(folder), wanted) < 0:
            error = _last_error()
            self.close()
            raise error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def fileno(self) -> int:
        """Return the descriptor, to wait for."""
        return self._descriptor

    def forget(self) -> None:
        """Take the events that are there. What they say is not looked at: the files are."""
        try:
            for _ in range(_MOST_READS):
                os.read(self._descriptor, _ROOM)
        except BlockingIOError:
            return

    def close(self) -> None:
        """Close the descriptor."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _last_error() -> OSError:
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code))
