"""A model that answers from a recording: a JSON Lines file, one object per reply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from ptxbench.agent.models.message import GenerateConfig, Message, Reply, Usage
from ptxbench.core.canonical import sha256
from ptxbench.core.errors import ModelError, UsageError
from ptxbench.schema import Record


class RecordedReply(Record):
    """One line of a recording. ``trajectory`` is ``plain-0``, ``TASK/plain-0``, or null for any; ``turn`` counts from 0."""

    trajectory: str | None = None
    turn: int = Field(ge=0)
    text: str
    reasoning: str | None = None
    usage: Usage = Usage()


class ReplayModel:
    """Answers turn n of a trajectory with the line recorded for it; the most exact trajectory name wins."""

    def __init__(self, path: Path) -> None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read the recording {path}: {error.strerror}", next_step="name a JSON Lines file") from error
        self.name = f"replay/{path.name}"
        self._hash = sha256(data)
        self._replies = _parse(data, path)

    def facts(self) -> dict[str, Any]:
        """Return the recording's hash."""
        return {"recording": self._hash}

    async def reply(self, messages: list[Message], config: GenerateConfig) -> Reply:
        """Return the recorded reply. Raises ``ModelError`` when the recording has none for this turn."""
        for trajectory in (f"{config.task}/{config.trajectory}", config.trajectory, None):
            found = self._replies.get((trajectory, config.turn))
            if found is not None:
                return Reply(text=found.text, reasoning=found.reasoning, usage=found.usage)
        raise ModelError(
            f"{self.name} holds no reply for turn {config.turn} of trajectory {config.task}/{config.trajectory}",
            next_step="ask for fewer turns, or add the line to the recording",
        )

    async def close(self) -> None:
        """Nothing is open."""


def _parse(data: bytes, path: Path) -> dict[tuple[str | None, int], RecordedReply]:
    replies: dict[tuple[str | None, int], RecordedReply] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path.name}:{number}"
        try:
            recorded = RecordedReply.model_validate(json.loads(line))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, first["loc"])) or "line"
            raise UsageError(f"{where}: {field}: {first['msg']}", next_step="see docs/agent.md for the format") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{where} is not JSON: {error}", next_step="see docs/agent.md for the format") from None
        key = (recorded.trajectory, recorded.turn)
        if key in replies:
            raise UsageError(f"{where}: a second reply for turn {recorded.turn} of trajectory {recorded.trajectory!r}")
        replies[key] = recorded
    if not replies:
        raise UsageError(f"{path.name} holds no replies", next_step="see docs/agent.md for the format")
    return replies
