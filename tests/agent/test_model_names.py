"""From a model's name and the environment to its address and key."""

import asyncio
import sys

import pytest

from ptxbench.agent.models import GenerateConfig, Message, load_model
from ptxbench.core.errors import ToolMissing, UsageError


def test_address_and_key_come_from_the_environment(chat, server, monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "PTXBENCH_MODEL_URL", "PTXBENCH_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="no key") as caught:
        load_model("openai/x")
    assert "OPENAI_API_KEY" in caught.value.next_step
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PTXBENCH_MODEL_URL", server.url)
    monkeypatch.setenv("PTXBENCH_MODEL_KEY", "from-the-environment")
    server.steps = [chat.ok(chat.completion())]

    async def go():
        model = load_model("openai/org/name")
        await model.reply([Message(role="user", content="hi")], GenerateConfig())
        await model.close()
        return model.name

    assert asyncio.run(go()) == "openai/org/name"
    assert server.requests[0]["headers"]["authorization"] == "Bearer from-the-environment"
    assert server.requests[0]["body"]["model"] == "org/name"


def test_an_address_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with pytest.raises(UsageError, match="http") as caught:
        load_model("openai/x", base_url="localhost:8000")
    assert "--base-url" in caught.value.next_step and "OPENAI_BASE_URL" in caught.value.next_step


@pytest.mark.parametrize("tail", ["/chat/completions", "/chat/completions/", "/chat/completions?api-version=1"])
def test_an_address_of_one_request_is_refused_with_the_next_step(monkeypatch, tail):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with pytest.raises(UsageError, match="must end before /chat/completions") as caught:
        load_model("openai/x", base_url=f"http://127.0.0.1:9/v1{tail}")
    assert "leave /chat/completions out" in caught.value.next_step


def test_without_the_client_library_the_extra_is_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ToolMissing) as caught:
        load_model("openai/x")
    assert "[agent]" in caught.value.next_step


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("anthropic/x", "did you mean inspect/anthropic/x? Use openai/NAME"),
        ("gpt-4", "did you mean openai/gpt-4? Use openai/NAME"),
        ("openai", "use openai/NAME (any OpenAI-compatible endpoint), inspect/PROVIDER/NAME or replay/FILE"),
        ("litellm/x", "use openai/NAME"),
    ],
)
def test_a_name_that_is_none_is_told_what_may_be_meant(name, meant):
    with pytest.raises(UsageError) as caught:
        load_model(name)
    assert caught.value.next_step.startswith(meant)


@pytest.mark.parametrize("name", ["openai", "openai/", "gpt-4", "", "litellm/x", "/x"])
def test_unknown_models_are_refused(name):
    with pytest.raises(UsageError, match="unknown model"):
        load_model(name)
