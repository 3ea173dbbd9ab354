"""Jobs: the runs that one command makes, each with its directory. One for options, one per cell for a plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ptxbench.agent import RunConfig
from ptxbench.agent.engine.manifest import MANIFEST_NAME, read_manifest
from ptxbench.agent.engine.places import TaskSource
from ptxbench.agent.models.address import check_address, refuse_empty
from ptxbench.agent.models.openai_compatible import named_address
from ptxbench.agent.models.secrets import public_address
from ptxbench.agent.plan import RunPlan
from ptxbench.agent.prices import Price, Prices
from ptxbench.app.folder_names import cell_folder_name, default_folder
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


def single_job(
    config: RunConfig, *, out: Path | None, prices: Prices, base_url: str | None = None, backend: str | None = None
) -> Job:
    """Return the job that the options of a command describe. ``out`` None: a folder that its settings name."""
    folder = out or default_folder(config, backend=backend)
    return Job(_completed(config, folder, prices, base_url), folder, base_url)


def plan_jobs(plan_: RunPlan, *, name: str, out: Path, suite: TaskSource, prices: Prices) -> list[Job]:
    """Return a plan's jobs in order, each in a folder of ``out`` that its cell names.

    Raises ``UsageError`` for what does not exist or does not fit together, and when ``out`` is a run directory.
    """
    if (out / MANIFEST_NAME).exists():
        raise UsageError(f"{out} is the directory of one run, not of a plan", next_step="choose another --out")
    jobs: dict[Path, Job] = {}
    for cell in plan_.cells(name):
        folder = out / cell_folder_name(cell.config, suite)
        config = _completed(cell.config, folder, prices, cell.choice.base_url)
        if folder in jobs:
            raise UsageError(f"two cells of the plan would be kept in {folder}", next_step="name each combination once")
        jobs[folder] = Job(config, folder, cell.choice.base_url, cell.choice.key_variable)
    return list(jobs.values())


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
