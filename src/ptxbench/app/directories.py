"""Whether a run could go on in a directory that is there, found out without opening it for writing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxbench.agent.engine.beginning import Identity, new_manifest
from ptxbench.agent.engine.directory import agreed_manifest, check_folder
from ptxbench.agent.engine.manifest import MANIFEST_NAME, Manifest, read_manifest
from ptxbench.agent.engine.places import PlannedTask, TaskSource
from ptxbench.agent.models import load_model
from ptxbench.app.jobs import Job
from ptxbench.arch import DEVICES
from ptxbench.core.errors import RunMismatch


def check_directory(
    job: Job,
    suite: TaskSource,
    planned: Sequence[tuple[PlannedTask, str | None]],
    *,
    device: str | None,
    accept_changes: bool,
) -> None:
    """Raise what a run of the job would: ``RunMismatch`` for other settings, ``UsageError`` for a folder that holds no run.

    ``planned`` gives each task and the device table's name of where its candidates run, None for nowhere; ``device`` is the one
    that was asked for by name.
    """
    check_folder(job.folder)
    if not (job.folder / MANIFEST_NAME).exists():
        return
    fresh = new_manifest(
        job.config,
        _identity(job),
        suite.hash,
        list(planned),
        folder_name=job.folder.resolve().name,
    )
    try:
        agreed_manifest(job.folder, fresh, turns_done=0, accept_changes=accept_changes)
    except RunMismatch as error:
        step = _other_device(read_manifest(job.folder), fresh, device) if error.details.get("field") == "cells" else None
        raise RunMismatch(error.message, next_step=step or error.next_step, **error.details) from None


def _other_device(there: Manifest, now: Manifest, device: str | None) -> str | None:
    """Return which ``--device`` the run's own machine is, where another one (or none) was asked for; None where that is not it."""
    recorded = {(cell.key.task, cell.key.workload, cell.key.arch): cell.key.device for cell in there.cells}
    for key in (cell.key for cell in now.cells):
        was = recorded.get((key.task, key.workload, key.arch), key.device)
        if was != key.device and was in DEVICES:
            return f"use --device {was}, as the directory was made there"
        if was != key.device and device is not None:
            return "leave --device out: the directory was made on a machine without it"
    return None


@dataclass(frozen=True)
class _Identity:
    name: str
    about: dict[str, Any]

    def facts(self) -> dict[str, Any]:
        return self.about


def _identity(job: Job) -> Identity:
    name, base_url, key_variable = job.asks
    if name.startswith("openai/"):
        return _Identity(name, {})  # An endpoint's model is known by its name, and a dry run needs no key.
    model = load_model(name, base_url=base_url, key_variable=key_variable)
    asyncio.run(model.close())
    return _Identity(model.name, model.facts())
