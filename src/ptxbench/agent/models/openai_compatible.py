"""Any endpoint that speaks OpenAI's chat completions: the provider itself, vLLM, SGLang, a gateway."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from ptxbench.agent.models.address import check_address, has_version, is_unknown_name, refuse_empty, split_query
from ptxbench.agent.models.asking import NEXT_STEP, Failure, persist
from ptxbench.agent.models.completion import is_page, parse_completion
from ptxbench.agent.models.message import GenerateConfig, Message, Reply, plain_text
from ptxbench.agent.models.overflow import says_overflow
from ptxbench.agent.models.secrets import Secrets, check_variable
from ptxbench.agent.retry import RetryPolicy
from ptxbench.core.errors import ToolMissing, UsageError
from ptxbench.core.extras import how_to_install

if TYPE_CHECKING:
    from openai import AsyncOpenAI

ERROR_CHARACTERS = 300
"""How much of an endpoint's error text is kept."""

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable that holds the key where no other is named."""

FIRST_TRIES = 4
"""How often a connection is tried where there never was one: seven seconds at most, and no minutes for a slip of the keyboard."""

_RETRIED_STATUS = frozenset({408, 409, 425, 429})


class OpenAICompatibleModel:
    """Asks one model of one endpoint. The key is held by the client only and is cut out of every text that comes back."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None,
        api_key: str,
        key_from: str | None = KEY_VARIABLE,
        retry: RetryPolicy | None = None,
    ) -> None:
        """``key_from`` tells people where the key comes from, as the name of a variable, and never what it is; None: no key."""
        self.model = model
        self.name = f"openai/{model}"
        self._secrets = Secrets(api_key, base_url)
        self._key_from = key_from
        self._retry = retry or RetryPolicy()
        self._client = _client(base_url, api_key)
        self._answered = False

    @classmethod
    def from_environment(cls, model: str, *, base_url: str | None = None, key_variable: str | None = None) -> OpenAICompatibleModel:
        """Take address and key from ``PTXBENCH_MODEL_URL`` and ``PTXBENCH_MODEL_KEY``, else from ``OPENAI_*``.

        ``base_url`` goes before the address's variables, the variable ``key_variable`` takes the place of the key's. An endpoint of
        one's own needs no key. Raises ``UsageError`` when neither an address nor a key is known.
        """
        url = named_address(base_url)
        if key_variable is not None:
            check_variable(key_variable)
            if not os.environ.get(key_variable):
                # Not even the name: capital letters may be a key as well.
                raise UsageError(f"the variable that is to hold the key of openai/{model} is not set", next_step="set it")
        known = [key_variable] if key_variable is not None else ["PTXBENCH_MODEL_KEY", KEY_VARIABLE]
        variable = next((name for name in known if os.environ.get(name)), KEY_VARIABLE)
        key = os.environ.get(variable, "").strip()
        if not url and not key:
            raise UsageError(
                "no key for the OpenAI endpoint",
                next_step=f"set {KEY_VARIABLE}, or name an endpoint of your own with --base-url (it may need no key)",
            )
        if url:
            check_address(url)
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise UsageError("the endpoint's key holds characters that no key has", next_step="set the variable again")
        # A plan's own variable is not named, for the same reason as above.
        key_from = "the variable that the plan's key_variable names" if key_variable is not None else variable
        return cls(model, base_url=url, api_key=key or "none", key_from=key_from if key else None)

    def __repr__(self) -> str:
        return f"OpenAICompatibleModel({self.model!r})"

    def facts(self) -> dict[str, Any]:
        """Return nothing: the name is the identity, and an endpoint may move between two sessions of a run."""
        return {}

    async def reply(self, messages: list[Message], config: GenerateConfig) -> Reply:
        """Ask once, and again within the retry policy. Raises ``ModelError`` or ``ContextOverflow``."""
        body = self._body(messages, config)
        return await persist(self.name, lambda: self._ask(body, config.sampling.timeout_s), self._retry, config.notice)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _body(self, messages: list[Message], config: GenerateConfig) -> dict[str, Any]:
        sampling = config.sampling
        sent = []
        for message in messages:
            item = {"role": message.role, "content": message.content}
            if sampling.send_reasoning and message.reasoning:
                item["reasoning_content"] = message.reasoning
            sent.append(item)
        optional = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_completion_tokens": sampling.max_tokens,
            "reasoning_effort": sampling.reasoning_effort,
            "seed": sampling.seed,
        }
        return {"model": self.model, "messages": sent} | {k: v for k, v in optional.items() if v is not None}

    async def _ask(self, body: dict[str, Any], timeout_s: float) -> Reply | Failure:
        """Send one request. Errors come back as data, so that no exception that may quote the key leaves this module."""
        import httpx2
        import openai

        from ptxbench.agent.models.bounded_body import AnswerTooLong

        try:
            async with asyncio.timeout(timeout_s):
                data = await self._read(body, timeout_s)
        except (TimeoutError, openai.APITimeoutError):
            return Failure(f"no answer within {timeout_s:g} s", retry=True)
        except openai.APIStatusError as error:
            return self._refused(error)
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            cause = error.__cause__ or error
            if isinstance(cause, AnswerTooLong):
                return Failure(str(cause), retry=False)
            return self._unreached(cause)
        if is_page(data):
            step = "is the address right (does it end in /v1?)"
            return Failure(f"{self._place()} sends a web page and no JSON: {step}", retry=True, tries=2, next_step=step)
        reply = parse_completion(data)
        if isinstance(reply, str):
            return Failure(self._told(reply), retry=True)
        return self._without_secrets(reply)

    async def _read(self, body: dict[str, Any], timeout_s: float) -> bytes:
        # The body goes as extra_body, which the client sends as it stands: walking through every message of a long history
        # against the types of its API costs it more than all else that a turn does.
        ask = self._client.chat.completions.with_streaming_response.create
        async with ask(model=self.model, messages=[], extra_body=body, timeout=timeout_s) as response:
            self._answered = True
            return b"".join([chunk async for chunk in response.iter_bytes()])

    def _place(self) -> str:
        """Return host and port of the endpoint, which are no secrets."""
        url = self._client.base_url
        host = f"[{url.host}]" if ":" in url.host else url.host
        return f"{host}:{url.port or (443 if url.scheme == 'https' else 80)}"

    def _unreached(self, cause: BaseException) -> Failure:
        """Return what went wrong on the way to the endpoint or back."""
        import httpx2

        if isinstance(cause, httpx2.ConnectError):
            # Who answered before comes back, mostly; where nobody ever did, the address is the first doubt.
            tries = None if self._answered else FIRST_TRIES
            if is_unknown_name(cause):
                step = "is the address right?"
                text = f"the name {self._client.base_url.host} is not known: {step}"
                return Failure(text, retry=True, tries=tries, next_step=step)
            return Failure(f"cannot connect to {self._place()}", retry=True, tries=tries)
        if isinstance(cause, httpx2.TooManyRedirects):
            return Failure(f"{self._place()} redirects without end", retry=True)
        if isinstance(cause, httpx2.DecodingError):
            return Failure(f"the answer of {self._place()} cannot be decoded", retry=True)
        return Failure(f"the connection to {self._place()} broke off", retry=True)

    def _refused(self, error: Any) -> Failure:
        self._answered = True
        status = int(error.status_code)
        details = error.body if isinstance(error.body, dict) else {}
        text = str(details.get("message") or error.response.reason_phrase or "")
        doubt = self._doubt(status)
        return Failure(
            self._told(f"HTTP {status}: {text}") + (f"; {doubt}" if doubt else ""),
            retry=status in _RETRIED_STATUS or status >= 500,
            overflow=says_overflow(status, str(details.get("code")), text),
            asked_s=_seconds(error.response.headers.get("retry-after")),
            next_step=doubt or NEXT_STEP,
        )

    def _doubt(self, status: int) -> str | None:
        """Return the question that a refusal raises about how the endpoint was named."""
        if status in (401, 403):
            if self._key_from is None:
                return f"{KEY_VARIABLE} is not set: set it to the key"
            return f"does {self._key_from} hold the right key?"
        if status == 404 and not has_version(self._client.base_url.path):
            return "is the address right (does it end in /v1?)"
        return None

    def _told(self, text: str) -> str:
        """Return an endpoint's words as one bounded line; secrets go first, so that no cut leaves half of one."""
        return plain_text(" ".join(self._secrets.cut_from(text).split()))[:ERROR_CHARACTERS]

    def _without_secrets(self, reply: Reply) -> Reply:
        texts = {name: getattr(reply, name) for name in ("text", "reasoning", "raw_finish", "served_model")}
        return reply.model_copy(update={name: self._secrets.cut_from(text) for name, text in texts.items() if text})


def named_address(base_url: str | None) -> str | None:
    """Return the address that was named for an endpoint, by an argument or by the environment; None: the provider's own.

    Raises ``UsageError`` for an argument that is empty.
    """
    refuse_empty(base_url)
    return base_url or os.environ.get("PTXBENCH_MODEL_URL") or os.environ.get("OPENAI_BASE_URL") or None


def _client(base_url: str | None, api_key: str) -> AsyncOpenAI:
    try:
        from openai import AsyncOpenAI
    except ImportError as error:
        raise ToolMissing("openai/… models need the openai package", next_step=how_to_install("agent")) from error
    import httpx2
    from openai import DefaultAsyncHttpxClient

    from ptxbench.agent.models.bounded_body import bound

    # No compression: bodies are read in bounded memory, and the wire is not what costs.
    address, query = split_query(base_url) if base_url else (None, [])
    try:
        http = DefaultAsyncHttpxClient(
            params=httpx2.QueryParams(tuple(query)), event_hooks={"response": [bound]}, headers={"Accept-Encoding": "identity"}
        )
        return AsyncOpenAI(api_key=api_key, base_url=address, max_retries=0, http_client=http)
    except httpx2.InvalidURL:
        # The client's own error quotes what it refuses, which may be a password.
        raise UsageError("the model's address is not a URL that can be used") from None


def _seconds(text: str | None) -> float | None:
    """Return a Retry-After header's seconds; its date form is left to our own wait."""
    try:
        return float(text) if text else None
    except ValueError:
        return None
