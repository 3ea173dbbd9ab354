"""Between Inspect and a provider: no key leaves, and every failure is one of ours, so that nobody but us tries again.

Inspect writes what a provider's object returns or raises into its event log, its sample buffer and its trace file, and decides
by the exception's class whether to ask again. Both are settled here, before Inspect sees anything.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ptxbench.agent.models.completion import FAULTS
from ptxbench.agent.models.message import plain_text
from ptxbench.agent.models.overflow import says_overflow
from ptxbench.agent.models.provider_hints import doubt
from ptxbench.agent.models.secrets import Secrets

if TYPE_CHECKING:
    from inspect_ai.model import Model as InspectAiModel
    from inspect_ai.model import ModelAPI

ERROR_CHARACTERS = 300
"""How much of a provider's error text is kept."""

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_ID)?$", re.IGNORECASE)
"""Names of environment variables whose values must never be written, whichever provider reads them."""
SHORTEST_SECRET = 8
"""Shorter values are words and numbers that replies use."""


class ProviderFailure(Exception):
    """A request that brought no answer: what to tell people, without credentials, and what to do about it."""

    def __init__(
        self, text: str, *, retry: bool, overflow: bool = False, asked_s: float | None = None, doubt: str | None = None
    ) -> None:
        """``doubt``: the question that the refusal raises about how the model was named."""
        super().__init__(text)
        self.text = text
        self.retry = retry
        self.overflow = overflow
        self.asked_s = asked_s
        self.doubt = doubt


class ProviderSecrets:
    """Everything that a provider's object or the environment holds and that must never be written."""

    def __init__(self, keys: Iterable[str], address: str | None) -> None:
        self._parts = tuple(Secrets(key, address) for key in sorted({*keys}, key=lambda key: (-len(key), key)) or [""])

    @classmethod
    def of(cls, api: ModelAPI) -> ProviderSecrets:
        """Gather the keys that a provider's object was given, and those of the environment by the names of its variables."""
        given = [getattr(api, "api_key", None), getattr(api, "initial_api_key", None)]
        given += [os.environ.get(name) for name in getattr(api, "api_key_vars", ())]
        return cls({str(key) for key in given if key} | _keys_of_environment(), getattr(api, "base_url", None))

    @classmethod
    def from_environment(cls, address: str | None = None) -> ProviderSecrets:
        """Gather the keys of the environment by the names of their variables, and what an address carries."""
        return cls(_keys_of_environment(), address)

    def __repr__(self) -> str:
        return f"ProviderSecrets({len(self._parts)})"

    def cut_from(self, text: str) -> str:
        """Return the text with ``[key]`` in place of every secret."""
        for part in self._parts:
            text = part.cut_from(text)
        return text

    def cut_from_json(self, value: Any) -> Any:
        """Return a JSON value without secrets, in its texts and in its keys."""
        if isinstance(value, str):
            return self.cut_from(value)
        if isinstance(value, dict):
            return {self.cut_from(str(key)): self.cut_from_json(item) for key, item in value.items()}
        return [self.cut_from_json(item) for item in value] if isinstance(value, list) else value

    def cut_from_record(self, record: Any) -> Any:
        """Return one of Inspect's records without secrets: itself when it holds none."""
        text = record.model_dump_json(warnings=False)
        if self.cut_from(text) == text:
            return record
        return type(record).model_validate(self.cut_from_json(json.loads(text)))


def _keys_of_environment() -> set[str]:
    return {value for name, value in os.environ.items() if _SECRET_NAME.search(name) and len(value) >= SHORTEST_SECRET}


def guarded(model: InspectAiModel) -> InspectAiModel:
    """Return the model with a provider that raises nothing but ``ProviderFailure`` and returns no secret; the given one stays.

    The provider's own client is told not to try again either: its retries would be hidden from our policy and from the journal.
    """
    from inspect_ai.model import Model, ModelOutput

    api = copy.copy(model.api)
    secrets = ProviderSecrets.of(api)
    ask = model.api.generate
    name = str(model)
    client: Any = getattr(api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0

    async def generate(*args: Any, **kwargs: Any) -> Any:
        try:
            answer = await ask(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - providers raise what they like, and their texts may quote the key
            raise _failure(error, name, api, secrets.cut_from) from None
        output, call = answer if isinstance(answer, tuple) else (answer, None)
        if isinstance(output, Exception):
            raise _failure(output, name, api, secrets.cut_from) from None
        assert isinstance(output, ModelOutput)
        if call is not None and (end := _raw_finish(call.response)) in FAULTS:
            raise ProviderFailure(f"the endpoint gave up: {end}", retry=True)
        output = secrets.cut_from_record(output)
        return output if call is None else (output, secrets.cut_from_record(call))

    # On the object and not by a subclass: Inspect finds a provider's name by its class.
    vars(api)["generate"] = generate
    return Model(api, model.config, model.model_args)


def _raw_finish(response: Any) -> str | None:
    """Return a chat completion's own word for its end, which Inspect does not keep; None for other protocols."""
    choices = response.get("choices") if isinstance(response, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("finish_reason") if isinstance(first, dict) else None


def _failure(error: Exception, name: str, api: ModelAPI, cut: Callable[[str], str]) -> ProviderFailure:
    status = next((code for name in ("status_code", "code") if isinstance(code := getattr(error, name, None), int)), None)
    decision = api.should_retry(error)
    words = " ".join(cut(str(error) or type(error).__name__).split())
    text = words if status is None else f"HTTP {status}: {words.removeprefix(f'Error code: {status}').removeprefix(' - ')}"
    overflow = says_overflow(status, str(getattr(error, "code", None)), words)
    return ProviderFailure(
        plain_text(text.removesuffix(": "))[:ERROR_CHARACTERS],
        retry=bool(decision) and not overflow,
        overflow=overflow,
        asked_s=getattr(decision, "retry_after", None),
        doubt=doubt(name, status, key_variables=getattr(api, "api_key_vars", ()), address=getattr(api, "base_url", None)),
    )
