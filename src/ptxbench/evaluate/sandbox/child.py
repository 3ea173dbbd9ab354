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
from ptxbench.evaluate.sandbox.claims import (
    Answer,
    Counts,
    TimeMethod,
    Timings,
    clean,
    is_count,
    read_absence,
    read_counts,
    read_times,
    read_timings,
)
from ptxbench.evaluate.sandbox.launch import RESULTS_BYTES, DeviceSetup, Program, Tool, setup_message, start
from ptxbench.evaluate.sandbox.staging import Staging, frozen_memory, sealed_memory
from ptxbench.schema import Limits, RunFailure

MESSAGE_BYTES = 64 << 10
START_SECONDS = 60.0
"""How long our own code in the child may take before the candidate is loaded; longer is a fault of the machine."""
GONE_SECONDS = 1.0
"""How long a process that closed its channel may take to end before it counts as alive."""
REAP_SECONDS = 30.0
"""How long a killed process may take to end: the driver first stops what it runs on the GPU."""

__all__ = ["Answer", "Child", "Counts", "Timings"]

_SIGNALS: dict[int, str] = {
    signal.SIGSEGV: "segmentation fault: an access outside its memory, or a stack overflow",
    signal.SIGABRT: "abort: a failed assertion, an uncaught C++ exception or a damaged heap",
    signal.SIGFPE: "arithmetic fault: an integer division by zero",
    signal.SIGBUS: "bus error: an access to memory that is not there",
    signal.SIGILL: "illegal instruction",
    signal.SIGKILL: "killed: it killed itself, or ran into the CPU time or memory limit",
}


class Child:
    """One disposable process. A context manager: leaving it kills and reaps the process and closes everything.

    For a candidate on a GPU ``staging`` is None and ``device`` says what the process gets. With a ``tool`` the process runs under
    it, and most of the sandbox is left off, which tools would trip over. ``start_s`` bounds the time until our own code is ready.

    Attributes:
        protections: what the process said of its sandbox before the candidate was loaded.
        start_s: seconds until it was ready.
        first_launch_s: seconds from its start until the first call was entered, by its own account; None before that call.
    """

    def __init__(
        self,
        program: Program | None,
        staging: Staging | None,
        limits: Limits,
        cpus: Sequence[int] = (),
        *,
        device: DeviceSetup | None = None,
        tool: Tool | None = None,
        start_s: float = START_SECONDS,
    ) -> None:
        self._limits = limits
        self._tool = tool
        self._output = BoundedOutput(limits.output_bytes)
        self._failure: RunFailure | None = None
        self._answered_cpu_ns: int | None = None
        self.protections: dict[str, Any] = {}
        self.first_launch_s: float | None = None
        with ExitStack() as stack, ExitStack() as on_failure:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stack.callback(theirs.close)
            payload = stack.enter_context(frozen_memory("candidate", program.payload)) if program else -1
            self._results = sealed_memory("ptxbench-results", RESULTS_BYTES) if device else -1
            lent = [buffer.descriptor for buffer in device.buffers] if device else []
            places = (payload, staging.descriptor if staging else -1, self._results, *lent)
            self._channel = ours
            self._started_ns = time.monotonic_ns()
            try:
                self._process = start(theirs.fileno(), [place for place in places if place >= 0], device, tool)
            except OSError as error:
                ours.close()
                self._close_results()
                raise JudgeError(f"cannot start a candidate's process: {error.strerror}") from error
            self._selector = selectors.DefaultSelector()
            self._pidfd = os.pidfd_open(self._process.pid)
            on_failure.callback(self.close)
            self._selector.register(self._pidfd, selectors.EVENT_READ, "end")
            self._selector.register(ours, selectors.EVENT_READ, "channel")
            for stream in (self._process.stdout, self._process.stderr):
                assert stream is not None
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, "output")
            self._set_up(setup_message(program, staging, limits, cpus, payload, device, tool, self._results), start_s)
            on_failure.pop_all()
        self.start_s = (time.monotonic_ns() - self._started_ns) / 1e9

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
            return self._forged("the candidate's process answered in the runner's place")
        return answer

    def time(self, slots: Sequence[int], warm_up: int, iterations: int, method: TimeMethod, seconds: float) -> Timings | RunFailure:
        """Time calls on a GPU, the slots in turn, all within ``seconds``; outputs are poisoned and L2 is flushed before each."""
        asked = {"do": "time", "slots": list(slots), "warm_up": warm_up, "iterations": iterations, "method": method}
        reply = self._exchange(asked, seconds, "the timed calls")
        if isinstance(reply, RunFailure):
            return reply
        return read_timings(reply.message, iterations, method, reply.wall_ns) or self._forged("the claimed times are not times")

    def prove(self, slot: int, seconds: float) -> Counts | RunFailure:
        """Count the instructions that one call on a GPU executes. The last thing to ask of a child: it slows all calls after it."""
        reply = self._exchange({"do": "prove", "slot": slot}, seconds, "the counted call")
        if isinstance(reply, RunFailure):
            return reply
        size = reply.message.get("bytes")
        if not is_count(size, RESULTS_BYTES + 1):
            return self._forged("the counts are not counts")
        if size == 0:
            return read_absence(reply.message)
        assert isinstance(size, int)
        return read_counts(os.pread(self._results, size, 0)) or self._forged("the counts are not counts")

    def profile(self, slot: int, seconds: float) -> Answer | RunFailure:
        """Call the candidate once on a GPU with the profiler on, for a tool that waits for that."""
        return self._ask({"do": "profile", "slot": slot}, seconds, "the profiled call")

    def finish(self, seconds: float) -> int | None:
        """Hang up, so that the process ends by itself, and return its exit status (negative: the signal that ended it).

        None when it has not ended within ``seconds``. Tools write their reports at that moment.
        """
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        if self._channel.fileno() in {key.fd for key in self._selector.get_map().values()}:
            self._selector.unregister(self._channel)
        deadline = time.monotonic() + seconds
        while True:
            ready = {key.data for key, _ in self._selector.select(max(0.0, deadline - time.monotonic()))}
            self._drain()
            if "end" in ready:
                break
            if time.monotonic() >= deadline:
                return None
        state = self._wait_state()
        return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status

    def _set_up(self, message: dict[str, Any], seconds: float) -> None:
        self._send(message)
        reply = self._receive(time.monotonic() + seconds)
        if not isinstance(reply, dict) or not isinstance(reply.get("ready"), dict):
            reason = "it sent something else than that it is ready"
            if isinstance(reply, RunFailure):
                reason = reply.text
            elif reply is None:
                reason = f"it was not ready within {seconds:g} s"
            elif isinstance(reply.get("refused"), str):
                reason = clean(reply["refused"])
            raise JudgeError(f"a candidate's process did not start: {reason}; it printed: {self._output.text()[-2000:]}")
        self.protections = reply["ready"]

    def _ask(self, message: dict[str, Any], seconds: float, what: str) -> Answer | RunFailure:
        reply = self._exchange(message, seconds, what)
        if isinstance(reply, RunFailure):
            return reply
        claimed = read_times(reply.message.get("ns"))
        if claimed is None:
            return self._forged("the claimed times are not times")
        launched = reply.message.get("launched")
        if launched is not None and self.first_launch_s is None:
            if not is_count(launched) or not self._started_ns <= launched <= time.monotonic_ns():
                return self._forged("the first call was at no possible time")
            self.first_launch_s = (launched - self._started_ns) / 1e9
        returned, pending = reply.message.get("returned"), reply.message.get("pending")
        return Answer(
            claimed_ns=claimed,
            wall_ns=reply.wall_ns,
            returned=None if returned is None else clean(returned)[:200],
            cpu_ns=reply.cpu_ns,
            idle_cpu_ns=reply.idle_cpu_ns,
            pending=None if pending is None else clean(pending)[:200],
        )

    def _exchange(self, message: dict[str, Any], seconds: float, what: str) -> _Reply | RunFailure:
        """Send a request and return the reply that belongs to it, with what the judge's clocks say of it."""
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
            return self._forged("something else than the runner wrote to the judge's channel")
        if reply.get("ok") is not True:
            return self._fail(clean(reply.get("kind"))[:40], clean(reply.get("text")))
        return _Reply(
            message=reply,
            wall_ns=wall,
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
            return self._forged("something else than the runner wrote to the judge's channel")
        return message

    def _ended(self) -> RunFailure:
        """Say how the process ended: it has, or its end of the channel is closed."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._pidfd, selectors.EVENT_READ)
            gone = bool(waiting.select(GONE_SECONDS))
        if not gone:
            return self._fail("channel_closed", "the candidate closed descriptors that are not its own")
        state = self._wait_state()
        if state.si_code == os.CLD_EXITED:
            code = state.si_status
            return self._fail("exit", f"the process ended by itself with exit code {code} before the call returned", exit_code=code)
        name = _signal_name(state.si_status)
        return self._fail("signal", _SIGNALS.get(state.si_status, f"ended by {name}"), signal=name)

    def _wait_state(self) -> os.waitid_result:
        """Return how the process ended, and leave the zombie: its group keeps its number until the group is killed."""
        state = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        assert state is not None
        return state

    def _forged(self, text: str) -> RunFailure:
        return self._fail("forged_reply", text)

    def _fail(self, kind: str, text: str, **details: Any) -> RunFailure:
        """Kill the process and keep how it failed; the first failure stays.

        A tool still has to write what it saw of the failure: it lives on until ``finish`` or ``close``, unless time is up.
        """
        if self._failure is None:
            if self._tool is None or kind == "timeout":
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

    def _close_results(self) -> None:
        if self._results >= 0:
            os.close(self._results)
            self._results = -1

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
            self._close_results()
            with suppress(OSError):
                os.close(self._pidfd)
            for stream in (self._process.stdout, self._process.stderr):
                if stream is not None:
                    stream.close()


@dataclass(frozen=True)
class _Reply:
    """A reply with the token of its request, and what the judge's clocks say (see ``Answer``)."""

    message: dict[str, Any]
    wall_ns: int
    cpu_ns: int | None
    idle_cpu_ns: int | None


def _signal_name(number: int) -> str:
    """Return a signal's name; the real-time ones between first and last have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
