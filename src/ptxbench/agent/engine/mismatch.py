"""How the settings of a run directory and the present ones differ, told by the innermost names that do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ptxbench.core.errors import RunMismatch

MOST_TOLD = 4
"""How many differences one message lists."""

_TEXT = 120

_OPTIONS = {"config.pack": "--pack", "config.arm": "--arm", "config.guidance": "--guidance"}
"""Settings whose record of a choice is not what people type for it."""


def mismatch(field: str, was: Any, now: Any) -> RunMismatch:
    """Return the error for a field that differs. A field of mappings is told by the keys whose values differ."""
    found = list(_differences(field, was, now))
    told = [f"{name}: {_told(name, one, other)}" for name, one, other in found[:MOST_TOLD]]
    more = len(found) - len(told)
    return RunMismatch(
        f"the run directory was made with another {'; '.join(told)}{f'; and {more} more' if more else ''}",
        next_step="use the settings that the directory was made with, or choose another --out"
        + (", or --accept-changes to go on and have it recorded" if all(_is_version(name) for name, _, _ in found) else ""),
        field=field,
    )


def _told(name: str, was: Any, now: Any) -> str:
    """Return both values: of an option of knowledge as it is typed, else as JSON."""
    option = _OPTIONS.get(name)
    if option is None:
        return f"{short(was)}, now {short(now)}"
    return f"{_typed(option, was)} there, {_typed(option, now)} now"


def _typed(option: str, value: Any) -> str:
    """Return an option with its value; no pack is a value of its own, other options are left out."""
    if value is None:
        return f"{option} none" if option == "--pack" else f"no {option}"
    return f"{option} {value}"


def cells_by_task(cells: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return cells as flat mappings under names that people know: a key, variants, hashes of the task and of what prompts carry."""
    return {f"{cell['key']['task']}@{cell['key']['workload']}": _flat(cell) for cell in cells}


def _flat(cell: Mapping[str, Any]) -> dict[str, Any]:
    known = cell["knowledge"] or {}
    return {name: value for name, value in cell["key"].items() if name != "run"} | {
        "task_hash": cell["task_hash"],
        "variants": cell["variants"],
        "pack_text": known.get("texts"),
        "guidance_text": known.get("guidance_hash"),
    }


def short(value: Any) -> str:
    """Return a value as JSON, cut where it is too long for one line."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _TEXT else text[: _TEXT - 3] + "…"


def _differences(name: str, was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    if not (isinstance(was, Mapping) and isinstance(now, Mapping)):
        yield name, was, now
    elif name == "cells" and was.keys() != now.keys():
        yield name, list(was), list(now)
    else:
        for key in (*was, *(key for key in now if key not in was)):
            if key not in was or key not in now or was[key] != now[key]:
                yield from _differences(f"{name}.{key}", was.get(key), now.get(key))


def _is_version(name: str) -> bool:
    """Return whether a user may accept the difference: versions of code, model, suite, tasks and packs, and no settings."""
    of_a_cell = name.startswith("cells.") and (name.endswith((".task_hash", ".guidance_text")) or ".pack_text." in name)
    return name == "suite" or name.startswith(("code.", "model_facts")) or of_a_cell
