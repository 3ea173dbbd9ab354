"""GPU core dumps of a process that hangs: the CUDA driver writes one when a byte comes through a pipe that it made.

Variables and flags as in the CUDA-GDB manual, "GPU core dump support". What memory holds is left out: where threads stand is
enough, and the dump stays small. The driver starts a helper to write it, so the process must be free to start others; it needs no
rights, and no debugger attaches to it.
"""

from __future__ import annotations

import os
import select
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ptxbench.evaluate.sandbox.launch import Tool
from ptxbench.evaluate.tools.folder_events import FolderEvents
from ptxbench.evaluate.tools.under import read_file, scratch_folder

MOST_BYTES = 64 << 20
"""Size of a dump that is read: what a candidate's process may write to a file (protocol section 8)."""
LEFT_OUT = (
    "skip_nonrelocated_elf_images", "skip_global_memory", "skip_shared_memory", "skip_local_memory", "skip_constbank_memory",
    "skip_abort",
)  # fmt: skip
_PIPE, _CORE = "pipe", "core"
_HEADER = struct.Struct("<16s HHI QQQ I HHHHHH")
"""An ELF header of 64 bits."""


class CoreDump:
    """What makes a process write a dump of its GPU's state, and where."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def tool(self) -> Tool:
        """How a child must be started for that."""
        settings = {
            "CUDA_ENABLE_USER_TRIGGERED_COREDUMP": "1",
            "CUDA_COREDUMP_PIPE": str(self._folder / _PIPE),
            "CUDA_COREDUMP_FILE": str(self._folder / _CORE),
            "CUDA_COREDUMP_GENERATION_FLAGS": ",".join(LEFT_OUT),
            "TMPDIR": str(self._folder),
        }
        return Tool((), settings, sandbox="dump")

    def take(self, process: int, seconds: float) -> bytes | None:
        """Ask for the dump, wait until it is whole, and return it; None when there is none.

        The wait ends with a whole dump, with the end of the process (a child of ours that is not reaped yet), or after ``seconds``.
        """
        deadline = time.monotonic() + seconds
        try:
            with os.fdopen(os.pidfd_open(process), "rb") as ends, FolderEvents(self._folder) as events:
                return self._wait(events, ends.fileno(), deadline) if self._ask() else None
        except OSError:  # no watch to be had: an explanation less, and no verdict changes
            return None

    def _wait(self, events: FolderEvents, pidfd: int, deadline: float) -> bytes | None:
        waiting = select.poll()
        waiting.register(events, select.POLLIN)
        waiting.register(pidfd, select.POLLIN)
        while True:
            events.forget()
            found = self._found()
            left = deadline - time.monotonic()
            if found is not None or left <= 0:
                return found
            if any(descriptor == pidfd for descriptor, _ in waiting.poll(left * 1000)):
                return self._found()

    def _found(self) -> bytes | None:
        try:
            found = read_file(self._folder / _CORE, MOST_BYTES)
        except OSError:  # not yet there, or no file
            return None
        return found if _is_whole(found) else None

    def _ask(self) -> bool:
        try:
            pipe = os.open(self._folder / _PIPE, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:  # the driver made none, or nobody reads it
            return False
        try:
            # Whatever lies there may be the candidate's: a byte is written to nobody's file.
            return stat.S_ISFIFO(os.fstat(pipe).st_mode) and os.write(pipe, b"1") == 1
        except OSError:
            return False
        finally:
            os.close(pipe)


@contextmanager
def core_dump() -> Iterator[CoreDump]:
    """Yield a place for the dump of one process, and remove it. Raises ``StorageError``."""
    with scratch_folder() as folder:
        inner = folder / "dump"
        inner.mkdir()
        if os.geteuid() == 0:
            # The process gives up root before its driver starts, and becomes a user that nobody knows beforehand.
            folder.chmod(0o711)
            inner.chmod(0o777)
        yield CoreDump(inner)


def _is_whole(dump: bytes) -> bool:
    """Whether a file is an ELF with all of its section table, which is its end."""
    if len(dump) < _HEADER.size or not dump.startswith(b"\x7fELF"):
        return False
    header = _HEADER.unpack_from(dump)
    sections, size, count = header[6], header[11], header[12]
    return bool(sections > 0 and len(dump) >= sections + size * count)
