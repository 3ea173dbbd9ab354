"""A worker: one slot of this machine with a judge process of its own, restarted when it dies or stalls."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time

from pydantic import ValidationError

from ptxbench.core.bounded import BoundedOutput
from ptxbench.core.errors import DeviceMemoryFull, InfrastructureError, JudgeError, NoGpu, ToolMissing
from ptxbench.core.interpreter import module_command, module_environment
from ptxbench.evaluate.findings import Findings
from ptxbench.evaluate.judge.request import LINE_BYTES, Reply, Request

START_SECONDS = 120.0
GRACE_SECONDS = 30.0
"""How much longer than it announced the judge may be silent on a busy machine."""
STOP_SECONDS = 5.0
STDERR_BYTES = 64 << 10
FAULTS: dict[str, type[InfrastructureError]] = {kind.code: kind for kind in (ToolMissing, NoGpu, DeviceMemoryFull)}
"""Faults of a judge that have a name of their own; any other is an ``InfrastructureError``."""
ATTEMPTS = 2
"""How often an evaluation is tried when the judge dies under it."""


class Worker:
    """One judge at a time. ``evaluate`` and ``close`` belong to one thread at a time; ``cancel`` may be called from any.

    ``gpu`` is the UUID of the device that the judge has for itself, None for the host's processor.
    """

    def __init__(self, gpu: str | None = None) -> None:
        self._gpu = gpu
        self._judge: JudgeProcess | None = None
        self._lock = threading.Lock()

    def evaluate(self, request: Request, cancelled: threading.Event) -> Findings:
        """Evaluate one candidate, once more with a new judge when the first dies or stalls.

        When the second does too, that is the reference's failure if both were computing it, and raises ``JudgeError``
        otherwise; so does an evaluation that is cancelled. Other faults that the judge reports are raised as they are.
        """
        deaths: list[JudgeDied] = []
        while len(deaths) < ATTEMPTS:
            try:
                return self._ready(cancelled).evaluate(request)
            except JudgeDied as death:
                self._discard()
                if cancelled.is_set():
                    raise JudgeError("the evaluation was cancelled") from death
                deaths.append(death)
        if all(death.stage == "reference" for death in deaths):
            return Findings(reference_failure=f"the reference of {request.task.name} did not end: the judge: {deaths[-1]}")
        raise JudgeError(f"the judge failed {len(deaths)} times: {deaths[-1]}")

    def cancel(self, cancelled: threading.Event) -> None:
        """End the evaluation that was given ``cancelled``, and its processes."""
        with self._lock:
            cancelled.set()
            if self._judge is not None:
                self._judge.kill()

    @property
    def pid(self) -> int | None:
        """Process id of the judge that runs now."""
        return self._judge.pid if self._judge is not None else None

    def close(self) -> None:
        """End the judge, and with it the candidate's process that it may have."""
        with self._lock:
            judge, self._judge = self._judge, None
        if judge is not None:
            judge.close()

    def _discard(self) -> None:
        """End a judge that no longer does its work, without asking it to."""
        with self._lock:
            judge, self._judge = self._judge, None
        if judge is not None:
            judge.kill()
            judge.close()

    def _ready(self, cancelled: threading.Event) -> JudgeProcess:
        with self._lock:
            if cancelled.is_set():
                raise JudgeDied("the evaluation was cancelled", None)
            if self._judge is None:
                self._judge = JudgeProcess(self._gpu)
            return self._judge


class JudgeDied(Exception):
    """The judge process ended, stalled or broke its protocol; ``stage`` is what it was doing."""

    def __init__(self, text: str, stage: str | None) -> None:
        super().__init__(text)
        self.stage = stage


class JudgeProcess:
    """The judge as its owner sees it."""

    def __init__(self, gpu: str | None = None) -> None:
        ours, theirs = socket.socketpair()
        if gpu is None:
            # The reference is timed on one core, as the candidate is.
            environment = module_environment(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
        else:
            environment = module_environment(CUDA_VISIBLE_DEVICES=gpu)
        try:
            self._process = subprocess.Popen(
                module_command("ptxbench.evaluate.judge.serve", str(theirs.fileno()), "cpu" if gpu is None else "gpu"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise InfrastructureError(f"cannot start the judge: {error.strerror}") from error
        finally:
            theirs.close()
        self._channel = ours
        self._pending = bytearray()
        self._stage: str | None = "start"
        self._messages = BoundedOutput(STDERR_BYTES)
        self._drain = threading.Thread(target=self._drain_messages, daemon=True)
        self._drain.start()
        try:
            if self._next(START_SECONDS).kind != "ready":
                raise JudgeDied("it did not say that it is ready", "start")
        except JudgeDied:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def evaluate(self, request: Request) -> Findings:
        """Send one request and wait for its end. Raises ``JudgeDied``, and the fault that the judge reports."""
        self._stage = "request"
        try:
            self._channel.settimeout(GRACE_SECONDS)
            self._channel.sendall(request.model_dump_json().encode() + b"\n")
        except OSError as error:
            raise JudgeDied(self._story(f"it takes no request: {error}"), self._stage) from error
        quiet_s = GRACE_SECONDS
        while True:
            reply = self._next(quiet_s + GRACE_SECONDS)
            if reply.kind == "working":
                self._stage, quiet_s = reply.stage, reply.quiet_s or 0.0
            elif reply.kind == "fault":
                kind = FAULTS.get(reply.code or "", InfrastructureError)
                raise kind(reply.message or "the judge reported a fault", next_step=reply.next_step)
            elif reply.findings is not None:
                return reply.findings

    def _next(self, seconds: float) -> Reply:
        deadline = time.monotonic() + seconds
        while b"\n" not in self._pending:
            self._channel.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                data = self._channel.recv(1 << 20)
            except TimeoutError:
                raise JudgeDied(self._story(f"it was silent for {seconds:.0f} s"), self._stage) from None
            except OSError as error:
                raise JudgeDied(self._story(f"its channel failed: {error}"), self._stage) from error
            if not data or len(self._pending) + len(data) > LINE_BYTES:
                raise JudgeDied(self._story("it ended"), self._stage)
            self._pending += data
        line, _, rest = self._pending.partition(b"\n")
        self._pending = bytearray(rest)
        try:
            return Reply.model_validate_json(line)
        except ValidationError as error:
            raise JudgeDied(self._story("it sent a line that is no reply"), self._stage) from error

    def _story(self, what: str) -> str:
        """Return what happened, in which stage, and the last thing that the judge printed."""
        if what == "it ended":
            self._process.kill()
            self._drain.join(STOP_SECONDS)
        lines = self._messages.text().strip().splitlines()
        return f"{what} in stage {self._stage}" + (f": {lines[-1][:500]}" if lines else "")

    def _drain_messages(self) -> None:
        assert self._process.stderr is not None
        while data := os.read(self._process.stderr.fileno(), 1 << 16):
            self._messages.feed(data)

    def kill(self) -> None:
        """End the process at once; whoever waits for its answer learns that it ended."""
        self._process.kill()

    def close(self) -> None:
        """End the process and give back what it held. A judge that is asked to end by itself has moments to do so."""
        try:
            self._channel.shutdown(socket.SHUT_RDWR)
        except OSError:  # it hung up first
            self._process.kill()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._drain.join(STOP_SECONDS)
        self._channel.close()
        assert self._process.stderr is not None
        self._process.stderr.close()
