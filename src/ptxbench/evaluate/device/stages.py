"""One evaluation on a GPU: lend memory, start a child, drive the stages, add up what they found.

The order differs from the protocol's list in one place: memcheck runs after ``compare`` and still before ``time``. A candidate that
hangs then costs one run's limit and not also the checker's two minutes, and the verdict is the same: it is a function of what all
stages found.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import torch

from ptxbench.core.canonical import content_hash
from ptxbench.core.errors import DeviceMemoryFull, JudgeError
from ptxbench.evaluate.checks import flags_of, not_run, reason_against, unknown_flag
from ptxbench.evaluate.compare import Compared, Comparing
from ptxbench.evaluate.device import driver
from ptxbench.evaluate.device.checks import DeviceChecks
from ptxbench.evaluate.device.children import Children
from ptxbench.evaluate.device.faults import MachineFaults
from ptxbench.evaluate.device.layout import Layout, lay_out
from ptxbench.evaluate.device.lent import LentMemory
from ptxbench.evaluate.device.proving import Proving
from ptxbench.evaluate.device.time import GpuTiming
from ptxbench.evaluate.findings import Findings, StageFailure, without_repeats
from ptxbench.evaluate.gpu import roofline_us
from ptxbench.evaluate.judge.held import TIMED_DRAWS, Held
from ptxbench.evaluate.judge.request import Request, read_library
from ptxbench.evaluate.mutant import run_mutant
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.launch import Program
from ptxbench.evaluate.sandbox.protections import weak_spots
from ptxbench.evaluate.time import Timed
from ptxbench.evaluate.tools import counters, debug
from ptxbench.evaluate.tools.early import Early, NotStarted
from ptxbench.schema import Counters, Flag, RunFailure, Sanitizer

if TYPE_CHECKING:
    from ptxbench.evaluate.device.bench import GpuBench

T = TypeVar("T")
Announce = Callable[[str, float], None]

SLOTS_SHARE = 0.5
"""Share of the device's free memory that the lent buffers may take: the rest is for copies and for the candidate."""
MEMORY_MULTIPLE = 3
"""How many times what its task needs a candidate may take of the device's memory (protocol section 8) …"""
OWN_BYTES = 2 << 30
"""… beside a context, the buffer that empties the cache, and room for small tasks."""
MEMORY_UNKNOWN = Flag(
    code="memory_unknown",
    text="NVML does not tell how much device memory the candidate's process holds: the bound on it was not checked",
)
AGAIN_S = 30.0
"""A check that could not decide within this time is made once more when the candidate's process is gone."""
REFERENCE_SECONDS = 300.0
"""How long the reference may take for one step."""
MOST_CALLS = 240
"""Calls that one announced step makes at most."""


class GpuStages:
    """The stages of one evaluation in order, with their times."""

    def __init__(self, bench: GpuBench, held: Held, request: Request, announce: Announce) -> None:
        if request.gpu is None or request.library is None:
            raise JudgeError("a CUDA candidate came without its library")
        self._bench = bench
        self._held = held
        self._request = request
        self._gpu = request.gpu
        self._announce = announce
        self._task = request.task
        limits, options = request.task.limits, request.options
        self._run_s = options.run_s or max(limits.run_s, limits.run_reference_multiple * held.reference_s)
        self._limits = limits.model_copy(update={"run_s": self._run_s})
        self._program = Program(request.language, request.symbol, read_library(request.library))
        self._seconds: dict[str, float] = {}
        self._flags: list[Flag] = []
        self._memory: LentMemory
        self._children: Children

    def run(self) -> Findings:
        """Run every stage that is asked for. Raises ``ReferenceFailed`` and ``InfrastructureError``."""
        first = self._held.published(0)
        with LentMemory(self._layout(), self._request.options.seed) as self._memory:
            self._memory.write(0, first.inputs)
            self._children = Children(
                self._bench, self._gpu, self._program, self._limits, self._request.cpus, self._memory, first.inputs
            )
            if driver.free_bytes() < self._promised() + self._checked_bytes():
                # What we keep for later must not be what a candidate finds missing.
                self._bench.make_room()
            self._announce("start", 120.0)
            findings = self._stages()
        return self._with_checks(findings)

    def _stages(self) -> Findings:
        wants, profile = self._request.options.wants, self._request.options.profile
        compared, timed, checked = Compared(), Timed(), None
        proving = Proving(self._request, self._held, self._children.start)
        timing = self._new_timing()
        faults = MachineFaults(self._bench.telemetry.memory_errors, driver.require_context)
        undecided = False
        explained: RunFailure | None = None
        counted: Counters | None = None
        check_early = self._children.memcheck_early(self._task) if wants("sanitize") else nullcontext()
        with check_early as check, self._children.start() as child:
            self._seconds["start"] = child.start_s
            failure = self._load(child)
            if failure is None and wants("compare"):
                comparing = Comparing(self._held, profile, self._step)
                try:
                    compared = self._timed("compare", lambda: comparing.run(self._memory, child, self._run_s))
                except DeviceMemoryFull:
                    if self._hoarded(child) is None:
                        raise
                hoarded = None if compared.failure else self._hoarded(child)
                if hoarded is not None:
                    child.close()  # the checker, and the judge, need the room
                found = compared.failure or hoarded
                failure = StageFailure(stage="compare", failure=found) if found else None
            if child.first_launch_s is not None:
                self._seconds["first_launch"] = child.first_launch_s
            if wants("sanitize") and not (failure is not None and failure.stage == "load") and not _hung(failure):
                checked = self._timed("sanitize", lambda: self._check_memory(check))
                undecided = checked is None or (checked.status == "unknown" and (checked.seconds or 0.0) < AGAIN_S)
            right = failure is None and not any(profile in rule.profiles for rule in compared.broken)
            clean = checked is None or checked.status != "findings"
            if right and clean and compared.complete and wants("time"):
                try:
                    timed = self._timed("time", lambda: timing.run(self._memory, child, self._run_s, compared.call_s))
                except DeviceMemoryFull:
                    if self._hoarded(child) is None:
                        raise
                # Memory that is taken while nobody compares is bounded as well.
                found = timed.failure or self._hoarded(child)
                failure = StageFailure(stage="time", failure=found) if found else None
                proving.launches = timing.launches
            if right and clean and failure is None and wants("prove"):
                self._timed("prove", lambda: proving.count(self._memory, child))
        if undecided:
            # Nobody is left who could have kept the checker from its work.
            checked = self._timed("sanitize", lambda: self._check_memory(None))
        self._flags += [unknown_flag(checked)] if checked is not None and checked.status == "unknown" else []
        if failure is not None:
            claimed = faults.blame(failure.failure)
            self._flags += [claimed] if claimed else []
        if timed.latency is not None:
            self._timed("time", timing.confirm)
        if right and clean and failure is None and wants("prove"):
            self._timed("prove", lambda: proving.cross_check(self._memory))
            if self._request.options.prove_by_mutation:
                self._timed("mutate", lambda: self._prove_by_mutation(proving))
        if right and clean and failure is None and compared.complete and self._request.options.counters:
            counted = self._timed("counters", self._count)
        if failure is not None and wants("debug"):
            failed = failure.failure
            explained = self._timed("debug", lambda: self._explain(failed, checked))
        correctness = compared.correctness
        if correctness is not None:
            correctness = correctness.model_copy(update={"timed_outputs_checked": timed.outputs_checked})
        return Findings(
            compared=compared.complete,
            failure=failure,
            broken=without_repeats(*compared.broken, *timed.broken),
            correctness=correctness,
            latency=timed.latency,
            sanitizer=checked,
            proof=proving.proof,
            counters=counted,
            debug=explained,
            flags=(*self._flags, *timed.flags, *proving.flags),
            seconds=self._seconds,
            reference=self._reference_hash(),
        )

    def _hoarded(self, child: Child) -> RunFailure | None:
        """Return the failure of a candidate that holds more device memory than it may (protocol section 8), None for others."""
        used = self._bench.telemetry.process_bytes(child.pid)
        allowed = self._promised()
        if used is None:
            self._flags += [] if MEMORY_UNKNOWN in self._flags else [MEMORY_UNKNOWN]
            return None
        if used <= allowed:
            return None
        text = f"the candidate's process holds {used / 2**30:.1f} GiB of device memory; {allowed / 2**30:.1f} GiB are allowed"
        return RunFailure(kind="device_memory", text=text)

    def _promised(self) -> int:
        """Return the device memory that a candidate may take."""
        return MEMORY_MULTIPLE * sum(self._memory.layout.sizes) + OWN_BYTES

    def _load(self, child: Child) -> StageFailure | None:
        self._flags += weak_spots(child.protections)
        loaded = self._timed("load", child.load)
        return StageFailure(stage="load", failure=loaded) if isinstance(loaded, RunFailure) else None

    def _checked_bytes(self) -> int:
        """Return the memory that the checker's process takes for tensors of exactly their sizes."""
        layout = self._memory.layout
        return sum(layout.sizes) // len(layout.slots) if self._request.options.wants("sanitize") else 0

    def _check_memory(self, early: Early[Sanitizer] | None) -> Sanitizer | None:
        """Return what memcheck found, None when its process was to start early and did not: the candidate may have seen to that."""
        self._announce("sanitize", self._limits.sanitize_s + 120.0)
        try:
            return early.result() if early is not None else self._children.memcheck(self._task)
        except NotStarted:
            return None

    def _count(self) -> Counters:
        """Return the hardware counters of one call; that there are none is a fault of the machine's, and a flag."""
        self._announce("counters", self._limits.prove_s + 240.0)  # two processes to start under ncu, and a report to print
        counted = counters.count(self._children.start, self._gpu.kernels, self._limits)
        if counted.why is not None:
            self._flags.append(Flag(code="counters_unknown", text=f"no hardware counters: {counted.why}"))
        elif counted.left_out:
            self._flags.append(Flag(code="counters_left_out", text=f"this ncu does not know {', '.join(counted.left_out)}"[:600]))
        return counted

    def _with_checks(self, findings: Findings) -> Findings:
        """Add what the checkers on request found; what was lent to the stages is free again."""
        checks = self._request.options.checks
        if checks is None:
            return findings
        why = reason_against(findings.failure)
        if why is not None:
            records = not_run(checks, checks.task or self._task, why)
        else:
            on_device = DeviceChecks(self._bench, self._request, self._gpu, self._program, self._limits)
            records = self._timed("checks", lambda: on_device.run(checks, self._held, self._announce))
        added = {"checks": records, "flags": (*findings.flags, *flags_of(records)), "seconds": self._seconds}
        return findings.model_copy(update=added)

    def _explain(self, failed: RunFailure, checked: Sanitizer | None) -> RunFailure | None:
        self._announce("debug", self._limits.sanitize_s + 120.0)  # an access is looked for with memcheck, if that has not run
        kept = self._request.options.core_dump
        keep = Path(kept) if kept is not None else None
        return debug.explain(failed, checked, self._children.start, self._limits, kernels=self._gpu.kernels, keep=keep)

    def _prove_by_mutation(self, proving: Proving) -> None:
        """Note what becomes of the outputs when the matrix instructions that executed give zero."""
        proof, mutant = proving.proof, self._gpu.mutant
        if proof is None or not proof.compute or mutant is None:
            return
        program = self._program if mutant.library is None else replace(self._program, payload=read_library(mutant.library))
        found = run_mutant(mutant, lambda: self._children.start(program=program), self._memory, self._held, self._limits)
        proving.proof = proof.model_copy(update={"mutation": found.verdict})
        if found.flag is not None:
            self._flags.append(found.flag)

    def _new_timing(self) -> GpuTiming:
        return GpuTiming(
            self._held,
            self._bench.clock,
            self._bench.telemetry,
            self._step,
            profile=self._request.options.profile,
            version=self._bench.version(self._task),
            roofline_us=roofline_us(self._bench.facts, self._task),
        )

    def _layout(self) -> Layout:
        """Place as many slots as timing has input sets, or as fit on the device beside everything else."""
        inputs = self._held.published(0).inputs
        one = lay_out(self._task, inputs, 1)
        affordable = int(SLOTS_SHARE * driver.free_bytes()) // sum(one.sizes)
        return lay_out(self._task, inputs, max(1, min(TIMED_DRAWS, affordable)))

    def _step(self, stage: str) -> None:
        self._announce(stage, REFERENCE_SECONDS if stage == "reference" else 60.0 + self._run_s * MOST_CALLS)

    def _timed(self, name: str, work: Callable[[], T]) -> T:
        # A proof makes one traced call, a few like any other and the counted one, each within a limit of its own.
        calls = 3.0 if name == "prove" else 1.0
        self._announce(name, 60.0 + calls * max(self._run_s, self._limits.load_s, self._limits.prove_s))
        started = time.monotonic()
        try:
            return work()
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.monotonic() - started

    def _reference_hash(self) -> str:
        """Return the hash of what computed the expected outputs: code, library and its version, the oracle."""
        task, version = self._task, self._bench.version(self._task)
        parts = {"code": task.definition.reference, "needs": task.reference.needs, "oracle": task.oracle}
        return content_hash(parts | {"library": version.library, "version": version.version, "torch": torch.__version__})


def _hung(failure: StageFailure | None) -> bool:
    return failure is not None and failure.failure.kind == "timeout"
