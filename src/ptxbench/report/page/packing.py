"""Details of trajectories as text that fits into an HTML file: deflated JSON in base64, as much of it as a budget allows."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ptxbench.agent.engine.ledger import TurnStep
from ptxbench.metrics.verdicts import is_correct, is_qualified
from ptxbench.report.page.details import trajectory_details
from ptxbench.report.page.runs import Run
from ptxbench.schema import CellKey, Turn

PAGE_BYTES = 14_000_000
"""What a page may hold in all, summary and program included: a browser opens it without a wait that people notice."""


@dataclass(frozen=True)
class Packed:
    """Details of many trajectories in one text. ``places`` says by cell and trajectory where: offset, length and turns held."""

    text: str
    places: dict[tuple[CellKey, str], tuple[int, int, tuple[int, ...]]]
    whole: bool
    """Whether every turn is held with all that there is of it."""


def packed(runs: Sequence[Run], budget: int) -> Packed:
    """Return the details of all turns where they fit into ``budget`` characters, else of each trajectory's best and last turn.

    The best and the last turns are held at any size: they are what a page is for.
    """
    try:
        return _pack(runs, everything=True, budget=budget)
    except _TooLarge:
        return _pack(runs, everything=False)


class _TooLarge(Exception):
    """The details are larger than their budget."""


def _pack(runs: Sequence[Run], *, everything: bool, budget: int | None = None) -> Packed:
    """Return the packed details. Raises ``_TooLarge`` as soon as they are larger than the budget."""
    parts: list[str] = []
    places: dict[tuple[CellKey, str], tuple[int, int, tuple[int, ...]]] = {}
    size = 0
    for run in runs:
        for key, name, steps in trajectories(run):
            kept = steps if everything else best_and_last(steps)
            part = deflated(trajectory_details(kept, run.store, replies=everything))
            places[key, name] = (size, len(part), tuple(step.row.turn for step in kept))
            parts.append(part)
            size += len(part)
            if budget is not None and size > budget:
                raise _TooLarge
    return Packed("".join(parts), places, everything)


def trajectories(run: Run) -> Iterator[tuple[CellKey, str, list[TurnStep]]]:
    """Yield each trajectory of a run with its turns in order; imported ones too, of which nothing is stored."""
    members: dict[tuple[CellKey, str], list[TurnStep]] = {}
    for step in run.turns:
        members.setdefault((step.row.key, step.row.trajectory), []).append(step)
    for (key, name), steps in members.items():
        yield key, name, sorted(steps, key=lambda step: step.row.turn)


def best_and_last(steps: Sequence[TurnStep]) -> list[TurnStep]:
    """Return a trajectory's best turn and its last one, in order.

    The best is the fastest qualified one, else the fastest correct one, else the first correct one; the last one with a source
    where the very last has none.
    """
    if not steps:
        return []
    with_source = [step for step in steps if step.row.hashes.source is not None]
    last = with_source[-1] if with_source else steps[-1]
    best = max(steps, key=lambda step: (_merit(step.row), -step.row.turn))
    kept = [best] if is_correct(best.row) and best is not last else []
    return [*kept, last]


def _merit(turn: Turn) -> tuple[bool, bool, float]:
    return is_qualified(turn), is_correct(turn), turn.trusted_speedup or 0.0


def deflated(value: Any) -> str:
    """Return JSON as raw deflate in base64, which ``DecompressionStream("deflate-raw")`` reads."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode("ascii")
