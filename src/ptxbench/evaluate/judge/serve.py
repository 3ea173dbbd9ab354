"""The judge process: reads requests from its channel, one JSON line each, and answers with lines until the channel closes."""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from ptxbench.core.errors import PtxbenchError, ToolMissing
from ptxbench.core.extras import how_to_install
from ptxbench.evaluate.findings import Findings
from ptxbench.evaluate.judge.request import LINE_BYTES, Reply, Request

Announce = Callable[[str, float], None]
Bench = Callable[[Request, Announce], Findings]
"""What evaluates requests, with all that it holds between them."""

HELD_BYTES = 1 << 30
DEVICE_SECONDS = 240.0
"""How long importing torch and waking a GPU may take."""
PR_SET_CHILD_SUBREAPER = 36


def main(descriptor: int, kind: str) -> None:
    """Serve one owner on a ``cpu`` or ``gpu`` bench; when it is gone, end at once, and the child with us."""
    become_subreaper()
    with socket.socket(fileno=descriptor) as channel:
        requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(channel, requests), daemon=True).start()
        judge = Judge(channel, gpu_bench if kind == "gpu" else cpu_bench)
        _send(channel, Reply(kind="ready"))
        while True:
            reply = judge.answer(requests.get())
            end_strays()  # before the answer: who has it may hang up, and that ends this process at once
            _send(channel, reply)


def cpu_bench() -> Bench:
    """Return the bench of the host's processor."""
    from ptxbench.evaluate.judge.evaluation import evaluate
    from ptxbench.evaluate.judge.held import Holdings

    holdings = Holdings(HELD_BYTES)
    return lambda request, announce: evaluate(request, holdings, announce)


def gpu_bench() -> Bench:
    """Return the bench of the first visible GPU. Raises ``ToolMissing`` without torch, ``NoGpu`` when torch sees none."""
    try:
        import torch  # noqa: F401 (its absence has a name of its own)
    except ImportError as error:
        raise ToolMissing(f"torch cannot be imported: {error}", next_step=how_to_install("gpu"), tool="torch") from error
    from ptxbench.evaluate.device.bench import GpuBench

    return GpuBench().evaluate


class Judge:
    """Answers requests at a bench, which is made when the first one comes: what it lacks is then that request's fault line."""

    def __init__(self, channel: socket.socket, make: Callable[[], Bench]) -> None:
        self._channel = channel
        self._make = make
        self._bench: Bench | None = None

    def answer(self, line: bytes) -> Reply:
        """Evaluate one request. An error of ours becomes a ``fault``; a bug ends the process, and its owner sees that."""
        try:
            if self._bench is None:
                self._announce("start", DEVICE_SECONDS)
                self._bench = self._make()
            return Reply(kind="findings", findings=self._bench(Request.model_validate_json(line), self._announce))
        except PtxbenchError as error:
            return Reply(kind="fault", code=error.code, message=error.message, next_step=error.next_step)

    def _announce(self, stage: str, quiet_s: float) -> None:
        _send(self._channel, Reply(kind="working", stage=stage, quiet_s=quiet_s))


def _listen(channel: socket.socket, requests: queue.SimpleQueue[bytes]) -> None:
    """Pass requests on, and end the process when the owner hangs up, with all that is below it."""
    try:
        # An owner that was killed with answers unread resets the connection.
        with suppress(ConnectionError), channel.makefile("rb") as stream:
            while line := stream.readline(LINE_BYTES):
                requests.put(line)
        end_strays()
    finally:
        # Whatever ended the listening: nobody asks any more, and a judge that waits for requests would wait for ever.
        os._exit(0)


def _send(channel: socket.socket, reply: Reply) -> None:
    try:
        channel.sendall(reply.model_dump_json().encode() + b"\n")
    except ConnectionError:
        os._exit(0)


def become_subreaper() -> None:
    """Make orphaned descendants of a candidate our children, so that none outlives its evaluation (``prctl(2)``)."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))


def end_strays() -> None:
    """Kill and reap every process below us that is left: a sandbox without seccomp cannot keep a candidate from forking."""
    while strays := list(_children()):
        for process in strays:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(process, 0)


def _children() -> Iterator[int]:
    for path in Path("/proc/self/task").glob("*/children"):
        # A thread that ends meanwhile has no such file, or one that cannot be read any more.
        with suppress(FileNotFoundError, ProcessLookupError):
            yield from map(int, path.read_text().split())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
