"""Whether a run could go on in a directory that is there, found out without opening it for writing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ptxbench.agent.engine.beginning import Identity, new_manifest
from ptxbench.agent.engine.directory import agreed_manifest, check_folder
from ptxbench.agent.engine.manifest import MANIFEST_NAME
from ptxbench.agent.engine.places import PlannedTask, TaskSource
from ptxbench.agent.models import load_model
from ptxbench.app.jobs import Job


def check_directory(
    job: Job, suite: TaskSource, planned: Sequence[tuple[PlannedTask, str | None]], *, accept_changes: bool
) -> None:
    """Raise what a run of the job would: ``RunMismatch`` for other settings, ``UsageError`` for a folder that holds no run.

    ``planned`` gives each task and the device table's name of where its candidates run, None for nowhere.
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
    agreed_manifest(job.folder, fresh, turns_done=0, accept_changes=accept_changes)


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
