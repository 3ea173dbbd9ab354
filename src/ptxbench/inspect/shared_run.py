"""One open run directory for all samples that are played at once: one journal has one writer.

The first sample opens it and the last one closes it. Whoever comes later opens it again and goes on where the journal ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

import anyio

from ptxbench.agent.config import RunConfig
from ptxbench.agent.engine.events import Event, Incident, Progress, TurnFinished
from ptxbench.agent.engine.places import Place
from ptxbench.agent.engine.run import OpenRun, open_run
from ptxbench.agent.engine.slots import RequestSlots
from ptxbench.agent.engine.trajectory import Trajectory
from ptxbench.agent.models import Model
from ptxbench.agent.models.inspect_model import CONNECTIONS
from ptxbench.agent.spending import Caps, Spending
from ptxbench.app.evaluators import Evaluators
from ptxbench.app.machine import machine_settings
from ptxbench.core.canonical import content_hash
from ptxbench.core.errors import UsageError
from ptxbench.suite import Suite


@dataclass
class SharedRun:
    """An open run, its trajectories, and who watches which of them."""

    run: OpenRun
    closing: AsyncExitStack
    trajectories: dict[Place, Trajectory]
    watchers: dict[Place, Progress]
    users: int = 0

    def trajectory(self, place: Place) -> Trajectory:
        """Return the trajectory to play. Raises ``UsageError`` for one that the plan does not hold."""
        found = self.trajectories.get(place)
        if found is None:
            raise UsageError(
                f"trajectory {place.number} of {place.task} is not planned",
                next_step=f"use -T trajectories={place.number + 1}: the number of epochs follows from it",
            )
        return found


@dataclass
class _Open:
    """What is open in one event loop. Runs share their judges: two of them on one GPU would disturb each other's latencies."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    runs: dict[tuple[Path, str], SharedRun] = field(default_factory=dict)
    judges: dict[str | None, Evaluators] = field(default_factory=dict)

    async def leave(self, key: tuple[Path, str]) -> None:
        """Close the run when nobody plays it any more, and the judges when nobody plays anything."""
        shared = self.runs[key]
        shared.users -= 1
        if not shared.users:
            del self.runs[key]
            await shared.closing.aclose()
        if not self.runs:
            judges, self.judges = self.judges, {}
            for evaluators in judges.values():
                await evaluators.close()


_OPEN: WeakKeyDictionary[asyncio.AbstractEventLoop, _Open] = WeakKeyDictionary()


@asynccontextmanager
async def shared_run(
    config: RunConfig,
    suite: Suite,
    out: Path,
    model: Callable[[], Model],
    *,
    backend: str | None,
    accept_changes: bool,
    caps: Caps | None = None,
) -> AsyncIterator[SharedRun]:
    """Join the run in ``out``, or open it; errors are those of ``agent.run``.

    ``caps`` hold over all samples that are played at once. ``model`` makes the model for whoever opens the run. Samples of other
    settings in the same directory open it themselves, and are refused as everywhere.
    """
    here = _OPEN.setdefault(asyncio.get_running_loop(), _Open())
    key = (out.resolve(), content_hash(config))
    async with here.lock:
        shared = here.runs.get(key)
        if shared is None:
            judges = here.judges.setdefault(backend, Evaluators(backend, machine_settings()))
            shared = here.runs[key] = await _open(config, suite, judges, out, model(), accept_changes, caps)
        shared.users += 1
    try:
        yield shared
    finally:
        # Inspect cancels level by level: without a shield a cancelled sample could not release what others wait for.
        with anyio.CancelScope(shield=True):
            async with here.lock:
                await here.leave(key)


async def _open(
    config: RunConfig, suite: Suite, judges: Evaluators, out: Path, model: Model, accept_changes: bool, caps: Caps | None
) -> SharedRun:
    watchers: dict[Place, Progress] = {}

    def tell(event: Event) -> None:
        if isinstance(event, TurnFinished | Incident) and event.place in watchers:
            watchers[event.place](event)

    stack = AsyncExitStack()
    # How many requests are under way is Inspect's to say (--max-samples, --max-connections).
    slots = RequestSlots(CONNECTIONS)
    opening = open_run(
        config,
        suite,
        judges.lend,
        out,
        tell,
        model=model,
        slots=slots,
        spending=Spending(caps),
        accept_changes=accept_changes,
    )
    run = await stack.enter_async_context(opening)
    return SharedRun(run, stack, run.trajectories(), watchers)
