"""A candidate's process as the judge sees it: started for one evaluation, asked with deadlines, killed at the end.

Nothing that it says is trusted beyond what it can hurt: its own verdict.
"""

from __future__ import annotations

import json
import os
import secrets
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from ptxbench.core.bounded import BoundedOutput
from ptxbench.core.errors import JudgeError
from ptxbench.core.process import kill_group
from ptxbench.evaluate.sandbox.launch import Program, setup_message, start
from ptxbench.evaluate.sandbox.staging import Staging, frozen_memory
from ptxbench.schema import Limits, RunFailure

MESSAGE_BYTES = 64 << 10
START_SECONDS = 60.0
"""How long our own code in the child may take before the candidate is loaded; longer is a fault of the machine."""
GONE_SECONDS = 1.0
"""How long a process that closed its channel may take to end before it counts as alive."""
REAP_SECONDS = 30.0

_SIGNALS: dict[int, str] = {
    signal.SIGSEGV: "segmentation fault: an access outside its memory, or a stack overflow",
    signal.SIGABRT: "abort: a failed assertion, an uncaught C++ exception or a damaged heap",
    signal.SIGFPE: "arithmetic fault: an integer division by zero",
    signal.SIGBUS: "bus error: an access to memory that is not there",
    signal.SIGILL: "illegal instruction",
    signal.SIGKILL: "killed: it killed itself, or ran into the CPU time or memory limit",
}


@dataclass(frozen=True)
class Answer:
    """What the child claims of a request (``claimed_ns`` per call) and what the judge's clocks say of it.

    ``wall_ns`` is the time between question and answer, ``cpu_ns`` the processor time of the process in it, ``idle_cpu_ns`` that
    between the answer before and the question (both None where the kernel does not tell).
    """

    claimed_ns: tuple[int, ...]
    wall_ns: int
    returned: str | None
    cpu_ns: int | None = None
    idle_cpu_ns: int | None = None


class Child:
    """One disposable process. A context manager: leaving it kills and reaps the process and closes everything."""

    def __init__(self, program: Program | None, staging: Staging | None, limits: Limits, cpus: Sequence[int] = ()) -> None:
        self._limits = limits
        self._output = BoundedOutput(limits.output_bytes)
        self._failure: RunFailure | None = None
        self._answered_cpu_ns: int | None = None
        self.protections: dict[str, Any] = {}
        started = time.monotonic()
        with ExitStack() as stack:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stack.callback(theirs.close)
            payload = stack.enter_context(frozen_memory("candidate", program.payload)) if program else -1
            shared = [descriptor for descriptor in (payload, staging.descriptor if staging else -1) if descriptor >= 0]
            self._channel = ours
            try:
                self._process = start(theirs.fileno(), shared)
            except OSError as error:
                ours.close()
                raise JudgeError(f"cannot start a candidate's process: {error.strerror}") from error
            self._selector = selectors.DefaultSelector()
            self._pidfd = os.pidfd_open(self._process.pid)
            self._selector.register(self._pidfd, selectors.EVENT_READ, "end")
            self._selector.register(ours, selectors.EVENT_READ, "channel")
            for stream in (self._process.stdout, self._process.stderr):
                assert stream is not None
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, "output")
            with ExitStack() as on_failure:
                on_failure.callback(self.close)
                self._set_up(setup_message(program, staging, limits, cpus, payload))
                on_failure.pop_all()
        self.start_s = time.monotonic() - started

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def load(self) -> Answer | RunFailure:
        """Load the candidate."""
        return self._ask({"do": "load"}, self._limits.load_s, "loading the candidate")

    def ping(self, seconds: float) -> Answer | RunFailure:
        """Ask for an answer that calls nothing: what is left is the cost of asking."""
        return self._ask({"do": "ping"}, seconds, "answering")

    def call(self, slots: Sequence[int], seconds: float) -> Answer | RunFailure:
        """Call the candidate once on each of the slots, all within ``seconds``."""
        answer = self._ask({"do": "call", "slots": list(slots)}, seconds, "the call")
        if isinstance(answer, Answer) and len(answer.claimed_ns) != len(slots):
            return self._fail("forged_reply", "the candidate's process answered in the runner's place")
        return answer

    def _set_up(self, message: dict[str, Any]) -> None:
        self._send(message)
        reply = self._receive(time.monotonic() + START_SECONDS)
        if not isinstance(reply, dict) or not isinstance(reply.get("ready"), dict):
            reason = reply.text if isinstance(reply, RunFailure) else "it sent something else than that it is ready"
            raise JudgeError(f"a candidate's process did not start: {reason}; it printed: {self._output.text()[-2000:]}")
        self.protections = reply["ready"]

    def _ask(self, message: dict[str, Any], seconds: float, what: str) -> Answer | RunFailure:
        if self._failure is not None:
            return self._failure
        token = secrets.token_hex(8)
        asked_cpu = self._cpu_ns()
        begin = time.perf_counter_ns()
        if not self._send(message | {"token": token}):
            return self._ended()
        reply = self._receive(time.monotonic() + seconds)
        wall = time.perf_counter_ns() - begin
        answered_cpu, before_cpu = self._cpu_ns(), self._answered_cpu_ns
        self._answered_cpu_ns = answered_cpu
        if reply is None:
            return self._fail("timeout", f"{what} took longer than {seconds:g} s")
        if isinstance(reply, RunFailure):
            return reply
        if reply.get("token") != token:
            return self._fail("forged_reply", "something else than the runner wrote to the judge's channel")
        if reply.get("ok") is not True:
            return self._fail(_clean(reply.get("kind"))[:40], _clean(reply.get("text")))
        claimed = reply.get("ns")
        if not isinstance(claimed, list) or not all(type(ns) is int and 0 <= ns < 1 << 62 for ns in claimed):
            return self._fail("forged_reply", "the claimed times are not times")
        returned = reply.get("returned")
        return Answer(
            claimed_ns=tuple(claimed),
            wall_ns=wall,
            returned=None if returned is None else _clean(returned)[:200],
            cpu_ns=None if answered_cpu is None or asked_cpu is None else answered_cpu - asked_cpu,
            idle_cpu_ns=None if asked_cpu is None or before_cpu is None else asked_cpu - before_cpu,
        )

    def _cpu_ns(self) -> int | None:
        """Return the processor time that the kernel has booked on the process, all its threads together."""
        try:
            # The clock of another process, as clock_getcpuclockid(3) makes it (Linux include/linux/posix-timers.h).
            return time.clock_gettime_ns((~self.pid << 3) | 2)
        except OSError:  # it has ended, or this kernel does not tell
            return None

    def _send(self, message: dict[str, Any]) -> bool:
        try:
            # Never waiting: a child that reads no questions could otherwise hold the judge.
            self._channel.send(json.dumps(message).encode(), socket.MSG_DONTWAIT)
        except (BrokenPipeError, ConnectionResetError, BlockingIOError):
            return False
        return True

    def _receive(self, deadline: float) -> dict[str, Any] | RunFailure | None:
        """Return the next message, how the process failed, or None when the deadline passed; drain its output meanwhile."""
        while True:
            left = deadline - time.monotonic()
            ready = {key.data: key for key, _ in self._selector.select(max(0.0, left))}
            if "output" in ready:
                self._drain()
            if "channel" in ready:
                return self._read_packet()
            if "end" in ready:
                return self._ended()
            if left <= 0:
                return None

    def _read_packet(self) -> dict[str, Any] | RunFailure:
        try:
            packet = self._channel.recv(MESSAGE_BYTES + 1)
        except ConnectionResetError:
            packet = b""
        if not packet:
            return self._ended()
        try:
            message = json.loads(packet) if len(packet) <= MESSAGE_BYTES else None
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            return self._fail("forged_reply", "something else than the runner wrote to the judge's channel")
        return message

    def _ended(self) -> RunFailure:
        """Say how the process ended: it has, or its end of the channel is closed."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._pidfd, selectors.EVENT_READ)
            gone = bool(waiting.select(GONE_SECONDS))
        if not gone:
            return self._fail("channel_closed", "the candidate closed descriptors that are not its own")
        # WNOWAIT leaves the zombie, so that its process group still has its name when the group is killed.
        state = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        assert state is not None
        if state.si_code == os.CLD_EXITED:
            code = state.si_status
            return self._fail("exit", f"the process ended by itself with exit code {code} before the call returned", exit_code=code)
        name = _signal_name(state.si_status)
        return self._fail("signal", _SIGNALS.get(state.si_status, f"ended by {name}"), signal=name)

    def _fail(self, kind: str, text: str, **details: Any) -> RunFailure:
        """Kill the process and keep how it failed; the first failure stays."""
        if self._failure is None:
            kill_group(self._process)
            self._drain()
            self._failure = RunFailure(kind=kind, text=text, output=self._output.text(), **details)
        return self._failure

    def _drain(self) -> None:
        """Take what the process has printed so far, at most a bounded piece a time."""
        for stream in (self._process.stdout, self._process.stderr):
            if stream is None or stream.closed:
                continue
            for _ in range(16):
                try:
                    data = os.read(stream.fileno(), 1 << 16)
                except BlockingIOError:
                    break
                if not data:
                    self._selector.unregister(stream)
                    stream.close()
                    break
                self._output.feed(data)

    def close(self) -> None:
        """Kill the whole process group, reap the process and close every descriptor. Raises ``JudgeError`` if it cannot die."""
        kill_group(self._process)
        try:
            self._process.wait(REAP_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise JudgeError(f"process {self.pid} did not end after SIGKILL") from error
        finally:
            self._selector.close()
            self._channel.close()
            with suppress(OSError):
                os.close(self._pidfd)
            for stream in (self._process.stdout, self._process.stderr):
                if stream is not None:
                    stream.close()


def _signal_name(number: int) -> str:
    """Return a signal's name; the real-time ones between first and last have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _clean(text: object) -> str:
    """Return a claim as text that can be written: lone surrogates, which JSON can spell and UTF-8 cannot, are replaced."""
    if not isinstance(text, str):
        return "(no text)"
    return text.encode("utf-8", "replace").decode("utf-8")
