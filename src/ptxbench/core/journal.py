"""Append-only journal: one JSON line per finished step, on disk before the next step begins."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ptxbench.core.atomic import storage_error, sync_folder
from ptxbench.core.canonical import canonical_json
from ptxbench.core.errors import StorageError, UsageError

MEND = "restore the file from a copy, or remove that line and all behind it: what they held is then done again"
"""What can be done about a damaged journal: each of its lines stands without those behind it."""


class Journal:
    """The single writer of one journal file.

    Opening takes an exclusive lock (a second writer gets a ``UsageError``) and cuts off a torn last line, which is all that a
    kill at any moment can leave behind. Every ``append`` is fsynced before it returns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._broken = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise storage_error(error, path) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise UsageError(
                f"another process is writing {path}", next_step="wait for that run to end, or choose another --out"
            ) from None
        except OSError as error:
            os.close(self._descriptor)
            raise storage_error(error, path) from error
        try:
            sync_folder(path.parent)
            self._cut_torn_line()
        except OSError as error:
            os.close(self._descriptor)
            raise storage_error(error, path) from error

    def _cut_torn_line(self) -> None:
        size = os.fstat(self._descriptor).st_size
        if size == 0:
            return
        data = self.path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end != size:
            os.ftruncate(self._descriptor, end)
            os.fsync(self._descriptor)

    def append(self, *entries: Any) -> None:
        """Write records (pydantic models or plain JSON objects), one line each, and fsync them together.

        Raises ``StorageError`` when that cannot be done; none of them is in the journal then.
        """
        if self._broken:
            raise StorageError(f"{self.path} could not be written before; nothing is added to it", next_step="run again to resume")
        lines = b"".join(canonical_json(entry) + b"\n" for entry in entries)
        start = os.fstat(self._descriptor).st_size
        try:
            written = 0
            while written < len(lines):
                written += os.write(self._descriptor, lines[written:])
            os.fsync(self._descriptor)
        except OSError as error:
            try:
                os.ftruncate(self._descriptor, start)
            except OSError:
                # What is torn stays the last of it, which the next opening cuts off.
                self._broken = True
            raise storage_error(error, self.path) from error

    def close(self) -> None:
        """Release the lock and the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the whole lines of a journal, oldest first; a torn last line is left out.

    Raises ``StorageError`` for a damaged line before the last, since that is no trace of a kill but of a broken file.
    """
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}", next_step="check the folder and its permissions") from error
    with stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise StorageError(f"{path}:{number} is not a JSON line: {error}", next_step=MEND) from error
            if not isinstance(entry, dict):
                raise StorageError(f"{path}:{number} is not a JSON object", next_step=MEND)
            yield entry
