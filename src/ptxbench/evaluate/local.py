"""``LocalEvaluator``: this machine's processor for CPU tasks, its GPUs for the others."""

from __future__ import annotations

import asyncio
import os
import platform
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ptxbench import arch as architectures
from ptxbench.core.errors import InfrastructureError, JudgeError, UsageError
from ptxbench.evaluate.findings import Findings
from ptxbench.evaluate.gpu import Gpu, driver_version
from ptxbench.evaluate.judge.request import GpuRequest, Request
from ptxbench.evaluate.mutant import mutant_of
from ptxbench.evaluate.options import EvaluateOptions
from ptxbench.evaluate.record import assemble, judge_policy
from ptxbench.evaluate.static import static_proof
from ptxbench.evaluate.verdict import decide
from ptxbench.evaluate.worker import Worker
from ptxbench.schema import Baseline, Candidate, Device, Evaluation, Language, Proof, Task

if TYPE_CHECKING:
    from ptxbench.toolchain import Builder, BuildResult, Mutation

T = TypeVar("T")

LANGUAGES = {"cpu": (Language.CPP, Language.PYTHON), "gpu": (Language.CUDA,)}
"""What each backend runs."""

FILL_SHARED = Path(__file__).parent / "device" / "fill_shared.ptx"

RUN_FOR = {"cpu": ("compare",), "gpu": ("sanitize", "compare", "prove")}
"""Stages that a candidate is run for when they are asked for alone; one that was not compared is not timed."""


class LocalEvaluator:
    """Builds candidates, refuses what the policy refuses, and has the rest judged by workers, one evaluation a slot at a time.

    Args:
        builder: makes libraries out of candidates.
        slots: evaluations at once. Each slot has a judge process and one core for its candidates; more slots than cores
            disturb each other's latencies.
        gpus: devices to judge on, one evaluation a device at a time, in place of the processor. They are of one kind.
        builds: compilations at once.

    """

    def __init__(self, builder: Builder, *, slots: int = 1, gpus: Sequence[Gpu] = (), builds: int = 0) -> None:
        self._builder = builder
        self.backend = "gpu" if gpus else "cpu"
        cores = sorted(os.sched_getaffinity(0))
        self._slots: queue.SimpleQueue[tuple[Worker, tuple[int, ...]]] = queue.SimpleQueue()
        self._workers = tuple(Worker(gpu.uuid) for gpu in gpus) or tuple(Worker() for _ in range(slots))
        for number, worker in enumerate(self._workers):
            # Counted from the last core down: the first ones have the machine's interrupts.
            self._slots.put((worker, () if gpus else (cores[-1 - number % len(cores)],)))
        self._judging = ThreadPoolExecutor(len(self._workers), thread_name_prefix="judge")
        self._building = ThreadPoolExecutor(builds or len(cores), thread_name_prefix="build")
        self._running: set[Callable[[], None]] = set()
        if gpus:
            facts = gpus[0].facts
            self.device = Device(name=gpus[0].name, id=facts.id if facts else None, driver=driver_version())
        else:
            self.device = Device(name=_processor_name(), id="cpu", driver=None)

    async def evaluate(self, candidate: Candidate, task: Task, options: EvaluateOptions) -> Evaluation:
        """Evaluate one candidate. Raises ``UsageError`` for what cannot run here, ``InfrastructureError`` for faults of ours.

        A judge that dies twice gives a record with ``infrastructure`` to blame, never an outcome.
        """
        self._check(candidate, task, options)
        result: BuildResult = await self._build(candidate, task)
        policy = judge_policy(result.violations)
        seconds: dict[str, float | None] = {"build": result.build.seconds}
        findings, infrastructure = None, None
        undecided = None if options.wants("compare") else "the compare stage was not asked for"
        wanted = options.checks is not None or any(map(options.wants, RUN_FOR[self.backend]))
        if result.build.ok and policy[options.profile].ok and wanted:
            request = Request(
                task=task,
                options=options,
                language=candidate.language,
                symbol=candidate.symbol,
                entry_file=candidate.entry_file,
                library=str(result.library) if result.library else None,
                sources=candidate.sources if candidate.language is Language.PYTHON else (),
                cpus=(),
                gpu=self._gpu_request(result) if self.backend == "gpu" else None,
            )
            if request.gpu is not None and options.prove_by_mutation:
                request = request.model_copy(update={"gpu": await self._with_mutant(request.gpu, candidate, task)})
            try:
                findings = await self._judge(request, seconds)
            except JudgeError as error:
                infrastructure = error.message
        verdict = decide(
            options.profile,
            policy=policy,
            build=result.build,
            sanitizer=findings.sanitizer if findings else None,
            findings=findings,
            undecided=undecided,
            infrastructure=infrastructure,
        )
        return assemble(
            candidate,
            task,
            options,
            backend=self.backend,
            device=self.device,
            policy=policy,
            build=result.build,
            verdict=verdict,
            findings=findings,
            proof=self._proof(task, result, findings),
            seconds=seconds,
        )

    async def baseline(self, task: Task, *, seed: int = 0) -> Baseline | None:
        """Measure what candidates are held against on this GPU; None where that says nothing to anybody (CPU tasks, unknown GPUs).

        Raises ``InfrastructureError``, and for a reference that fails.
        """
        if self.backend != "gpu" or self.device.id is None:
            return None
        findings = await self._judge(Request.for_reference(task, EvaluateOptions(seed=seed)), {})
        if findings.reference_failure is not None:
            raise InfrastructureError(f"the reference of {task.name} fails: {findings.reference_failure}")
        if findings.reference_us is None or findings.reference_version is None:
            raise JudgeError("the judge measured no reference")
        version = findings.reference_version
        return Baseline(device=self.device.id, library=version.library, version=version.version, latency_us=findings.reference_us)

    def _gpu_request(self, result: BuildResult) -> GpuRequest:
        """Return what the judge needs of the build and of the toolchain beside the library."""
        from ptxbench.toolchain import locate

        sass = result.artifact("sass")
        return GpuRequest(
            sass=str(sass) if sass else None,
            kernels=result.build.kernels,
            libraries=(str(locate(self._builder.settings).cudart),),
            fill_shared=str(self._builder.assemble(FILL_SHARED, result.build.arch)),
        )

    async def _with_mutant(self, request: GpuRequest, candidate: Candidate, task: Task) -> GpuRequest:
        """Return the request with the mutated library, when the binary holds matrix instructions at all."""
        arch = architectures.get(task.arch)
        if not any(arch.is_mma(opcode) for kernel in request.kernels for opcode in kernel.opcodes):
            return request
        mutant = mutant_of(await self._build(candidate, task, mutation="zero_mma"))
        return request.model_copy(update={"mutant": mutant})

    def _proof(self, task: Task, result: BuildResult, findings: Findings | None) -> Proof | None:
        """Return what was counted, or else what the binary alone proves."""
        if findings is not None and findings.proof is not None:
            return findings.proof
        return static_proof(result.build, architectures.get(task.arch)) if result.build.ok else None

    def _check(self, candidate: Candidate, task: Task, options: EvaluateOptions) -> None:
        if candidate.arch != task.arch:
            raise UsageError(f"the candidate is for {candidate.arch}, the task for {task.arch}")
        if options.checks is not None and self.backend != "gpu":
            raise UsageError("memory checkers are for kernels on a GPU", next_step="leave --check out")
        if options.checks is not None and options.checks.task is not None and options.checks.task.definition != task.definition:
            raise UsageError(
                f"{options.checks.task.name} is another operator: a checker calls the kernel with what {task.name} gives"
            )
        languages = LANGUAGES[self.backend]
        if candidate.language not in languages:
            where = "on a GPU" if self.backend == "gpu" else "on the host's processor"
            raise UsageError(f"a {candidate.language} candidate cannot run {where}", next_step=f"write {' or '.join(languages)}")

    async def _build(self, candidate: Candidate, task: Task, mutation: Mutation | None = None) -> BuildResult:
        """Build in a thread; when the caller is cancelled, the compiler ends before this returns."""
        abandoned = threading.Event()
        self._running.add(abandoned.set)
        try:
            build = partial(self._builder.build, candidate, task.limits, cancel=abandoned, mutation=mutation)
            return await _in(self._building, build, abandoned.set)
        finally:
            self._running.discard(abandoned.set)

    async def _judge(self, request: Request, seconds: dict[str, float | None]) -> Findings:
        """Have a free worker judge; when the caller is cancelled, the worker's processes end before this returns."""
        cancelled = threading.Event()
        serving: list[Worker] = []
        queued = time.monotonic()

        def judge() -> Findings:
            worker, cpus = self._slots.get()
            serving.append(worker)
            seconds["wait"] = time.monotonic() - queued
            try:
                return worker.evaluate(request.model_copy(update={"cpus": cpus}), cancelled)
            finally:
                serving.clear()
                self._slots.put((worker, cpus))

        def cancel() -> None:
            cancelled.set()
            for worker in tuple(serving):
                worker.cancel(cancelled)

        self._running.add(cancel)
        try:
            return await _in(self._judging, judge, cancel)
        finally:
            self._running.discard(cancel)

    async def close(self) -> None:
        """End every judge and thread. Evaluations that are still running end as infrastructure failures."""
        for cancel in tuple(self._running):
            cancel()
        await asyncio.to_thread(self._shut_down)

    def _shut_down(self) -> None:
        self._building.shutdown(cancel_futures=True)
        self._judging.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()


async def _in(pool: ThreadPoolExecutor, work: Callable[[], T], stop: Callable[[], None] | None = None) -> T:
    """Run blocking work in a pool. When the caller is cancelled, work that can be stopped is, and its end is waited for."""
    running = pool.submit(work)
    future = asyncio.wrap_future(running)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if not running.cancel() and stop is not None:
            stop()
            await asyncio.wait([future])
            if not future.cancelled():
                future.exception()  # that the work ended early is no news to who cancelled it
        raise


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
