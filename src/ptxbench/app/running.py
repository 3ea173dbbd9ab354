"""Run the benchmark: one job or the many of a plan, in one process, on shared evaluators, in directories that can be resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

from ptxbench.agent import RunConfig, RunSummary
from ptxbench.agent import run as play
from ptxbench.agent.engine.events import Event, Progress
from ptxbench.agent.engine.places import PlannedTask, TaskSource, plan, trajectories_of
from ptxbench.agent.engine.slots import RequestSlots
from ptxbench.agent.models import Model, load_model
from ptxbench.agent.spending import Caps, Spending
from ptxbench.app.evaluators import Evaluators
from ptxbench.app.jobs import Job
from ptxbench.app.suites import open_suite
from ptxbench.core.errors import PtxbenchError
from ptxbench.core.interruption import run_interruptible
from ptxbench.core.settings import Settings
from ptxbench.schema import Record


class SweepSummary(Record):
    """How the runs of a plan stand when the command ends."""

    plan: str
    folder: str
    planned_turns: int
    evaluated_turns: int
    new_turns: int
    paused_by: str | None
    """The cap that holds some trajectories."""
    runs: tuple[RunSummary, ...]

    @property
    def exit_code(self) -> int:
        """3 when a fault left something incomplete, else 4 when a cap or this machine left turns open, else 0."""
        codes = {run.exit_code for run in self.runs}
        return next((code for code in (3, 4) if code in codes), 0)


def run_benchmark(
    config: RunConfig,
    *,
    out: Path,
    suite_paths: Sequence[Path],
    settings: Settings,
    backend: str | None = None,
    progress: Progress | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> RunSummary:
    """Play one run into ``out``, or go on with what is there. Raises ``RunMismatch`` when ``out`` was made otherwise."""
    watch = progress or (lambda _: None)
    (summary,) = run_jobs(
        [Job(config, out)],
        suite=open_suite(suite_paths, warn),
        settings=settings,
        backend=backend,
        progress=lambda _, event: watch(event),
        warn=warn,
    )
    return summary


def run_jobs(
    jobs: Sequence[Job],
    *,
    suite: TaskSource,
    settings: Settings,
    backend: str | None = None,
    caps: Caps | None = None,
    accept_changes: bool = False,
    progress: Callable[[Job, Event], None] = lambda _, __: None,
    when_checked: Callable[[], None] = lambda: None,
    warn: Callable[[str], None] = lambda _: None,
) -> list[RunSummary]:
    """Play the jobs side by side and return their summaries in order.

    Nothing is asked before every job was checked and every compiler that they need was tried on the least kernel; of requests that
    wait, those of the first jobs are served first. ``caps`` and the first job's ``concurrency`` hold over all of them.
    ``when_checked`` is called between the last check and the first request, and ``warn`` where answers will be asked that nothing
    here can run. Raises what ``ptxbench.agent.run`` raises, for the first job that does; the steps of all are on disk then.
    """
    evaluators = Evaluators(backend, settings)

    def begin() -> None:
        when_checked()
        if archs := evaluators.only_compiled():
            warn(
                f"nothing here can run {' or '.join(archs)} kernels (ptxbench doctor says why): "
                "answers are asked and paid for, and kernels are only compiled"
            )

    return run_interruptible(_run_jobs(jobs, suite, evaluators, Spending(caps), accept_changes, progress, begin))


async def _run_jobs(
    jobs: Sequence[Job],
    suite: TaskSource,
    evaluators: Evaluators,
    spending: Spending,
    accept_changes: bool,
    progress: Callable[[Job, Event], None],
    begin: Callable[[], None],
) -> list[RunSummary]:
    # What cannot be run is refused before any client is made.
    trajectories = [trajectories_of(job.config, plan(job.config, suite)) for job in jobs]
    slots = RequestSlots(jobs[0].config.concurrency)
    checked = asyncio.Barrier(len(jobs))
    models: dict[tuple[str, str | None, str | None], Model] = {}
    try:
        for job in jobs:
            if job.asks not in models:
                name, base_url, key_variable = job.asks
                models[job.asks] = load_model(name, base_url=base_url, key_variable=key_variable)

        async def ready(left: list[PlannedTask]) -> None:
            # An answer that is paid for before the compiler is found to be broken would have to wait until it is mended.
            await evaluators.ensure_builds(left)
            if checked.n_waiting == checked.parties - 1:
                begin()
            await checked.wait()

        def watch(job: Job) -> Progress:
            return lambda event: progress(job, event)

        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(
                    play(
                        job.config,
                        suite,
                        evaluators.lend,
                        job.folder,
                        watch(job),
                        model=models[job.asks],
                        slots=slots,
                        spending=spending,
                        accept_changes=accept_changes,
                        ready=ready,
                        first_rank=ahead,
                    )
                )
                for job, ahead in zip(jobs, accumulate(trajectories, initial=0), strict=False)
            ]
    except* PtxbenchError as failures:
        raise _first(failures) from None
    finally:
        await evaluators.close()
        for model in models.values():
            await model.close()
    return [task.result() for task in tasks]


def _first(failures: BaseExceptionGroup[PtxbenchError]) -> PtxbenchError:
    error: BaseException = failures
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, PtxbenchError)
    return error
