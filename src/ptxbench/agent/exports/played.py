"""The trajectories of a run directory as they were played: opening messages, replies, feedback, rows. Read only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ptxbench.agent.engine.ledger import STORE_NAME, EndStep, ReplyStep, Step, TurnStep, read_steps
from ptxbench.agent.engine.manifest import Manifest, read_manifest
from ptxbench.agent.engine.places import Place
from ptxbench.agent.models.message import Message, Reply
from ptxbench.core.errors import StorageError
from ptxbench.core.store import ContentStore
from ptxbench.schema import Candidate, Turn

Ending = Literal["turns_made", "target_speedup", "context_overflow", "incomplete"]
"""All planned turns made; the target was reached; the model's context was full; the run has not come this far."""


@dataclass(frozen=True)
class PlayedTurn:
    """One finished turn: the row, what the model answered, and what it was told (or would have been, after the last turn)."""

    row: Turn
    reply: Reply
    feedback: str


@dataclass(frozen=True)
class PlayedTrajectory:
    """One trajectory with at least one finished turn."""

    manifest: Manifest
    place: Place
    opening: tuple[Message, ...]
    """The first request: system message and task."""
    turns: tuple[PlayedTurn, ...]
    ending: Ending
    best_source: str | None
    """Source of the correct turn with the best trusted speedup, else of the first correct one; None without any."""

    @property
    def name(self) -> str:
        """Name that is unique in the run: task, workload, architecture and trajectory."""
        return f"{self.place.task}@{self.place.workload}.{self.place.arch}/{self.place.trajectory}"

    @property
    def cost_usd(self) -> float | None:
        """What the finished turns cost together; None when the cost of one is not known."""
        costs = [turn.row.cost_usd for turn in self.turns]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


def read_trajectories(folder: Path) -> Iterator[PlayedTrajectory]:
    """Yield a run directory's trajectories in the order of their names; the run may still go on.

    Raises ``UsageError`` for a folder that is no run directory, ``StorageError`` for a damaged journal or a blob that is lost.
    """
    manifest = read_manifest(folder)
    store = _Store(folder)
    steps: dict[Place, list[Step]] = {}
    for step in read_steps(folder):
        steps.setdefault(step.place, []).append(step)
    for place in sorted(steps, key=lambda one: (one.task, one.workload, one.arch, one.variant, one.number)):
        played = _played(manifest, place, steps[place], store)
        if played is not None:
            yield played


def _played(manifest: Manifest, place: Place, steps: list[Step], store: _Store) -> PlayedTrajectory | None:
    first = next((step for step in steps if isinstance(step, ReplyStep) and step.turn == 0), None)
    finished = sorted((step for step in steps if isinstance(step, TurnStep)), key=lambda step: step.row.turn)
    if first is None or not finished:
        return None
    turns = tuple(PlayedTurn(step.row, store.reply(step.row.hashes.reply), store.text(step.feedback)) for step in finished)
    return PlayedTrajectory(
        manifest=manifest,
        place=place,
        opening=store.prompt(first.prompt),
        turns=turns,
        ending=_ending(manifest, steps, len(turns)),
        best_source=_best_source(turns, store),
    )


def _ending(manifest: Manifest, steps: list[Step], turns: int) -> Ending:
    end = next((step for step in steps if isinstance(step, EndStep)), None)
    if end is not None:
        return "incomplete" if end.reason == "unrecorded" else end.reason
    return "turns_made" if turns == manifest.config.get("turns") else "incomplete"


def _best_source(turns: tuple[PlayedTurn, ...], store: _Store) -> str | None:
    right = [turn.row for turn in turns if turn.row.outcome == "correct" and turn.row.hashes.source is not None]
    if not right:
        return None
    best = max(right, key=lambda row: (row.trusted_speedup or 0.0, -row.turn))
    assert best.hashes.source is not None
    return store.candidate(best.hashes.source).sources[0].content


class _Store:
    """The blobs of a run directory, without a claim on its journal."""

    def __init__(self, folder: Path) -> None:
        self._blobs = ContentStore(folder / STORE_NAME, keep_damaged=True)

    def text(self, digest: str | None) -> str:
        return self._get(digest).decode("utf-8")

    def reply(self, digest: str | None) -> Reply:
        return Reply.model_validate_json(self._get(digest))

    def candidate(self, digest: str) -> Candidate:
        return Candidate.model_validate_json(self._get(digest))

    def prompt(self, digest: str | None) -> tuple[Message, ...]:
        """Return a stored request: a list of roles, each with the hash of its text."""
        listed = json.loads(self._get(digest))
        return tuple(Message(role=item["role"], content=self.text(item["content"])) for item in listed)

    def _get(self, digest: str | None) -> bytes:
        if digest is None:
            raise StorageError("nothing of this turn was stored: it was imported", next_step="name a run that was made here")
        try:
            return self._blobs.get(digest)
        except KeyError:
            raise StorageError(f"the run's store has lost {digest}", next_step="restore the directory from a copy") from None
