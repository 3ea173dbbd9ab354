"""Every provider that Inspect reaches: ``inspect/PROVIDER/NAME``, through Inspect's public model interface.

Inspect's generation cache is off: its key holds no trajectory, so equal prompts would share one answer. Retries are ours alone.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text

from ptxbench.agent.models.asking import Failure, persist
from ptxbench.agent.models.message import ContextOverflow, GenerateConfig, Message, Reply, Sampling, Usage
from ptxbench.agent.models.provider_guard import ERROR_CHARACTERS, ProviderFailure, ProviderSecrets, guarded
from ptxbench.agent.models.provider_hints import remedy
from ptxbench.agent.retry import RetryPolicy
from ptxbench.core.errors import ToolMissing, UsageError
from ptxbench.core.extras import how_to_install

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ModelOutput
    from inspect_ai.model import GenerateConfig as InspectConfig
    from inspect_ai.model import Model as InspectAiModel

_FINISH: dict[str, Literal["stop", "length", "refusal", "other"]] = {
    "stop": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refusal",
}

_SAMPLING_OR_SPEED = frozenset(
    {"temperature", "top_p", "max_tokens", "reasoning_effort", "seed", "reasoning_history", "cache", "batch"}
    | {"max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections", "adaptive_connections"}
)
"""Inspect's settings that are recorded as our sampling, or that change how fast answers come and not what they are."""

CONNECTIONS = 1000
"""So many requests of ours may be under way: how many are is our own ``concurrency``."""


class InspectModel:
    """Asks one model through Inspect's provider for it."""

    def __init__(self, model: InspectAiModel, *, retry: RetryPolicy | None = None, connections: int | None = CONNECTIONS) -> None:
        self.name = inspect_name(model)
        self._model = guarded(model)
        self._retry = retry or RetryPolicy()
        self._connections = connections
        self._settings = _beyond_sampling(model)

    @classmethod
    def named(cls, name: str, *, base_url: str | None = None, retry: RetryPolicy | None = None) -> InspectModel:
        """Find ``PROVIDER/NAME`` among Inspect's providers; the key comes from the provider's own environment variable.

        Raises ``ToolMissing`` when inspect-ai is not installed, ``UsageError`` when the provider is unknown, or lacks its key or
        its own package.
        """
        try:
            from inspect_ai.model import get_model
        except ImportError as error:
            raise ToolMissing("inspect/… models need the inspect-ai package", next_step=how_to_install("inspect")) from error
        try:
            # Not from Inspect's own cache of models: this one is closed at the end of the run.
            model = get_model(name, base_url=base_url, memoize=False)
        except Exception as error:  # noqa: BLE001 - each provider has its own class of error for a missing key or package
            said = Text.from_markup(str(getattr(error, "message", error))).plain
            text = ProviderSecrets.from_environment(base_url).cut_from(" ".join(said.split()))
            raise UsageError(f"inspect/{name} cannot be used: {text[:ERROR_CHARACTERS]}", next_step=remedy(name, text)) from None
        return cls(model, retry=retry)

    def __repr__(self) -> str:
        return f"InspectModel({self.name!r})"

    def facts(self) -> dict[str, Any]:
        """Return what Inspect was told about generation beyond our sampling, such as stop sequences; usually nothing."""
        return {"generate": self._settings} if self._settings else {}

    async def reply(self, messages: list[Message], config: GenerateConfig) -> Reply:
        """Ask once, and again within the retry policy. Raises ``ModelError`` or ``ContextOverflow``."""
        sent = [_message(message, config.sampling) for message in messages]
        settings = _settings(config.sampling, self._connections)

        async def ask() -> Reply | Failure:
            try:
                return _reply(await self._ask(sent, settings, config.sampling.timeout_s), self.name)
            except ProviderFailure as failed:
                return Failure(
                    failed.text + (f"; {failed.doubt}" if failed.doubt else ""),
                    retry=failed.retry,
                    overflow=failed.overflow,
                    asked_s=failed.asked_s,
                    next_step=failed.doubt or "check the provider, then run again to resume",
                )

        return await persist(self.name, ask, self._retry, config.notice)

    async def close(self) -> None:
        """Close the provider's connections."""
        await self._model.api.aclose()

    async def _ask(self, sent: list[ChatMessage], settings: InspectConfig, timeout_s: float) -> ModelOutput:
        # In a context of its own: outside of an evaluation Inspect keeps an event per request in the context that asks.
        asking = asyncio.create_task(self._model.generate(sent, config=settings, cache=False))
        try:
            async with asyncio.timeout(timeout_s):
                return await asking
        except TimeoutError:
            raise ProviderFailure(f"no answer within {timeout_s:g} s", retry=True) from None


def inspect_name(model: InspectAiModel) -> str:
    """Return our name of a model of Inspect's."""
    return f"inspect/{model}"


def sampling_of(model: InspectAiModel) -> Sampling:
    """Return the sampling that an Inspect model was configured with, so that a run's record holds it."""
    config = model.config
    return Sampling(
        temperature=config.temperature,
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        reasoning_effort=config.reasoning_effort,
        seed=config.seed,
        send_reasoning=None if config.reasoning_history in (None, "auto") else config.reasoning_history != "none",
    )


def _beyond_sampling(model: InspectAiModel) -> dict[str, Any]:
    """Return Inspect's settings that change answers and are no sampling of ours; of headers, which may hold keys, the names."""
    settings = model.config.model_dump(mode="json", exclude_none=True)
    if headers := settings.get("extra_headers"):
        settings["extra_headers"] = sorted(headers)
    secrets = ProviderSecrets.of(model.api)
    return {name: secrets.cut_from_json(value) for name, value in settings.items() if name not in _SAMPLING_OR_SPEED}


def _message(message: Message, sampling: Sampling) -> ChatMessage:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ContentReasoning, ContentText

    if message.role == "system":
        return ChatMessageSystem(content=message.content)
    if message.role == "user":
        return ChatMessageUser(content=message.content)
    if sampling.send_reasoning and message.reasoning:
        return ChatMessageAssistant(content=[ContentReasoning(reasoning=message.reasoning), ContentText(text=message.content)])
    return ChatMessageAssistant(content=message.content)


def _settings(sampling: Sampling, connections: int | None) -> InspectConfig:
    from inspect_ai.model import GenerateConfig as InspectConfig

    return InspectConfig.model_validate(
        {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "reasoning_effort": sampling.reasoning_effort,
            "seed": sampling.seed,
            "reasoning_history": "all" if sampling.send_reasoning else "none",
            "max_retries": 0,
            "max_connections": connections,
        }
    )


def _reply(output: ModelOutput, name: str) -> Reply:
    """Return our record of an answer. Raises ``ProviderFailure`` where Inspect made an answer out of an error."""
    if output.empty:
        raise ProviderFailure("the answer holds no message", retry=True)
    usage = output.usage
    if output.stop_reason == "model_length" and not (usage and usage.output_tokens):
        # The text is the provider's error. A reply that ran into the window while it was written has tokens, and was cut off.
        raise ContextOverflow(f"{name}: {' '.join(output.completion.split())[:ERROR_CHARACTERS]}")
    return Reply(
        text=output.completion,
        reasoning=_reasoning(output),
        usage=_usage(output),
        finish="refusal" if _refused(output) else _FINISH.get(output.stop_reason, "other"),
        raw_finish=output.stop_reason,
        served_model=output.model or None,
    )


def _refused(output: ModelOutput) -> bool:
    """Whether the answer is a refusal in a field of its own, which ends with "stop" like any other."""
    content = output.message.content
    return not isinstance(content, str) and any(part.type == "text" and part.refusal for part in content)


def _reasoning(output: ModelOutput) -> str | None:
    content = output.message.content
    if isinstance(content, str):
        return None
    parts = [part for part in content if part.type == "reasoning"]
    return "\n\n".join(text for part in parts if (text := (part.summary or "") if part.redacted else part.reasoning)) or None


def _usage(output: ModelOutput) -> Usage:
    """Count as the OpenAI protocol does: cached tokens are input too, which Inspect counts apart; reasoning is output."""
    usage = output.usage
    if usage is None:
        return Usage()
    cached = usage.input_tokens_cache_read
    return Usage(
        input=usage.input_tokens + (cached or 0) + (usage.input_tokens_cache_write or 0),
        output=usage.output_tokens,
        reasoning=usage.reasoning_tokens,
        cached=cached,
        cost_usd=usage.total_cost,
    )
