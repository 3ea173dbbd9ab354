"""Run the benchmark: a plan, the suite, an evaluator per task, a directory that can be resumed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ptxbench.agent import RunConfig, RunSummary
from ptxbench.agent import run as play
from ptxbench.agent.engine.events import Progress
from ptxbench.app.suites import open_suite
from ptxbench.core.settings import Settings
from ptxbench.evaluate import Evaluator, choose
from ptxbench.schema import Task
from ptxbench.toolchain import Builder


def default_folder(config: RunConfig) -> Path:
    """Return where a run is kept that names no folder: by model and tasks, so that the same command finds it again."""
    more = len(config.tasks) - 1
    name = f"{config.model}-{config.tasks[0]}{f'-and-{more}-more' if more else ''}"
    return Path("runs") / re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")


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
    """Play the plan into ``out``, or go on with what is there. Raises ``RunMismatch`` when ``out`` was made otherwise."""
    builder = Builder(settings)

    def evaluator_for(task: Task) -> Evaluator:
        return choose(task, backend, settings, builder)

    return asyncio.run(play(config, open_suite(suite_paths, warn), evaluator_for, out, progress))
