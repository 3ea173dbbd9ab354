"""One request to the OpenAI-compatible client's endpoint, and the answers that a server gives to it."""

import asyncio
import json

from ptxbench.agent.models import GenerateConfig, Message
from ptxbench.agent.models.openai_compatible import OpenAICompatibleModel
from ptxbench.agent.retry import RetryPolicy

KEY = "sk-very-secret-0123456789"


def completion(text="hello", finish="stop", usage=True, **message):
    body = {"model": "served", "choices": [{"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}]}
    if usage:
        body["usage"] = {
            "prompt_tokens": 11,
            "completion_tokens": 22,
            "completion_tokens_details": {"reasoning_tokens": 7},
            "prompt_tokens_details": {"cached_tokens": 3},
        }
    return json.dumps(body).encode()


def ask(server, *, config=None, attempts=4, messages=None):
    async def go():
        retry = RetryPolicy(attempts=attempts, first_s=0.0, longest_s=0.01)
        model = OpenAICompatibleModel("some-model", base_url=server.url, api_key=KEY, retry=retry)
        try:
            return await model.reply(messages or [Message(role="user", content="hi")], config or GenerateConfig())
        finally:
            await model.close()

    return asyncio.run(go())


def ask_until(server, *, in_all_s, attempts=8):
    """Ask with a bound on the time that all tries together may take."""

    async def go():
        retry = RetryPolicy(attempts=attempts, first_s=0.0, longest_s=60.0, in_all_s=in_all_s)
        model = OpenAICompatibleModel("some-model", base_url=server.url, api_key=KEY, retry=retry)
        try:
            return await model.reply([Message(role="user", content="hi")], GenerateConfig())
        finally:
            await model.close()

    return asyncio.run(go())


def ok(body):
    return (200, body, {})
