"""The solver: plays one trajectory with our engine, in the sample's own context, so that Inspect's limits and events apply."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from inspect_ai.log import transcript
from inspect_ai.model import get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ptxbench.agent.config import RunConfig
from ptxbench.agent.engine.places import Place
from ptxbench.agent.models.inspect_model import InspectModel, inspect_name, sampling_of
from ptxbench.agent.spending import Caps
from ptxbench.app.folder_names import default_folder
from ptxbench.app.suites import open_suite
from ptxbench.core.errors import ModelError, UsageError
from ptxbench.inspect.logbook import Logbook
from ptxbench.inspect.shared_run import shared_run
from ptxbench.inspect.wording import told
from ptxbench.schema import Record


class Where(Record):
    """Where a run is kept, where its tasks come from, and where its candidates run."""

    out: str | None = None
    suite: tuple[str, ...] = ()
    backend: str | None = None
    accept_changes: bool = False
    """Go on in a directory that other versions of code, suite or model made, and record that."""
    caps: Caps = Caps()
    """Over the whole run, earlier calls included."""


@solver
def trajectory(config: dict[str, Any], where: dict[str, Any]) -> Solver:
    """Play the sample's trajectory into the run directory: epoch n is trajectory n-1 of the sample's task and variant.

    ``config`` holds the fields of ``RunConfig`` but for the model and its sampling, which are Inspect's (``--model``,
    ``--temperature``, …) and are recorded as ours; ``where`` holds those of ``Where``.
    """
    kept = Where.model_validate(where, strict=False)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        with told():
            _check_backend()
            await _play(state, config, kept)
        return state

    return solve


def _check_backend() -> None:
    """Raise ``UsageError`` under trio: the engine is made of asyncio."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise UsageError("ptxbench plays under asyncio only", next_step="unset INSPECT_ASYNC_BACKEND") from None


async def _play(state: TaskState, config: dict[str, Any], where: Where) -> None:
    model = get_model()
    name = inspect_name(model)
    plan = RunConfig.model_validate({**config, "model": name, "sampling": sampling_of(model)}, strict=False)
    folder = Path(where.out) if where.out else default_folder(plan, backend=where.backend)
    suite = open_suite([Path(path) for path in where.suite])
    about = state.metadata
    place = Place(
        task=about["task"],
        workload=about["workload"],
        arch=about["arch"],
        variant=about["variant"],
        number=state.epoch - 1,
    )
    joining = shared_run(
        plan,
        suite,
        folder,
        lambda: InspectModel(model, connections=None),
        backend=where.backend,
        accept_changes=where.accept_changes,
        caps=where.caps,
    )
    async with joining as shared:
        player = shared.trajectory(place)
        logbook = Logbook(state, transcript(), shared.run, place, name)
        shared.watchers[place] = logbook.tell
        logbook.begin(folder)
        try:
            ended = await player.play()
        finally:
            del shared.watchers[place]
            logbook.finish()
        state.metadata["trajectory_ended"] = {"state": ended.state, "reason": ended.reason}
        if ended.state in ("incomplete", "paused"):
            again = "run the same command again" + (" with a higher cap" if ended.state == "paused" else "")
            raise ModelError(f"trajectory {place.trajectory} of {place.task} stopped: {ended.reason}", next_step=again)
