"""The truth of a run: one journal line per finished step, everything large in the store by hash.

A step is on disk before the next one of its trajectory begins, so a run that was killed goes on where its journal ends.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Literal, ParamSpec, Self, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from ptxbench.agent.engine.commits import Commits
from ptxbench.agent.engine.places import Place
from ptxbench.agent.models.message import Message, Reply, Usage
from ptxbench.core.canonical import canonical_json, sha256
from ptxbench.core.errors import StorageError
from ptxbench.core.journal import MEND, Journal, read_journal
from ptxbench.core.store import ContentStore
from ptxbench.schema import Candidate, Evaluation, Record, Turn

JOURNAL_NAME = "journal.jsonl"
STORE_NAME = "store"

DISK_THREADS = 16
"""Writers of blobs at once: they wait for the disk and not for a processor, and disks make many waits into one."""

P = ParamSpec("P")
T = TypeVar("T")


class ReplyStep(Record):
    """The model answered. ``prompt`` and ``reply`` are hashes in the store."""

    kind: Literal["reply"] = "reply"
    place: Place
    turn: int
    prompt: str
    reply: str
    seconds: float


class EvaluationStep(Record):
    """A candidate was evaluated. ``source`` and ``evaluation`` are hashes in the store."""

    kind: Literal["evaluation"] = "evaluation"
    place: Place
    turn: int
    source: str
    evaluation: str


class TurnStep(Record):
    """A turn is complete. ``feedback`` is a hash in the store; None for a turn that was imported, of which nothing is stored."""

    kind: Literal["turn"] = "turn"
    place: Place
    row: Turn
    feedback: str | None


class EndStep(Record):
    """A trajectory ended before its last turn, and its remaining turns are not reached: ``turn`` is the first of them.

    ``unrecorded``: a table that was imported has no more turns of it and does not say why.
    """

    kind: Literal["end"] = "end"
    place: Place
    turn: int
    reason: Literal["context_overflow", "target_speedup", "unrecorded"]
    text: str | None = None
    """What the endpoint said of a conversation that is too long: one bounded line without credentials."""


class IncidentStep(Record):
    """Something failed that is not the candidate's fault. It is no turn; it is tried again."""

    kind: Literal["incident"] = "incident"
    place: Place
    turn: int
    code: str
    text: str


Step = Annotated[ReplyStep | EvaluationStep | TurnStep | EndStep | IncidentStep, Field(discriminator="kind")]
_STEP: TypeAdapter[Step] = TypeAdapter(Step)


@dataclass
class Past:
    """What the journal knows of one trajectory."""

    replies: dict[int, ReplyStep] = field(default_factory=dict)
    evaluations: dict[int, EvaluationStep] = field(default_factory=dict)
    turns: dict[int, TurnStep] = field(default_factory=dict)
    end: EndStep | None = None


def read_steps(folder: Path) -> list[Step]:
    """Return a run directory's steps, oldest first. Raises ``StorageError`` for a line that is no step."""
    path = folder / JOURNAL_NAME
    steps: list[Step] = []
    for number, entry in enumerate(read_journal(path), start=1):
        try:
            steps.append(_STEP.validate_python(entry, strict=False))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise StorageError(
                f"{path}:{number} is not a step of a run: {first['msg']}",
                next_step=f"if another version of ptxbench wrote it, use that one; else {MEND}",
            ) from None
    return steps


class Ledger:
    """Reader of the past and single writer of the present of one run directory."""

    def __init__(self, folder: Path) -> None:
        self.store = ContentStore(folder / STORE_NAME, keep_damaged=True, names_later=True)
        self._journal = Journal(folder / JOURNAL_NAME)
        self._commits = Commits(self._write)
        self._disk = ThreadPoolExecutor(DISK_THREADS, thread_name_prefix="store")
        self._stored: set[str] = set()
        self._past: dict[Place, Past] = {}
        try:
            for step in read_steps(folder):
                self._remember(step)
        except StorageError:
            self.close()
            raise

    def past(self, place: Place) -> Past:
        """Return what is known of a trajectory; it grows with every step that is recorded."""
        return self._past.setdefault(place, Past())

    @property
    def empty(self) -> bool:
        """Whether no step was ever recorded."""
        return not self._past

    def rows(self) -> Iterator[Turn]:
        """Yield the rows of all complete turns."""
        for past in self._past.values():
            yield from (step.row for step in past.turns.values())

    def used(self) -> Iterator[Usage]:
        """Yield what every reply used, also of turns that are not complete."""
        for past in self._past.values():
            for turn, step in past.replies.items():
                done = past.turns.get(turn)
                if done is None:
                    yield self.reply(step.reply).usage
                else:
                    yield Usage(**done.row.tokens.model_dump(), cost_usd=done.row.cost_usd)

    def unfinished(self) -> Iterator[Reply]:
        """Yield the replies whose turn is not complete."""
        for past in self._past.values():
            for turn, step in past.replies.items():
                if turn not in past.turns:
                    yield self.reply(step.reply)

    @property
    def turns_done(self) -> int:
        """How many turns are complete."""
        return sum(len(past.turns) for past in self._past.values())

    async def record(self, step: Step) -> None:
        """Put a step on disk; what it names is stored already."""
        await self._commits.append(step)
        self._remember(step)

    def _write(self, *steps: Step) -> None:
        """Put steps on disk, after the names of all that they may name."""
        self.store.sync()
        self._journal.append(*steps)

    async def in_thread(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call one of the ``put`` functions where its waits for the disk hold nobody up."""
        return await asyncio.get_running_loop().run_in_executor(self._disk, lambda: function(*args, **kwargs))

    async def settle(self) -> None:
        """Wait until every step that is on its way is on disk."""
        await self._commits.settle()

    def _remember(self, step: Step) -> None:
        past = self.past(step.place)
        if isinstance(step, ReplyStep):
            past.replies[step.turn] = step
        elif isinstance(step, EvaluationStep):
            past.evaluations[step.turn] = step
        elif isinstance(step, TurnStep):
            past.turns[step.row.turn] = step
        elif isinstance(step, EndStep):
            past.end = step

    def put_text(self, text: str) -> str:
        """Store a text and return its hash."""
        return self._put(text.encode("utf-8", "replace"))

    def put_record(self, record: Record) -> str:
        """Store a record as canonical JSON and return its hash, which is the record's content hash."""
        return self._put(canonical_json(record))

    def put_records(self, *records: Record) -> list[str]:
        """Store records and return their hashes."""
        return [self.put_record(record) for record in records]

    def put_prompt(self, messages: list[Message]) -> str:
        """Store a request: each message's text once, and a list of their hashes. Return the list's hash."""
        listed: list[dict[str, Any]] = []
        for message in messages:
            item: dict[str, Any] = {"role": message.role, "content": self.put_text(message.content)}
            if message.reasoning is not None:
                item["reasoning"] = self.put_text(message.reasoning)
            listed.append(item)
        return self._put(canonical_json(listed))

    def _put(self, data: bytes) -> str:
        """Store a blob; one that this ledger has stored before (each message of a history, again and again) costs a hash."""
        digest = sha256(data)
        if digest not in self._stored:
            self.store.put(data)
            self._stored.add(digest)
        return digest

    def prompt(self, digest: str | None) -> list[Message]:
        """Return a stored request."""
        return [
            Message(
                role=item["role"],
                content=self.text(item["content"]),
                reasoning=self.text(item["reasoning"]) if "reasoning" in item else None,
            )
            for item in json.loads(self._blob(digest))
        ]

    def text(self, digest: str | None) -> str:
        """Return a stored text."""
        return self._blob(digest).decode("utf-8")

    def reply(self, digest: str | None) -> Reply:
        """Return a stored reply."""
        return Reply.model_validate_json(self._blob(digest))

    def candidate(self, digest: str) -> Candidate:
        """Return a stored candidate."""
        return Candidate.model_validate_json(self._blob(digest))

    def evaluation(self, digest: str) -> Evaluation:
        """Return a stored evaluation."""
        return Evaluation.model_validate_json(self._blob(digest))

    def _blob(self, digest: str | None) -> bytes:
        if digest is None:
            raise StorageError("nothing of this turn was stored: it was imported", next_step="name a run that was made here")
        try:
            return self.store.get(digest)
        except KeyError:
            raise StorageError(
                f"the run's store has lost {digest}", next_step="restore the directory, or choose another --out"
            ) from None

    def close(self) -> None:
        """Release the journal; blobs that are being written are written first."""
        self._disk.shutdown()
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
