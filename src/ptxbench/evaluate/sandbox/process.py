"""A candidate's process as a process: its channel, what it prints, how it ended, and its end by force."""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ptxbench.core.bounded import BoundedOutput
from ptxbench.core.errors import JudgeError
from ptxbench.core.process import kill_group
from ptxbench.evaluate.sandbox.launch import DeviceSetup, Tool, start
from ptxbench.schema import RunFailure
from ptxbench.toolchain.paths import spelled_out

MESSAGE_BYTES = 64 << 10
GONE_SECONDS = 1.0
"""How long a process that closed its channel may take to end before it counts as alive."""
REAP_SECONDS = 30.0
"""How long a killed process may take to end: the driver first stops what it runs on the GPU."""
FORGED = "something else than the runner wrote to the judge's channel"

_SIGNALS: dict[int, str] = {
    signal.SIGSEGV: "segmentation fault: an access outside its memory, or a stack overflow",
    signal.SIGABRT: "abort: a failed assertion, an uncaught C++ exception or a damaged heap",
    signal.SIGFPE: "arithmetic fault: an integer division by zero",
    signal.SIGBUS: "bus error: an access to memory that is not there",
    signal.SIGILL: "illegal instruction",
    signal.SIGKILL: "killed: it killed itself, or ran into the CPU time or memory limit",
}


class ChildProcess:
    """One process with a packet channel. Raises ``JudgeError`` when it cannot be started.

    It knows the descriptors ``shared`` beside its channel. ``started_ns`` is when it was started (``time.monotonic_ns``).
    """

    def __init__(self, shared: Sequence[int], output_bytes: int, device: DeviceSetup | None, tool: Tool | None) -> None:
        self._output = BoundedOutput(output_bytes)
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.started_ns = time.monotonic_ns()
        self._kills_before = kills_for_memory()
        try:
            self._process = start(theirs.fileno(), shared, device, tool)
        except OSError as error:
            self._channel.close()
            raise JudgeError(f"cannot start a candidate's process: {error.strerror}") from error
        finally:
            theirs.close()
        self._selector = selectors.DefaultSelector()
        self._pidfd = os.pidfd_open(self._process.pid)
        self._selector.register(self._pidfd, selectors.EVENT_READ, "end")
        self._selector.register(self._channel, selectors.EVENT_READ, "channel")
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, "output")

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def output(self) -> str:
        """What was printed so far: head and tail, with the characters that a terminal obeys spelled out."""
        return spelled_out(self._output.text())

    def cpu_ns(self) -> int | None:
        """Return the processor time that the kernel has booked on the process, all its threads together."""
        try:
            # The clock of another process, as clock_getcpuclockid(3) makes it (Linux include/linux/posix-timers.h).
            return time.clock_gettime_ns((~self.pid << 3) | 2)
        except OSError:  # it has ended, or this kernel does not tell
            return None

    def send(self, message: dict[str, Any]) -> bool:
        """Send a message; return whether that was possible."""
        try:
            # Never waiting: a child that reads no questions could otherwise hold the judge.
            self._channel.send(json.dumps(message).encode(), socket.MSG_DONTWAIT)
        except (BrokenPipeError, ConnectionResetError, BlockingIOError):
            return False
        return True

    def receive(self, deadline: float) -> dict[str, Any] | RunFailure | None:
        """Return the next message, how the process failed, or None when the deadline passed; drain its output meanwhile."""
        while True:
            left = deadline - time.monotonic()
            ready = {key.data for key, _ in self._selector.select(max(0.0, left))}
            if "output" in ready:
                self.drain()
            if "channel" in ready:
                return self._read_packet()
            if "end" in ready:
                return self.ended()
            if left <= 0:
                return None

    def _read_packet(self) -> dict[str, Any] | RunFailure:
        try:
            packet = self._channel.recv(MESSAGE_BYTES + 1)
        except ConnectionResetError:
            packet = b""
        if not packet:
            return self.ended()
        try:
            message = json.loads(packet) if len(packet) <= MESSAGE_BYTES else None
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            return RunFailure(kind="forged_reply", text=FORGED)
        return message

    def ended(self) -> RunFailure:
        """Say how the process ended: it has, or its end of the channel is closed."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._pidfd, selectors.EVENT_READ)
            gone = bool(waiting.select(GONE_SECONDS))
        if not gone:
            return RunFailure(kind="channel_closed", text="the candidate closed descriptors that are not its own")
        status = self._status()
        if status >= 0:
            text = f"the process ended by itself with exit code {status} before the call returned"
            return RunFailure(kind="exit", text=text, exit_code=status)
        if -status == signal.SIGKILL and kills_for_memory() > self._kills_before:
            raise JudgeError("the machine ran out of memory, and a candidate's process was ended for it")
        name = _signal_name(-status)
        return RunFailure(kind="signal", text=_SIGNALS.get(-status, f"ended by {name}"), signal=name)

    def hang_up(self, seconds: float) -> int | None:
        """Close the channel and wait for the process to end; return its exit status (negative: the signal that ended it).

        None when it has not ended within ``seconds``.
        """
        with suppress(OSError):  # it hung up first
            self._channel.shutdown(socket.SHUT_RDWR)
        with suppress(KeyError):  # it was hung up before
            self._selector.unregister(self._channel)
        deadline = time.monotonic() + seconds
        while True:
            ready = {key.data for key, _ in self._selector.select(max(0.0, deadline - time.monotonic()))}
            self.drain()
            if "end" in ready:
                return self._status()
            if time.monotonic() >= deadline:
                return None

    def _status(self) -> int:
        # WNOWAIT leaves the zombie, so that its process group still has its name when the group is killed.
        state = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        assert state is not None
        return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status

    def drain(self) -> None:
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

    def kill(self) -> None:
        """Kill the whole process group and take what it printed last."""
        kill_group(self._process)
        self.drain()

    def close(self) -> None:
        """Kill the whole process group, reap the process and close every descriptor. Raises ``JudgeError`` if it cannot die."""
        if self._process.returncode is None:  # the group keeps its number until its leader is reaped
            kill_group(self._process)
        try:
            self._process.wait(REAP_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise JudgeError(f"process {self.pid} did not end after SIGKILL") from error
        finally:
            self._selector.close()
            self._channel.close()
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1  # the number may be somebody else's by the next call
            for stream in (self._process.stdout, self._process.stderr):
                if stream is not None:
                    stream.close()


def kills_for_memory() -> int:
    """Return how many processes this machine's kernel has ended for want of memory; 0 where it does not say (``proc(5)``)."""
    with suppress(OSError):
        for line in Path("/proc/vmstat").read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _signal_name(number: int) -> str:
    """Return a signal's name; the real-time ones between first and last have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
