"""Run nvcc's plan with its device half beside its host half, within one run's limits, and tell it as nvcc would have."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from ptxbench.core.atomic import storage_error
from ptxbench.core.errors import Cancelled, InfrastructureError
from ptxbench.core.process import Completed, ProcessLimits, run_tool
from ptxbench.toolchain.plan import STEPS, Plan

_DEVICE = ("device_preprocess", "cicc", "ptxas", "fatbinary")
_TOOLS = dict.fromkeys(STEPS, "gcc") | {"front": "cudafe++", "cicc": "cicc", "ptxas": "ptxas", "fatbinary": "fatbinary"}


class _Stop(threading.Event):
    """Set by us, or by whoever waits for the build."""

    def __init__(self, outer: threading.Event | None) -> None:
        super().__init__()
        self._outer = outer

    def is_set(self) -> bool:
        return super().is_set() or (self._outer is not None and self._outer.is_set())


@dataclass
class _Runner:
    plan: Plan
    folder: Path
    limits: ProcessLimits
    deadline: float
    ended: dict[str, Completed] = field(default_factory=dict)

    def command(self, argv: Sequence[str], stop: threading.Event) -> Completed:
        limits = replace(self.limits, wall_seconds=max(0.0, self.deadline - time.monotonic()))
        return run_tool(argv, limits=limits, env=self.plan.env, cwd=self.folder, cancel=stop)

    def run(self, names: Sequence[str], stop: threading.Event) -> bool:
        """Run steps one after the other until one fails; return whether none did."""
        for name in names:
            self.ended[name] = self.command(["/bin/sh", "-c", f"exec {self.plan.commands[name]}"], stop)
            if not self.ended[name].ok:
                return False
        return True


def run_plan(
    plan: Plan,
    folder: Path,
    limits: ProcessLimits,
    cancel: threading.Event | None,
    *,
    parallel: bool,
    meanwhile: Callable[[], None] | None = None,
) -> Completed:
    """Run a plan in ``folder`` and return what nvcc would have said and how it would have ended.

    ``meanwhile`` is called while the host compiler goes on, after the device half and the host's front end have ended well; only
    when the halves run in parallel.

    Each process has the limits of memory, CPU time and file size, all of them together the limit of real time. Steps that nvcc
    would not have reached are left out of what is told, whatever became of them. ``parallel`` False runs one process at a time.
    Raises ``Cancelled`` when ``cancel`` is set.
    """
    started = time.monotonic()
    runner = _Runner(plan, folder, limits, started + limits.wall_seconds)
    if parallel and _make_pipe(plan):
        _run_halves(runner, cancel, meanwhile)
    else:
        stop = _Stop(cancel)
        if runner.run(("host_preprocess", "front", *_DEVICE), stop):
            try:
                plan.stub.rename(plan.pipe)
            except OSError as error:
                raise storage_error(error, plan.stub) from error
            runner.run(("host_compile",), stop)
    if all(name in runner.ended and runner.ended[name].ok for name in STEPS[:-1]):
        runner.run(("link",), _Stop(cancel))
    return _told(runner, time.monotonic() - started)


def _make_pipe(plan: Plan) -> bool:
    """Make the pipe through which the host compiler gets the stub; return whether this file system has pipes."""
    try:
        os.mkfifo(plan.pipe)
    except OSError:
        return False
    return True


def _run_halves(runner: _Runner, cancel: threading.Event | None, meanwhile: Callable[[], None] | None) -> None:
    """Run both halves at once.

    The host compiler starts when cudafe++ has ended. It reads the headers, which is most of its work, and waits at the end of its
    source for the stub, which comes through a pipe when the device code is there. What nvcc would not have reached is stopped.
    """
    given_up = _Stop(cancel)
    front_failed, device_failed, host_ended = _Stop(given_up), _Stop(given_up), _Stop(given_up)

    def host() -> None:
        try:
            if not runner.run(("host_preprocess", "front"), given_up):
                front_failed.set()
            else:
                runner.run(("host_compile",), device_failed)
        finally:
            host_ended.set()

    def device() -> None:
        try:
            made = runner.run(_DEVICE, front_failed)
        except BaseException:
            device_failed.set()
            raise
        if made:
            # Whoever opens a pipe waits for its reader: another process, which can be stopped. The reader is the host compiler, so
            # that the host's front end has ended when the stub is taken.
            give = 'exec cat "$1" >"$2"'
            runner.command(["/bin/sh", "-c", give, "sh", str(runner.plan.stub), str(runner.plan.pipe)], host_ended)
            if meanwhile is not None and not host_ended.is_set():
                meanwhile()
        else:
            device_failed.set()

    with ThreadPoolExecutor(2) as pool:
        try:
            halves = [pool.submit(host), pool.submit(device)]
            wait(halves)
        except BaseException:  # Ctrl-C: nobody waits for the steps any more.
            given_up.set()
            raise
    for half in halves:
        error = half.exception()
        if error is not None and not (isinstance(error, Cancelled) and (cancel is None or not cancel.is_set())):
            raise error


def _told(runner: _Runner, seconds: float) -> Completed:
    """Put together what nvcc would have printed (``nvcc -v``), up to the first step that failed."""
    said: list[str] = []
    dropped = 0
    for name in STEPS:
        if name not in runner.ended:
            raise InfrastructureError(f"the compilation's step {name} did not run")
        done = runner.ended[name]
        said.append(f"#$ {runner.plan.shown[name]}\n{done.stdout}{done.stderr}")
        dropped += done.dropped_bytes
        if not done.ok:
            break
    code = done.returncode
    if code < 0 and not done.timed_out:
        said.append(f"nvcc error   : '{_TOOLS[name]}' died due to signal {-code}\n")
        code = 255
    return Completed(code, done.timed_out, "", "".join(said), dropped, seconds)
