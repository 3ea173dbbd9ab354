"""Run a tool to its end within limits: its own process group, bounded output, nothing left behind."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.bounded import BoundedOutput
from ptxbench.core.errors import InfrastructureError, ToolMissing

KILL_GRACE_SECONDS = 5.0
"""How long to wait for a killed group's pipes to close before they are abandoned."""


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
    """Wrap a command in the shell that sets its limits: ``preexec_fn`` is not safe in a process with threads."""
    steps = []
    if limits.cpu_seconds is not None:
        steps.append(f"ulimit -t {limits.cpu_seconds}")
    if limits.memory_bytes is not None:
        steps.append(f"ulimit -v {limits.memory_bytes // 1024}")
    if limits.file_bytes is not None:
        steps.append(f"ulimit -f {limits.file_bytes // 512}")
    if not steps:
        return list(argv)
    return ["/bin/sh", "-c", " && ".join(steps) + ' && exec "$@"', "sh", *argv]


def run_tool(
    argv: Sequence[str], *, limits: ProcessLimits, env: Mapping[str, str], cwd: Path | None = None, stdin: bytes = b""
) -> Completed:
    """Run a command to its end and return how it ended.

    The command gets exactly ``env``, its own session and process group; on a time-out the whole group is killed. Both streams
    are drained all the time, and only their head and tail are kept. Raises ``ToolMissing`` when it cannot be started.
    """
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            _limited(argv, limits),
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
    timed_out = False
    try:
        timed_out = _pump(process, out, err, stdin, started + limits.wall_seconds)
    finally:
        kill_group(process)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()
    return Completed(
        returncode=process.returncode,
        timed_out=timed_out,
        stdout=out.text(),
        stderr=err.text(),
        dropped_bytes=out.dropped_bytes + err.dropped_bytes,
        seconds=time.monotonic() - started,
    )


def _pump(process: subprocess.Popen[bytes], out: BoundedOutput, err: BoundedOutput, stdin: bytes, deadline: float) -> bool:
    """Feed and drain the process's pipes until it has ended or the deadline passed; return whether it passed."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, out)
        selector.register(process.stderr, selectors.EVENT_READ, err)
        pending = memoryview(stdin)
        if pending:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin, selectors.EVENT_WRITE, None)
        else:
            process.stdin.close()
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return True
            for key, _ in selector.select(timeout=min(left, 0.5)):
                if key.data is None:
                    try:
                        pending = pending[os.write(key.fd, pending) :]
                    except BlockingIOError:
                        continue
                    except BrokenPipeError:
                        pending = pending[:0]
                    if not pending:
                        selector.unregister(process.stdin)
                        process.stdin.close()
                    continue
                data = os.read(key.fd, 1 << 16)
                if data:
                    key.data.feed(data)
                else:
                    selector.unregister(key.fileobj)
            if process.poll() is not None and not _readable(selector):
                # The tool ended; a grandchild that still holds a pipe open must not keep us here.
                return False
    try:
        process.wait(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return True
    return False


def _readable(selector: selectors.BaseSelector) -> bool:
    return bool(selector.select(timeout=0.05))


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill every process of the group that ``process`` leads; a group that is gone already is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
