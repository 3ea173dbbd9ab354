"""Which cells may stand in one table: everything equal that a table does not compare (protocol section 9)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ptxbench.metrics.frame import KEY, TurnFrame
from ptxbench.report.conditions import Marks, marks, together

ROWS = ("model", "checkpoint", "task", "workload", "run")
"""Parts of a key that name rows; all others keep rows apart, unless a table compares them."""

PACK_TEXT = "pack text"
"""The setting that changes with language, pack, arm and condition by their nature."""


@dataclass(frozen=True)
class Group:
    """Cells that may stand beside each other, with what they have in common."""

    frame: TurnFrame
    facts: dict[str, str]

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The cells as records, in the order of their keys, each with a ``label`` of its ``model`` and ``task``."""
        return labelled(self.frame.cells.rows(named=True))


def comparable(frame: TurnFrame, compares: Sequence[str] = ()) -> list[Group]:
    """Return the cells in groups, in the order of their keys. ``compares``: parts of the key that a table sets side by side."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for cell in frame.cells.rows(named=True):
        same = tuple(cell[name] for name in KEY if name not in (*ROWS, *compares))
        found.setdefault((*same, *_settings(cell, compares).items()), []).append(cell)
    return [_group(frame, cells, compares) for members in found.values() for cells in together(members, _marks)]


def _settings(cell: dict[str, Any], compares: Sequence[str]) -> dict[str, str]:
    settings: dict[str, str] = json.loads(cell["settings"])
    if {"language", "pack", "arm", "condition"}.intersection(compares):
        settings.pop(PACK_TEXT, None)
    return settings


def _marks(cell: Mapping[str, Any]) -> Marks:
    return marks(**{name: cell[name] for name in ("task", "workload", "baseline", "device_name", "proof_method")})


def _group(frame: TurnFrame, cells: list[dict[str, Any]], compares: Sequence[str]) -> Group:
    head = cells[0]
    device = next((cell["device_name"] for cell in cells if cell["device_name"]), head["device"])
    facts = {"profile": head["protocol"], "arch": head["arch"], "device": device or "none"}
    for name in ("language", "pack", "arm", "condition", "harness"):
        if name not in compares and head[name]:
            facts[name] = head[name]
    facts |= _settings(head, compares)
    method = next((cell["proof_method"] for cell in cells if cell["proof_method"]), None)
    facts |= {"proof method": method} if method else {}
    facts["baseline"] = ", ".join(sorted({cell["baseline"] for cell in cells if cell["baseline"]})) or "not measured"
    return Group(frame.only(pl.col("cell").is_in([cell["cell"] for cell in cells])), facts)


def labelled(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return cells with ``model_label`` and ``task_label``: names, and checkpoint, run or workload where names are not enough."""
    workloads: dict[str, set[str]] = {}
    alike: dict[tuple[Any, ...], list[str]] = {}
    for cell in cells:
        workloads.setdefault(cell["task"], set()).add(cell["workload"])
        alike.setdefault(tuple(cell[name] for name in KEY if name != "run"), []).append(cell["run"])
    again = {run for runs in alike.values() if len(runs) > 1 for run in runs}
    return [
        cell
        | {
            "model_label": cell["model"]
            + (f" [{cell['checkpoint']}]" if cell["checkpoint"] else "")
            + (f" ({cell['run']})" if cell["run"] in again else ""),
            "task_label": cell["task"] + (f"@{cell['workload'][:8]}" if len(workloads[cell["task"]]) > 1 else ""),
        }
        for cell in cells
    ]
