"""Names of folders for runs that name none: they say what a run is, so that the same command finds it again and no other does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptxbench.agent import RunConfig
from ptxbench.agent.engine.manifest import FREE_SETTINGS, MANIFEST_NAME, read_manifest
from ptxbench.agent.engine.places import TaskSource, plan
from ptxbench.agent.models import Sampling
from ptxbench.core.canonical import content_hash
from ptxbench.core.errors import UsageError
from ptxbench.schema import Record

LONGEST_NAME = 120
"""Characters; file systems take 255 bytes."""

NAMED_FIRST = frozenset({"model", "tasks"})
"""Settings with which every name begins."""

_SPELLED = {"profile": "protocol"}
"""Settings whose option has another name."""


def default_folder(config: RunConfig, *, backend: str | None = None) -> Path:
    """Return where a run is kept that names no folder: by model and tasks, and by each setting that is not the default.

    So runs that one directory may not hold together have one each. ``backend`` is what was asked for by that option. A directory of
    the same settings that an earlier version named by model and task alone is gone on with.
    """
    static = backend == "static"
    plain = Path("runs") / _file_name(f"{config.model}-{config.tasks[0]}{_more(config, hashed=False)}")
    if _holds(plain, config, static=static):
        return plain
    parts = [
        config.model,
        config.tasks[0] + _more(config, hashed=True),
        *_settings(config),
        *(["backend-static"] if static else []),
    ]
    return Path("runs") / _file_name("-".join(parts))


def default_plan_folder(path: Path) -> Path:
    """Return where a plan is kept that names no folder."""
    return Path("runs") / _file_name(path.stem)


def cell_folder_name(config: RunConfig, suite: TaskSource) -> str:
    """Return a name for a cell's folder that stays the same however the plan around the cell changes."""
    (item,) = plan(config, suite)
    known, guidance = item.knowledge, config.guidance
    parts: list[str] = [config.model, config.tasks[0], item.task.arch, item.language.value]
    parts += [known.pack, known.arm.value] if known is not None else []
    parts += [guidance] if known is not None and guidance is not None else []
    return _file_name("-".join(parts))


def _more(config: RunConfig, *, hashed: bool) -> str:
    """Return what stands for the tasks behind the first; ``hashed``: told apart from as many others."""
    more = len(config.tasks) - 1
    if not more:
        return ""
    return f"-and-{more}-more" + (f"-{_digest(list(config.tasks), 8)}" if hashed else "")


def _settings(config: RunConfig) -> Iterator[str]:
    """Yield every setting that is not its default and that a directory holds against other ones, as its option is spelled."""
    for name, value in _changed(config, RunConfig(tasks=config.tasks, model=config.model)):
        if name == "sampling":
            for inner, chosen in _changed(config.sampling, Sampling()):
                yield f"{'sampling_seed' if inner == 'seed' else inner}-{_spelled(chosen)}"
        elif name not in FREE_SETTINGS | NAMED_FIRST:
            yield name if value is True else f"{_SPELLED.get(name, name)}-{_spelled(value)}"


def _changed(record: Record, default: Record) -> Iterator[tuple[str, Any]]:
    others = default.model_dump(mode="json")
    return ((name, value) for name, value in record.model_dump(mode="json").items() if value != others[name])


def _spelled(value: Any) -> str:
    if isinstance(value, dict):
        return _digest(value, 8)
    if isinstance(value, list):
        return ".".join(map(str, value))
    return "none" if value is None else str(value).removesuffix(".0")


def _holds(folder: Path, config: RunConfig, *, static: bool) -> bool:
    """Whether a folder holds a run of these settings; ``static``: one whose kernels ran nowhere."""
    if not (folder / MANIFEST_NAME).is_file():
        return False
    try:
        found = read_manifest(folder)
    except UsageError:
        return False  # Of an unreadable directory nothing is known; who is led there all the same is told so.
    asked = config.model_dump(mode="json")
    same = all(found.config.get(name) == value for name, value in asked.items() if name not in FREE_SETTINGS | NAMED_FIRST)
    tasks = found.config.get("tasks") == asked["tasks"]
    return same and tasks and not (static and any(cell.key.device for cell in found.cells))


def _digest(value: Any, characters: int) -> str:
    return content_hash(value).removeprefix("sha256:")[:characters]


def _file_name(text: str) -> str:
    """Return a text as the name of a file: its plain characters, and a hash in place of what would be too long."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 13]}-{_digest(text, 12)}"
