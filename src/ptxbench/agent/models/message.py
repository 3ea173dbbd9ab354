"""What goes to a model and what comes back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, Field

from ptxbench.core.errors import ModelError
from ptxbench.schema import Record, TokenCount


def plain_text(text: str) -> str:
    """Return the text with lone surrogates replaced, so that it can be hashed and stored as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


PlainText = Annotated[str, AfterValidator(plain_text)]
"""Text that can be hashed and stored, whatever a provider sent."""


class Message(Record):
    """One message of a conversation. ``reasoning`` is what the model thought before an assistant message."""

    role: Literal["system", "user", "assistant"]
    content: str
    reasoning: str | None = None


class Usage(TokenCount):
    """Tokens of one reply, and its cost where the provider names it or the run knows the model's price."""

    cost_usd: float | None = None

    @property
    def tokens(self) -> TokenCount:
        """The counts alone."""
        return TokenCount(input=self.input, output=self.output, reasoning=self.reasoning, cached=self.cached)


class Reply(Record):
    """A model's answer. ``finish`` is our name for why it ended, ``raw_finish`` the provider's."""

    text: PlainText
    reasoning: PlainText | None = None
    usage: Usage = Usage()
    finish: Literal["stop", "length", "refusal", "other"] = "stop"
    raw_finish: PlainText | None = None
    served_model: PlainText | None = None


def _small_word(text: str) -> str:
    if re.fullmatch("[a-z]{1,16}", text) is None:
        raise ValueError("must be one word of small letters, such as low, medium or high")
    return text


class Sampling(Record):
    """How a model is asked to sample; None leaves the choice to the provider."""

    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    reasoning_effort: Annotated[str, AfterValidator(_small_word)] | None = None
    """``low``, ``medium``, ``high`` and what else the provider knows."""
    seed: int | None = None
    send_reasoning: bool | None = None
    """Whether earlier reasoning is sent back with the history; None: as the model's provider wants it (``reasoning.toml``)."""
    timeout_s: float = 3600.0
    """Longest wait for one answer."""


class GenerateConfig(Record):
    """One request: the run's sampling, and where in the run it stands (which no endpoint is told)."""

    sampling: Sampling = Sampling()
    trajectory: str = ""
    """The trajectory's name within its task, such as ``plain-0``."""
    task: str = ""
    turn: int = 0
    notice: Callable[[str], None] = Field(default=lambda _: None, exclude=True, repr=False)
    """Told in one line, without credentials, when a request failed and is tried again: people wait for it."""


class ContextOverflow(ModelError):
    """The conversation does not fit the model's context window: the trajectory ends here."""

    code = "context_overflow"


class Model(Protocol):
    """Something that answers a conversation."""

    @property
    def name(self) -> str:
        """Name for records: no path, no address, no key."""

    def facts(self) -> dict[str, Any]:
        """Return what identifies the model beyond its name; a run refuses to resume when it changes."""

    async def reply(self, messages: list[Message], config: GenerateConfig) -> Reply:
        """Return the answer. Raises ``ModelError`` when there is none, ``ContextOverflow`` when the history is too long."""

    async def close(self) -> None:
        """Release connections."""
