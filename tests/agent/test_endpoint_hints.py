"""What a refusal makes people ask: of the address, of the variable that holds the key, and never the key itself."""

import asyncio
import json
import logging

import pytest

from ptxbench.agent.models import GenerateConfig, Message
from ptxbench.agent.models.openai_compatible import OpenAICompatibleModel
from ptxbench.core.errors import ModelError


@pytest.mark.parametrize("path", ["", "/", "/openai/deployments/name"])
def test_a_404_at_an_address_without_a_version_doubts_the_address(chat, server, path):
    server.url = server.url.removesuffix("/v1") + path
    server.steps = [(404, b'{"detail": "Not Found"}', {})]
    with pytest.raises(ModelError, match=r"HTTP 404: Not Found; is the address right \(does it end in /v1\?\)") as caught:
        chat.ask(server)
    assert caught.value.next_step == "is the address right (does it end in /v1?)"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1beta/openai", "/api/v3"])
def test_a_404_at_an_address_with_a_version_does_not(chat, server, path):
    server.url = server.url.removesuffix("/v1") + path
    server.steps = [(404, b'{"error": {"message": "no such model"}}', {})]
    with pytest.raises(ModelError, match=r"HTTP 404: no such model$"):
        chat.ask(server)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("variable", "step"),
    [
        ("OPENAI_API_KEY", "does OPENAI_API_KEY hold the right key?"),
        ("PTXBENCH_MODEL_KEY", "does PTXBENCH_MODEL_KEY hold the right key?"),
        (None, "OPENAI_API_KEY is not set: set it to the key"),
        ("KEY_OF_A_PLAN", "does the variable that the plan's key_variable names hold the right key?"),
    ],
)
def test_a_refused_key_names_its_variable_and_never_the_key(chat, server, monkeypatch, status, variable, step):
    for name in ("OPENAI_API_KEY", "PTXBENCH_MODEL_KEY", "PTXBENCH_MODEL_URL"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, chat.KEY)
    server.steps = [(status, json.dumps({"error": {"message": f"no access for {chat.KEY} " + "x" * 1000}}).encode(), {})]

    async def go():
        own = variable if variable == "KEY_OF_A_PLAN" else None
        model = OpenAICompatibleModel.from_environment("m", base_url=server.url, key_variable=own)
        try:
            await model.reply([Message(role="user", content="hi")], GenerateConfig())
        finally:
            await model.close()

    with pytest.raises(ModelError, match=f"HTTP {status}: no access") as caught:
        asyncio.run(go())
    assert caught.value.message.endswith(f"; {step}") and len(caught.value.message) < 500
    assert caught.value.next_step == step
    if variable is not None:
        assert chat.KEY not in str(caught.value.as_json()) and "KEY_OF_A_PLAN" not in caught.value.message


def test_the_key_is_nowhere(chat, server, caplog):
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"message": f"Incorrect API key provided: {chat.KEY}"}}).encode()
    server.steps = [(401, echo, {})]
    with pytest.raises(ModelError) as caught:
        chat.ask(server)
    error = caught.value
    seen = [str(error), repr(error), json.dumps(error.as_json()), repr(error.__cause__), repr(error.__context__)]
    server.steps = [chat.ok(chat.completion(f"your key is {chat.KEY}", reasoning_content=f"hm, {chat.KEY}", usage=False))]
    seen.append(chat.ask(server).model_dump_json())
    model = OpenAICompatibleModel("some-model", base_url=server.url, api_key=chat.KEY)
    seen += [repr(model), str(model.facts()), model.name, caplog.text]
    asyncio.run(model.close())
    assert "[key]" in seen[0] and "[key]" in seen[5]
    assert not any(chat.KEY in text for text in seen)
