"""The judge process: reads requests from its channel, one JSON line each, and answers with lines until the channel closes."""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ptxbench.core.errors import PtxbenchError
from ptxbench.evaluate.judge.evaluation import evaluate
from ptxbench.evaluate.judge.held import Holdings
from ptxbench.evaluate.judge.request import LINE_BYTES, Reply, Request

HELD_BYTES = 1 << 30
PR_SET_CHILD_SUBREAPER = 36


def main(descriptor: int) -> None:
    """Serve one owner; when it is gone, end at once, and the child with us."""
    become_subreaper()
    with socket.socket(fileno=descriptor) as channel:
        requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(channel, requests), daemon=True).start()
        holdings = Holdings(HELD_BYTES)
        _send(channel, Reply(kind="ready"))
        while True:
            _send(channel, answer(requests.get(), holdings, channel))
            end_strays()


def answer(line: bytes, holdings: Holdings, channel: socket.socket) -> Reply:
    """Evaluate one request. An error of ours becomes a ``fault``; a bug ends the process, and its owner sees that."""

    def announce(stage: str, quiet_s: float) -> None:
        _send(channel, Reply(kind="working", stage=stage, quiet_s=quiet_s))

    try:
        return Reply(kind="findings", findings=evaluate(Request.model_validate_json(line), holdings, announce))
    except PtxbenchError as error:
        return Reply(kind="fault", code=error.code, message=error.message, next_step=error.next_step)


def _listen(channel: socket.socket, requests: queue.SimpleQueue[bytes]) -> None:
    """Pass requests on, and end the process when the owner hangs up: a child dies with its judge."""
    with channel.makefile("rb") as stream:
        while line := stream.readline(LINE_BYTES):
            requests.put(line)
    os._exit(0)


def _send(channel: socket.socket, reply: Reply) -> None:
    try:
        channel.sendall(reply.model_dump_json().encode() + b"\n")
    except BrokenPipeError:
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
        with suppress(FileNotFoundError):
            yield from map(int, path.read_text().split())


if __name__ == "__main__":
    main(int(sys.argv[1]))
