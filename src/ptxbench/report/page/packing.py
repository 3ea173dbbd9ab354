"""Details of trajectories as text that fits into an HTML file: deflated JSON in 85 digits, as much of it as a budget allows.

Trajectories stand in chunks, each one stream with a pool of the lines that its texts share (``lines``). A page inflates the chunk
of a trajectory when it is opened.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ptxbench.agent.engine.ledger import TurnStep
from ptxbench.metrics.verdicts import is_correct, is_qualified
from ptxbench.report.page.details import EVERYTHING, SHORT, Extent, trajectory_details
from ptxbench.report.page.lines import LinePool
from ptxbench.report.page.runs import Run
from ptxbench.report.page.summary import cell_id
from ptxbench.schema import CellKey, Turn

PAGE_BYTES = 14_900_000
"""What a page may hold in all, summary and program included: a browser opens it without a wait that people notice."""

HOPELESS = 2.0
"""Packing is given up early when a tenth of the turns says that all of them take so many times their budget."""

MARKUP = str.maketrans("<>&", ".:,")
"""Digits of RFC 1924 that HTML gives a meaning, and the characters outside of its alphabet that stand for them."""

CHUNK_CHARACTERS = 1_500_000
"""A chunk that holds as much is closed: to unpack it takes a few hundredths of a second."""


@dataclass(frozen=True)
class Place:
    """Where a trajectory's details are: offset and length of its chunk in the text, and its turns that are held."""

    start: int
    length: int
    turns: tuple[int, ...]


@dataclass(frozen=True)
class Packed:
    """Details of many trajectories in one text, and by cell's id and trajectory where they are in it."""

    text: str
    places: dict[tuple[str, str], Place]
    whole: bool
    """Whether every turn is held."""


class _TooLarge(Exception):
    """The details are larger than their budget."""


def packed(runs: Sequence[Run], budget: int | None = None) -> Packed:
    """Return the details of all turns where they fit into ``budget`` characters, else of each trajectory's best and last turn.

    Where those do not fit with all that was measured, they go without it (``details.SHORT``). Best and last sources are held at
    any size: they are what a page is for.
    """
    for ends, extent in ((False, EVERYTHING), (True, EVERYTHING.without_replies()), (True, SHORT)):
        try:
            return _pack(runs, ends=ends, extent=extent, budget=None if extent is SHORT else budget)
        except _TooLarge:
            continue
    raise AssertionError("the last extent has no budget")


@dataclass
class _Chunk:
    """Trajectories that are deflated together."""

    pool: LinePool = field(default_factory=LinePool)
    trajectories: dict[str, Any] = field(default_factory=dict)
    places: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
    characters: int = 0
    steps: int = 0
    """Turns of its trajectories, held or not."""

    def add(self, cell: str, name: str, turns: tuple[int, ...], details: dict[str, Any]) -> None:
        """Put a trajectory's details in, with their texts in the pool."""
        for source in details["sources"]:
            for file in source:
                file["text"] = self._pooled(file["text"])
        for turn in details["turns"]:
            for text in ("feedback", "reply", "reasoning"):
                turn[text] = None if turn[text] is None else self._pooled(turn[text])
        self.trajectories[f"{cell}/{name}"] = details
        self.places[cell, name] = turns

    def _pooled(self, text: str) -> list[int]:
        self.characters += len(text)
        return self.pool.add(text)

    def deflated(self) -> str:
        """Return the chunk as raw deflate, which ``DecompressionStream("deflate-raw")`` reads, in base 85.

        Five digits for four bytes: a sixteenth less than base64.
        """
        value = {"pool": self.pool.joined, "trajectories": self.trajectories}
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        return base64.b85encode(packer.compress(data) + packer.flush()).decode("ascii").translate(MARKUP)


def _pack(runs: Sequence[Run], *, ends: bool, extent: Extent, budget: int | None) -> Packed:
    """Return the packed details. Raises ``_TooLarge`` as soon as they are larger than the budget, or bound to be."""
    parts: list[str] = []
    places: dict[tuple[str, str], Place] = {}
    size = done = 0
    turns = sum(len(run.turns) for run in runs)
    for chunk in _chunks(runs, ends, extent):
        part = chunk.deflated()
        places |= {name: Place(size, len(part), turns) for name, turns in chunk.places.items()}
        parts.append(part)
        size += len(part)
        done += chunk.steps
        if budget is not None and (size > budget or (10 * done > turns and size * turns > HOPELESS * budget * done)):
            raise _TooLarge
    return Packed("".join(parts), places, whole=not ends)


def _chunks(runs: Sequence[Run], ends: bool, extent: Extent) -> Iterator[_Chunk]:
    """Yield the chunks of runs; none is of two runs, whose kernels share less."""
    for run in runs:
        chunk = _Chunk()
        for key, name, steps in trajectories(run):
            kept = best_and_last(steps) if ends else steps
            turns = tuple(step.row.turn for step in kept)
            chunk.add(cell_id(key), name, turns, trajectory_details(kept, run.store, extent))
            chunk.steps += len(steps)
            if chunk.characters > CHUNK_CHARACTERS:
                yield chunk
                chunk = _Chunk()
        if chunk.places:
            yield chunk


def trajectories(run: Run) -> Iterator[tuple[CellKey, str, list[TurnStep]]]:
    """Yield each trajectory of a run with its turns in order; imported ones too, of which nothing is stored."""
    members: dict[tuple[CellKey, str], list[TurnStep]] = {}
    for step in run.turns:
        members.setdefault((step.row.key, step.row.trajectory), []).append(step)
    for (key, name), steps in members.items():
        yield key, name, sorted(steps, key=lambda step: step.row.turn)


def best_and_last(steps: Sequence[TurnStep]) -> list[TurnStep]:
    """Return a trajectory's best turn and its last one, in order.

    The best is the fastest qualified one, else the fastest correct one, else the first correct one; the last is the last with a
    source where the very last has none.
    """
    if not steps:
        return []
    with_source = [step for step in steps if step.row.hashes.source is not None]
    last = with_source[-1] if with_source else steps[-1]
    best = max(steps, key=lambda step: (*_merit(step.row), -step.row.turn))
    return [best, last] if is_correct(best.row) and best is not last else [last]


def _merit(turn: Turn) -> tuple[bool, bool, float]:
    return is_qualified(turn), is_correct(turn), turn.trusted_speedup or 0.0
