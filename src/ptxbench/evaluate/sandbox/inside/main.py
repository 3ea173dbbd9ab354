"""The candidate's side of an evaluation: set up, give up rights, load the candidate, call it when told to.

Everything that leaves this process is a claim: the candidate shares it. The judge reads outputs itself.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

from . import identity, landlock, limits, seccomp
from .failure import Attempt, shorten
from .libc import PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, buffer_lines, flush_output, map_shared, prctl

SIGKILL = 9


class Channel:
    """The packet socket to the judge: one JSON object a packet."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def receive(self) -> dict[str, Any]:
        """Return the next message; end the process when the judge is gone."""
        packet = os.read(self._descriptor, 1 << 20)
        if not packet:
            os._exit(0)
        message: dict[str, Any] = json.loads(packet)
        return message

    def send(self, **message: object) -> None:
        """Send one message; the texts in it are bounded, so that it always fits a packet."""
        os.write(self._descriptor, json.dumps(message).encode())


def restrict(setup: dict[str, Any]) -> dict[str, Any]:
    """Apply every protection that this machine offers and return which ones hold."""
    limits.apply(setup["memory_bytes"], setup["file_bytes"], setup["cpu_seconds"])
    if setup["cpus"]:
        os.sched_setaffinity(0, setup["cpus"])
    is_root = os.geteuid() == 0
    readable = tuple(setup["readable"])
    confinable = landlock.abi() > 0
    steps = seccomp.program(os.uname().machine, os.getpid(), refuse_write_opens=not confinable)
    user = None
    if not is_root or not readable or confinable:
        # As another user the interpreter's own files may be out of reach; reading them needs a capability that only Landlock tames.
        user = identity.drop(setup["processes"], keep_reading=bool(readable) and is_root)
    prctl(PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() != setup["judge"]:
        os._exit(0)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    version = landlock.confine(readable)
    if steps:
        seccomp.install(steps)
    return {"limits": True, "no_new_privs": True, "user": user, "root": is_root, "landlock": version, "seccomp": bool(steps)}


def main(descriptor: int) -> None:
    """Serve the judge until it hangs up or kills this process."""
    channel = Channel(descriptor)
    setup = channel.receive()
    base = map_shared(setup["staging"], setup["staging_bytes"]) if setup["staging_bytes"] else 0
    candidate: Any
    if setup["language"] == "python":
        from .python import PythonCandidate

        candidate = PythonCandidate(setup["packages"], setup["symbol"])
    elif setup["language"] == "cpp":
        from .native import NativeCandidate

        candidate = NativeCandidate(setup["runtime"], setup["symbol"])
    else:
        candidate = None
    if candidate is not None:
        candidate.place(base, setup["arguments"])
    buffer_lines()
    channel.send(ready=restrict(setup))
    if candidate is not None:
        serve(channel, candidate, setup["payload"])


def serve(channel: Channel, candidate: Any, payload: int) -> None:
    """Answer ``ping``, ``load`` and ``call`` with what happened and how long each call took (nanoseconds)."""
    clock = time.perf_counter_ns
    while True:
        message = channel.receive()
        took: list[int] = []
        returned: str | None = None
        with Attempt("exception", getattr(candidate, "files", frozenset())) as attempt:
            if message["do"] == "load":
                candidate.load(payload)
            elif message["do"] == "call":
                for slot in message["slots"]:
                    begin = clock()
                    value = candidate.call(slot)
                    took.append(clock() - begin)
                    returned = describe(value)
        flush_output()
        if attempt.failure is not None:
            kind, text = attempt.failure
            channel.send(token=message["token"], ok=False, kind=kind, text=text)
        else:
            channel.send(token=message["token"], ok=True, ns=took, returned=returned)


def describe(value: object) -> str | None:
    """Describe what a call returned; destination passing returns nothing."""
    if value is None:
        return None
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    return shorten(type(value).__name__ if shape is None else f"{type(value).__name__} {shape} {dtype}")[:200]
