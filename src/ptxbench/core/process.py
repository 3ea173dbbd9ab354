"""Run a tool to its end within limits: its own process group, bounded output, nothing left behind."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.bounded import BoundedOutput
from ptxbench.core.errors import Cancelled, InfrastructureError, ToolMissing

HARD_CPU_SECONDS = 10
"""CPU seconds past the limit until the kernel kills: at the limit itself it says SIGXCPU, which nothing else sends."""
DRAIN_SECONDS = 2.0
"""How long what an ended tool left in its pipes is read: a grandchild may go on printing for ever."""
LONGEST_WAIT_SECONDS = 0.5
"""How long a cancelled run may go unnoticed."""


@dataclass(frozen=True)
class ProcessLimits:
    """Limits of one tool run. ``None`` means not limited.

    Attributes:
        wall_seconds: real time before the group is killed.
        cpu_seconds: CPU time of each process.
        memory_bytes: address space of each process.
        file_bytes: size of any one file that it writes.
        output_bytes: how much of each output stream is kept (head and tail).
    """

    wall_seconds: float
    cpu_seconds: int | None = None
    memory_bytes: int | None = None
    file_bytes: int | None = None
    output_bytes: int = 1 << 20


@dataclass(frozen=True)
class Completed:
    """How a tool run ended. ``returncode`` is negative for a signal, as in ``subprocess``."""

    returncode: int
    timed_out: bool
    stdout: str
    stderr: str
    dropped_bytes: int
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the tool ended by itself with status 0."""
        return self.returncode == 0 and not self.timed_out


def _limited(argv: Sequence[str], limits: ProcessLimits) -> list[str]:
    """Wrap a command in the shell that sets its limits: ``preexec_fn`` is not safe in a process with threads.

    A limit that cannot be set is above one that binds already, which then stays: that is no failure of the tool.
    """
    steps = []
    if limits.cpu_seconds is not None:
        steps += [f"ulimit -S -t {limits.cpu_seconds}", f"ulimit -H -t {limits.cpu_seconds + HARD_CPU_SECONDS}"]
    if limits.memory_bytes is not None:
        steps.append(f"ulimit -v {limits.memory_bytes // 1024}")
    if limits.file_bytes is not None:
        steps.append(f"ulimit -f {limits.file_bytes // 512}")
    if not steps:
        return list(argv)
    return ["/bin/sh", "-c", "".join(f"{step} 2>/dev/null || :\n" for step in steps) + 'exec "$@"', "sh", *argv]


def run_tool(
    argv: Sequence[str],
    *,
    limits: ProcessLimits,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: bytes = b"",
    cancel: threading.Event | None = None,
) -> Completed:
    """Run a command to its end and return how it ended.

    The command gets exactly ``env``, its own session and process group; on a time-out the whole group is killed. Both streams
    are drained all the time, and only their head and tail are kept. Raises ``ToolMissing`` when it cannot be started, and
    ``Cancelled`` soon after ``cancel`` is set.
    """
    started = time.monotonic()
    command = _limited(argv, limits)
    if command[0] != argv[0] and _is_missing(argv[0], env, cwd):
        # The shell that sets the limits would say it in its own words, as if the tool had failed.
        raise ToolMissing(f"cannot start {argv[0]}: no such program", tool=argv[0])
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise ToolMissing(f"cannot start {argv[0]}: no such file", tool=argv[0]) from error
    except PermissionError as error:
        raise ToolMissing(f"cannot start {argv[0]}: permission denied", tool=argv[0]) from error
    except OSError as error:
        raise InfrastructureError(f"cannot start {argv[0]}: {error.strerror}") from error
    out, err = BoundedOutput(limits.output_bytes), BoundedOutput(limits.output_bytes)
    try:
        ended = _pump(process, out, err, stdin, started + limits.wall_seconds, cancel)
    finally:
        # The group is killed before its leader is reaped: until then nobody else can have its number.
        kill_group(process)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()
    return Completed(
        returncode=process.returncode,
        timed_out=not ended,
        stdout=out.text(),
        stderr=err.text(),
        dropped_bytes=out.dropped_bytes + err.dropped_bytes,
        seconds=time.monotonic() - started,
    )


def _is_missing(program: str, env: Mapping[str, str], cwd: Path | None) -> bool:
    where = str((cwd or Path()) / program) if os.sep in program else program
    return shutil.which(where, path=env.get("PATH", os.defpath)) is None


def _pump(
    process: subprocess.Popen[bytes],
    out: BoundedOutput,
    err: BoundedOutput,
    stdin: bytes,
    deadline: float,
    cancel: threading.Event | None,
) -> bool:
    """Feed and drain the pipes until the process has ended (return True) or the deadline has passed (return False).

    A grandchild that still holds a pipe open when the process ends does not keep anybody here.
    """
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    pending = memoryview(stdin)
    drained: float | None = None
    pidfd = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(pidfd, selectors.EVENT_READ, "end")
            selector.register(process.stdout, selectors.EVENT_READ, out)
            selector.register(process.stderr, selectors.EVENT_READ, err)
            if pending:
                os.set_blocking(process.stdin.fileno(), False)
                selector.register(process.stdin, selectors.EVENT_WRITE, "stdin")
            else:
                process.stdin.close()
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                if cancel is not None and cancel.is_set():
                    raise Cancelled("the run of a tool was cancelled")
                ready = selector.select(timeout=min(left, LONGEST_WAIT_SECONDS))
                for key, _ in ready:
                    if isinstance(key.data, BoundedOutput):
                        _read(selector, key)
                    elif key.data == "stdin":
                        pending = _write(selector, process, pending)
                if any(key.data == "end" for key, _ in ready):
                    drained = drained or time.monotonic() + DRAIN_SECONDS
                    if time.monotonic() >= drained or not any(isinstance(key.data, BoundedOutput) for key, _ in ready):
                        return True
    finally:
        os.close(pidfd)


def _read(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    data = os.read(key.fd, 1 << 16)
    if data:
        key.data.feed(data)
    else:
        selector.unregister(key.fileobj)


def _write(selector: selectors.BaseSelector, process: subprocess.Popen[bytes], pending: memoryview) -> memoryview:
    """Write what the pipe takes and return the rest; close the pipe when all is written or nobody reads."""
    assert process.stdin is not None
    try:
        rest = pending[os.write(process.stdin.fileno(), pending) :]
    except BlockingIOError:
        return pending
    except BrokenPipeError:
        rest = pending[:0]
    if not rest:
        selector.unregister(process.stdin)
        process.stdin.close()
    return rest


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill every process of the group that ``process`` leads; a group that is gone already is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
