"""One run of a candidate under a tool: start, load, one request, and an orderly end, at which tools write their reports."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Protocol

from ptxbench.core.atomic import storage_error
from ptxbench.core.errors import DeviceMemoryFull, JudgeError
from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.claims import TensorPlace
from ptxbench.evaluate.sandbox.launch import Tool
from ptxbench.evaluate.tools.early import Go, NotStarted
from ptxbench.evaluate.tools.locate import SYSTEM_PATH
from ptxbench.schema import RunFailure
from ptxbench.toolchain.paths import spelled_out

MOST_TEXT = 400
_FOLDERS = re.compile(r"(?<![\w.:/])/(?:[\w.+@=-]+/)+")


class Start(Protocol):
    """Starts a fresh child of the candidate under a tool, slot 0 written; ``exact``: tensors in allocations of their own sizes."""

    def __call__(self, tool: Tool | None = None, exact: bool = False) -> AbstractContextManager[Child]:
        """Return the child as a context manager: leaving it ends the process."""


Request = Callable[[Child, float], Answer | RunFailure]
"""What is asked of the loaded candidate, within seconds."""


@dataclass(frozen=True)
class Ended:
    """How a run under a tool ended.

    Attributes:
        failure: how the candidate failed, None when it answered.
        status: exit status of the tool, negative for a signal; None when it did not end by itself.
        why: what of the tool failed, None when nothing did: then the report is worth reading.
        tensors: where the process said that arguments have allocations of exactly their sizes.
    """

    failure: RunFailure | None = None
    status: int | None = None
    why: str | None = None
    tensors: tuple[TensorPlace, ...] = ()


def run_under(tool: Tool, start: Start, request: Request, *, exact: bool, seconds: float, go: Go | None = None) -> Ended:
    """Run a candidate once under a tool, all within ``seconds``; the time that ``go`` waits does not count.

    A child that does not even start is the tool's fault here: it starts without a tool, or there would be nothing to look into.
    With ``go`` other processes may be at work meanwhile and to blame for that: it raises ``NotStarted``. Raises ``Abandoned`` when
    ``go`` does, the process ended.
    """
    deadline = time.monotonic() + seconds
    with ExitStack() as stack:
        try:
            child = stack.enter_context(start(tool, exact))
        except (JudgeError, DeviceMemoryFull) as error:
            if go is not None:
                raise NotStarted from error
            return Ended(why=in_one_line(f"the candidate's process does not start under it: {error.message}"))
        if go is not None:
            deadline += go()
        answer = child.load()
        if isinstance(answer, RunFailure):
            return Ended(failure=answer, why=f"the candidate does not load under it: {in_one_line(answer.text)}")
        answer = request(child, max(0.0, deadline - time.monotonic()))
        failure = answer if isinstance(answer, RunFailure) else None
        if failure is not None and failure.kind == "timeout":
            return Ended(failure=failure, why=f"it took longer than {seconds:g} s")
        status = child.finish(max(1.0, deadline - time.monotonic()))
        if status is None:
            return Ended(failure=failure, why=f"it did not end within {seconds:g} s")
        return Ended(failure=failure, status=status, tensors=child.tensors)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a folder for a tool's files and remove it. Raises ``StorageError`` when it cannot be made."""
    try:
        folder = TemporaryDirectory(prefix="ptxbench-tool-", ignore_cleanup_errors=True)
    except OSError as error:
        raise storage_error(error, Path(gettempdir())) from error
    with folder as name:
        yield Path(name)


def read_file(path: Path, most_bytes: int) -> bytes:
    """Return the first bytes of a regular file, whatever a candidate may have put in its place. Raises ``OSError``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        return stream.read(most_bytes)


def environment(scratch: Path) -> dict[str, str]:
    """Return what a tool needs in its environment: the system's programs, and a place of its own for its files."""
    return {"PATH": SYSTEM_PATH, "HOME": str(scratch), "TMPDIR": str(scratch)}


def in_one_line(text: str) -> str:
    """Return a tool's words fit for a record: one line, bounded, without folders of this machine."""
    return spelled_out(" ".join(_FOLDERS.sub("", text).split()))[:MOST_TEXT]
