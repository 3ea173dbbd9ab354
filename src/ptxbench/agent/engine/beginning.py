"""The manifest of a run that begins now: its code, its environment, and its cells."""

from __future__ import annotations

import platform
import secrets
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Protocol

from ptxbench import __version__
from ptxbench.agent.config import RunConfig
from ptxbench.agent.engine.manifest import Code, Environment, Manifest, ManifestCell
from ptxbench.agent.engine.places import PlannedTask
from ptxbench.agent.templating import templates_hash
from ptxbench.core.fingerprint import code_fingerprint
from ptxbench.schema import CellKey, Device

AGENT_PARTS = (
    "agent/prompt.py",
    "agent/goal.py",
    "agent/guidance.py",
    "agent/knowledge.py",
    "agent/languages.py",
    "agent/history.py",
    "agent/reasoning.py",
    "agent/reasoning.toml",
    "agent/extract.py",
    "agent/literals.py",
    "agent/feedback",
    "agent/engine/opening.py",
    "agent/engine/trajectory.py",
    "agent/engine/rows.py",
)
"""Code of this room that decides what a model is asked and what is taken from its answer (providers and exports do not)."""


class Identity(Protocol):
    """What a run directory knows a model by."""

    @property
    def name(self) -> str:
        """Name for records."""

    def facts(self) -> dict[str, Any]:
        """Return what identifies the model beyond its name."""


def new_manifest(
    config: RunConfig,
    model: Identity,
    suite_hash: str,
    planned: list[tuple[PlannedTask, str | None]],
    *,
    folder_name: str,
    devices: tuple[Device, ...] = (),
) -> Manifest:
    """Return the manifest of a run that begins now; ``planned`` gives each task and the id of the device that it runs on."""
    run = f"{folder_name or 'run'}-{secrets.token_hex(4)}"
    cells = tuple(
        ManifestCell(
            key=CellKey(
                model=model.name,
                arch=item.task.arch,
                device=device,
                task=item.task.name,
                workload=item.task.workload.uuid,
                language=item.language.value,
                pack=item.knowledge.pack if item.knowledge is not None else None,
                arm=item.knowledge.arm.value if item.knowledge is not None else None,
                condition=condition_of(item),
                protocol=config.profile.value,
                run=run,
            ),
            task_hash=item.task_hash,
            variants=item.variants,
            knowledge=item.knowledge.use(device) if item.knowledge is not None else None,
        )
        for item, device in planned
    )
    return Manifest(
        run=run,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        code=_code(),
        environment=Environment(
            python=platform.python_version(), platform=f"{platform.system()} {platform.machine()}", devices=devices
        ),
        model=model.name,
        model_facts=model.facts(),
        suite=suite_hash,
        config=config.model_copy(update={"model": model.name}).model_dump(mode="json"),
        cells=cells,
    )


def condition_of(item: PlannedTask) -> str | None:
    """Return the condition that keys a cell's rows beside pack and arm."""
    guidance = item.knowledge.guidance if item.knowledge is not None else None
    return None if guidance is None else f"guidance:{guidance.id}"


def _code() -> Code:
    return Code(
        version=__version__,
        templates=templates_hash(),
        agent=code_fingerprint(*AGENT_PARTS),
        judge=code_fingerprint("schema", "arch", "suite", "toolchain", "evaluate"),
        numpy=version("numpy"),
    )
