"""What the page calls its figures and says beside them, and what others published of the same workloads."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from ptxbench.agent.imports.directory import BASELINES, TARGETS
from ptxbench.metrics.definitions import MetricDefinition, definitions
from ptxbench.report.published import Headline, headlines
from ptxbench.schema import CellKey, Profile

PUBLISHED_DEVICES = dict(TARGETS.values())
"""By architecture: what the published figures were measured on."""


@cache
def metric_notes() -> dict[str, dict[str, str]]:
    """Return by figure: ``label``, the ``short`` one of a table's header, ``formula``, and what it does ``not`` establish."""
    tables = tomllib.loads(files("ptxbench.report.page").joinpath("metrics.toml").read_text(encoding="utf-8"))
    return {name: _note(table) for name, table in tables.items()}


def _note(table: dict[str, str]) -> dict[str, str]:
    kept = {name: text for name, text in table.items() if name not in ("of", "short")}
    known = definitions()[table["of"]] if "of" in table else MetricDefinition.model_validate(kept)
    line = known.does_not_establish
    return {
        "label": known.name,
        "short": table.get("short", known.name),
        "formula": known.formula,
        "not": line[:1].lower() + line[1:].rstrip("."),
    }


def published(keys: Iterable[CellKey]) -> dict[str, list[dict[str, Any]]]:
    """Return by ``architecture/task/language`` the published best speedups and correct turns of these workloads.

    They are reference lines, in no figure of one's own. ``apart`` says what keeps one from being compared with a run here.
    """
    wanted = {(key.arch, key.task, key.language) for key in keys}
    found: dict[str, list[dict[str, Any]]] = {}
    for one in headlines():
        if (one.arch, one.task, one.language) in wanted and one.metric in ("best_speedup", "correct_turns", "turn_correctness"):
            found.setdefault(f"{one.arch}/{one.task}/{one.language}", []).append(_shown(one))
    return found


def _shown(one: Headline) -> dict[str, Any]:
    share = one.metric != "best_speedup"
    baseline = next((name for prefix, name in BASELINES.items() if (one.task or "").startswith(prefix)), None)
    return {
        "model": one.model,
        "arm": one.arm,
        "figure": "turn_correctness" if share else "best_speedup",
        "value": one.value if one.value is None or one.of is None else one.value / one.of,
        "source": f"{one.source.title}, {one.where}",
        "note": one.note,
        "device": PUBLISHED_DEVICES.get(one.arch or ""),
        "profile": Profile.PAPER.value,
        "baseline": None if share else baseline,
    }
