"""A run: every trajectory of a plan, several at once, in a directory that can be resumed."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ptxbench.agent.config import RunConfig
from ptxbench.agent.engine.beginning import new_manifest
from ptxbench.agent.engine.directory import check_folder, open_manifest
from ptxbench.agent.engine.events import Event, MeasuringReference, Progress, RunStarted, TrajectoryEnded
from ptxbench.agent.engine.late_versions import LateVersions
from ptxbench.agent.engine.ledger import Ledger
from ptxbench.agent.engine.manifest import Manifest
from ptxbench.agent.engine.places import Place, PlannedTask, TaskSource, plan, trajectories_of
from ptxbench.agent.engine.slots import RequestSlots
from ptxbench.agent.engine.stage import Stage
from ptxbench.agent.engine.trajectory import Trajectory
from ptxbench.agent.models import Model, load_model
from ptxbench.agent.spending import Spending
from ptxbench.core.errors import PtxbenchError
from ptxbench.evaluate import Evaluator
from ptxbench.packs import Library
from ptxbench.schema import Baseline, Device, Pace, Record, Task


class StoppedTrajectory(Record):
    """A trajectory that a fault stopped: which, and the fault."""

    task: str
    trajectory: str
    reason: str


class RunSummary(Record):
    """How a run stands when it ends."""

    run: str
    planned_turns: int
    evaluated_turns: int
    new_turns: int
    """Turns that this call added to the journal."""
    finished: int
    not_reached: int
    """Trajectories that the model's context window ended."""
    incomplete: tuple[StoppedTrajectory, ...]
    paused: int = 0
    """Trajectories that a cap holds; the same command with a higher one goes on."""
    paused_by: str | None = None
    """The cap that was reached."""
    undecided_turns: int = 0
    """Turns that could not be judged where the run was made: neither right nor wrong."""
    undecided_because: str | None = None
    """The most common reason."""
    cost_usd: float | None = None
    """What all replies of the run cost so far; None when one's cost is unknown."""
    pace: Pace = Pace()
    """Of all turns of the run so far."""

    @property
    def exit_code(self) -> int:
        """0 when every turn was judged, 3 when a fault left some incomplete, 4 when a cap or this machine left turns open."""
        return 3 if self.incomplete else 4 if self.paused or self.undecided_turns else 0


async def run(
    config: RunConfig,
    suite: TaskSource,
    evaluator_for: Callable[[Task], Evaluator],
    out: Path,
    progress: Progress | None = None,
    *,
    model: Model | None = None,
    slots: RequestSlots | None = None,
    spending: Spending | None = None,
    accept_changes: bool = False,
    ready: Callable[[list[PlannedTask]], Awaitable[object]] | None = None,
    first_rank: int = 0,
    packs: Library | None = None,
) -> RunSummary:
    """Play all trajectories of ``config`` and keep everything in ``out``; resume when ``out`` is a run directory.

    ``slots`` bounds the requests that are in flight at once (``config.concurrency`` when it is not given), ``spending`` what they
    may use; several runs may share them.
    ``accept_changes`` goes on in a directory of other versions and records that. ``ready`` is awaited when everything is checked
    and before the first request, with the tasks of the run, none when all of its turns are done. ``first_rank`` is the place of
    the run's first trajectory among all that wait for the slots.
    ``packs`` is where knowledge comes from, None for what comes with ptxbench.

    ``evaluator_for`` is called once per task; its evaluators are closed at the end. ``progress`` gets every event. Raises
    ``UsageError`` for a plan that cannot be run, ``RunMismatch`` when ``out`` was made with other settings, ``StorageError``
    when the disk is full. Faults of models and of infrastructure are no exception: their trajectories are ``incomplete``.
    """
    opening = open_run(
        config,
        suite,
        evaluator_for,
        out,
        progress,
        model=model,
        slots=slots,
        spending=spending,
        accept_changes=accept_changes,
        packs=packs,
    )
    async with opening as opened:
        if ready is not None:
            done = opened.stage.ledger.turns_done >= trajectories_of(config, opened.planned) * config.turns
            await ready([] if done else opened.planned)
        return await _play(opened, first_rank)


@dataclass(frozen=True)
class OpenRun:
    """A run directory that is open for writing: what its trajectories share, and who plays them."""

    stage: Stage
    manifest: Manifest
    planned: list[PlannedTask]
    evaluators: list[Evaluator]

    def trajectories(self, first_rank: int = 0) -> dict[Place, Trajectory]:
        """Return every planned trajectory, each to be played once."""
        planned = [
            (item, cell.key, place, evaluator)
            for item, cell, evaluator in zip(self.planned, self.manifest.cells, self.evaluators, strict=True)
            for place in item.places(self.stage.config)
        ]
        return {
            place: Trajectory(self.stage, item, key, place, evaluator, rank=rank)
            for rank, (item, key, place, evaluator) in enumerate(planned, first_rank)
        }


@asynccontextmanager
async def open_run(
    config: RunConfig,
    suite: TaskSource,
    evaluator_for: Callable[[Task], Evaluator],
    out: Path,
    progress: Progress | None = None,
    *,
    model: Model | None = None,
    slots: RequestSlots | None = None,
    spending: Spending | None = None,
    accept_changes: bool = False,
    packs: Library | None = None,
) -> AsyncIterator[OpenRun]:
    """Open a run directory for those who play its trajectories themselves; arguments and errors are those of ``run``."""
    planned = plan(config, suite, packs)
    asked = model or load_model(config.model)
    evaluators: list[Evaluator] = []
    try:
        for item in planned:
            evaluators.append(evaluator_for(item.task))
        devices = [device_of(evaluator, item.task) for evaluator, item in zip(evaluators, planned, strict=True)]
        fresh = new_manifest(
            config,
            asked,
            suite.hash,
            list(zip(planned, devices, strict=True)),
            folder_name=out.resolve().name,
            devices=_described(evaluators),
        )
        check_folder(out)
        with Ledger(out) as ledger:
            manifest = open_manifest(out, fresh, ledger, accept_changes=accept_changes)
            if config.feedback == "full" and ledger.empty:
                # Later, requests that went out would have said less than those to come.
                manifest = await _with_baselines(manifest, planned, evaluators, out, progress or _silent)
            stage = Stage(
                config=config,
                model=asked,
                ledger=ledger,
                versions=LateVersions(manifest, out, accept_after=ledger.turns_done if accept_changes else None),
                slots=slots or RequestSlots(config.concurrency),
                progress=progress or _silent,
                suite=suite.hash,
                spending=spending or Spending(),
                baselines={
                    (cell.key.task, cell.key.workload, cell.key.arch): cell.baseline
                    for cell in manifest.cells
                    if cell.baseline is not None
                },
            )
            for usage in ledger.used():
                stage.spending.add(usage)
            for reply in ledger.unfinished():
                # One that was refused before is refused again before anything is asked.
                stage.versions.check_served_model(reply.served_model)
            try:
                yield OpenRun(stage, manifest, planned, evaluators)
            finally:
                await ledger.settle()
    finally:
        for evaluator in {id(evaluator): evaluator for evaluator in evaluators}.values():
            await evaluator.close()
        if model is None:
            await asked.close()


def device_of(evaluator: Evaluator, task: Task) -> str | None:
    """Return the device table's name of where candidates of a task run, None when they do not run.

    An evaluator may say it by an attribute ``device`` (a ``Device``); without one, CPU tasks run on ``cpu``.
    """
    device = getattr(evaluator, "device", None)
    if isinstance(device, Device):
        return device.id
    return "cpu" if task.arch == "cpu" and evaluator.backend != "static" else None


async def _with_baselines(
    manifest: Manifest, planned: list[PlannedTask], evaluators: list[Evaluator], out: Path, progress: Progress
) -> Manifest:
    """Return the manifest with the reference's latency for each cell whose evaluator can measure it.

    An evaluator says that it can by having a method ``baseline``.
    """
    measured: list[Baseline | None] = []
    for item, evaluator, cell in zip(planned, evaluators, manifest.cells, strict=True):
        measure = getattr(evaluator, "baseline", None) if cell.baseline is None else None
        if measure is not None and cell.key.device not in (None, "cpu"):  # Elsewhere there is nothing to measure.
            progress(MeasuringReference(item.task.name))
        measured.append(await measure(item.task) if measure is not None else None)
    found = manifest.with_baselines(measured)
    if found != manifest:
        found.write(out)
    return found


def _described(evaluators: list[Evaluator]) -> tuple[Device, ...]:
    """Return the devices that evaluators name, each once."""
    found = (getattr(evaluator, "device", None) for evaluator in evaluators)
    return tuple(dict.fromkeys(device for device in found if isinstance(device, Device)))


async def _play(opened: OpenRun, first_rank: int) -> RunSummary:
    stage, manifest = opened.stage, opened.manifest
    config, ledger, progress = stage.config, stage.ledger, stage.progress
    done_before = ledger.turns_done
    trajectories = trajectories_of(config, opened.planned)
    planned_turns = trajectories * config.turns
    progress(RunStarted(manifest.run, planned_turns, done_before, trajectories, tuple(ledger.rows()), config.endpoint))

    async def play(trajectory: Trajectory) -> TrajectoryEnded:
        ended = await trajectory.play()
        progress(ended)
        return ended

    tasks: list[asyncio.Task[TrajectoryEnded]] = []
    try:
        async with asyncio.TaskGroup() as group:
            for trajectory in opened.trajectories(first_rank).values():
                tasks.append(group.create_task(play(trajectory)))
    except* PtxbenchError as failures:
        raise _first(failures) from None
    ends = [task.result() for task in tasks]
    reasons = Counter(row.undecided or "no reason given" for row in ledger.rows() if row.outcome is None)
    return RunSummary(
        run=manifest.run,
        planned_turns=planned_turns,
        evaluated_turns=ledger.turns_done,
        new_turns=ledger.turns_done - done_before,
        finished=sum(end.state == "finished" for end in ends),
        not_reached=sum(end.state == "not_reached" for end in ends),
        incomplete=tuple(
            StoppedTrajectory(task=end.place.task, trajectory=end.place.trajectory, reason=end.reason or "")
            for end in ends
            if end.state == "incomplete"
        ),
        paused=sum(end.state == "paused" for end in ends),
        paused_by=next((end.reason for end in ends if end.state == "paused"), None),
        undecided_turns=reasons.total(),
        undecided_because=next((reason for reason, _ in reasons.most_common(1)), None),
        cost_usd=_cost(ledger),
        pace=Pace.of(ledger.rows()),
    )


def _cost(ledger: Ledger) -> float | None:
    costs = [usage.cost_usd for usage in ledger.used()]
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if known and len(known) == len(costs) else None


def _first(failures: BaseExceptionGroup[PtxbenchError]) -> PtxbenchError:
    error: BaseException = failures
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, PtxbenchError)
    return error


def _silent(event: Event) -> None:
    """Progress that nobody watches."""
