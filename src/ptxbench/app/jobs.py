"""Jobs: the runs that one command makes, each with its directory. One for options, one per cell for a plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ptxbench.agent import RunConfig
from ptxbench.agent.engine.manifest import MANIFEST_NAME, read_manifest
from ptxbench.agent.engine.places import TaskSource, plan
from ptxbench.agent.models.address import check_address, refuse_empty
from ptxbench.agent.models.openai_compatible import named_address
from ptxbench.agent.models.secrets import public_address
from ptxbench.agent.plan import RunPlan
from ptxbench.agent.prices import Price, Prices
from ptxbench.core.canonical import content_hash
from ptxbench.core.errors import UsageError


@dataclass(frozen=True)
class Job:
    """One run: what is asked, where it is kept, how its model is reached."""

    config: RunConfig
    folder: Path
    base_url: str | None = None
    key_variable: str | None = None

    @property
    def asks(self) -> tuple[str, str | None, str | None]:
        """What model is reached and how: jobs with equal ones share its connections."""
        return self.config.model, self.base_url, self.key_variable

    @property
    def name(self) -> str:
        """Name for people: the folder's."""
        return self.folder.name


def single_job(config: RunConfig, *, out: Path | None, prices: Prices, base_url: str | None = None) -> Job:
    """Return the job that the options of a command describe. ``out`` None: a folder by model and task."""
    folder = out or default_folder(config)
    return Job(_completed(config, folder, prices, base_url), folder, base_url)


def plan_jobs(plan_: RunPlan, *, name: str, out: Path, suite: TaskSource, prices: Prices) -> list[Job]:
    """Return a plan's jobs in order, each in a folder of ``out`` that its cell names.

    Raises ``UsageError`` for what does not exist or does not fit together, and when ``out`` is a run directory.
    """
    if (out / MANIFEST_NAME).exists():
        raise UsageError(f"{out} is the directory of one run, not of a plan", next_step="choose another --out")
    jobs: dict[Path, Job] = {}
    for cell in plan_.cells(name):
        folder = out / _cell_name(cell.config, suite)
        config = _completed(cell.config, folder, prices, cell.choice.base_url)
        if folder in jobs:
            raise UsageError(f"two cells of the plan would be kept in {folder}", next_step="name each combination once")
        jobs[folder] = Job(config, folder, cell.choice.base_url, cell.choice.key_variable)
    return list(jobs.values())


LONGEST_NAME = 120
"""Characters; file systems take 255 bytes."""


def default_folder(config: RunConfig) -> Path:
    """Return where a run is kept that names no folder: by model and tasks, so that the same command finds it again."""
    more = len(config.tasks) - 1
    return Path("runs") / _file_name(f"{config.model}-{config.tasks[0]}{f'-and-{more}-more' if more else ''}")


def default_plan_folder(path: Path) -> Path:
    """Return where a plan is kept that names no folder."""
    return Path("runs") / _file_name(path.stem)


def _completed(config: RunConfig, folder: Path, prices: Prices, base_url: str | None) -> RunConfig:
    """Return the configuration with its endpoint, and with the price that the run began with, else the one that is known now."""
    refuse_empty(base_url)
    address = base_url
    if config.model.startswith("openai/"):
        address = named_address(base_url)
        if address is not None:
            check_address(address)
    found = _price_on_record(folder) or prices.find(config.model, own_endpoint=address is not None)
    return config.model_copy(update={"endpoint": public_address(address) if address else None, "price": found})


def _price_on_record(folder: Path) -> Price | None:
    if not (folder / MANIFEST_NAME).is_file():
        return None
    recorded = read_manifest(folder).config.get("price")
    return None if recorded is None else Price.model_validate(recorded)


def _cell_name(config: RunConfig, suite: TaskSource) -> str:
    """Return a folder's name that stays the same however the plan around the cell changes."""
    (item,) = plan(config, suite)
    known, guidance = item.knowledge, config.guidance
    parts: list[str] = [config.model, config.tasks[0], item.task.arch, item.language.value]
    parts += [known.pack, known.arm.value] if known is not None else []
    parts += [guidance] if known is not None and guidance is not None else []
    return _file_name("-".join(parts))


def _file_name(text: str) -> str:
    """Return a text as the name of a file: its plain characters, and a hash in place of what would be too long."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 13]}-{content_hash(text).removeprefix('sha256:')[:12]}"
