"""What to do when an ``inspect/PROVIDER/NAME`` refuses or cannot be made: the variable, the address, the provider."""

import asyncio
import json

import pytest

from ptxbench.agent.models import GenerateConfig, Message, load_model
from ptxbench.core.errors import ModelError, UsageError

pytest.importorskip("inspect_ai.model", reason="inspect-ai is not installed (make test-inspect)")
pytestmark = pytest.mark.inspect

from ptxbench.agent.models.provider_hints import KNOWN  # noqa: E402 - after the skip

KEY = "sk-very-secret-0123456789"
OTHER_SERVER = "for any server with chat completions use inspect/openai-api/SERVICE/NAME"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Nothing is set but the key of the service ``my-own``."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "ANTHROPIC_API_KEY",
        "OPENROUTER_API_KEY",
        "MY_OWN_BASE_URL",
        "UNSET_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MY_OWN_API_KEY", KEY)


def refused(server, name, status, body=b'{"error": {"message": "no"}}', *, path="/v1"):
    """Return the error of a request that the server refuses."""
    server.steps = [(status, body, {})]

    async def go():
        model = load_model(name, base_url=server.url.removesuffix("/v1") + path)
        try:
            await model.reply([Message(role="user", content="hi")], GenerateConfig())
        finally:
            await model.close()

    with pytest.raises(ModelError) as raised:
        asyncio.run(go())
    return raised.value


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("inspect/openai-api/my-own/m", "MY_OWN_API_KEY"),
        ("inspect/openai/m", "OPENAI_API_KEY"),
        ("inspect/openrouter/m", "OPENROUTER_API_KEY"),
    ],
)
def test_a_refused_key_names_its_variable_and_never_the_key(server, monkeypatch, name, variable, status):
    monkeypatch.setenv(variable, KEY)
    error = refused(server, name, status, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode())
    assert error.next_step == f"does {variable} hold the right key?" and error.message.endswith(f"; {error.next_step}")
    assert f"HTTP {status}: " in error.message and KEY not in error.message


@pytest.mark.parametrize("path", ["", "/proxy"])
def test_a_404_at_an_address_without_a_version_doubts_the_address_and_names_its_variable(server, path):
    error = refused(server, "inspect/openai-api/my-own/m", 404, path=path)
    assert error.next_step == "is the address right (does it end in /v1?): MY_OWN_BASE_URL or --base-url"


def test_a_404_at_an_address_with_a_version_doubts_the_models_name(server):
    error = refused(server, "inspect/openai-api/my-own/org/m", 404)
    assert error.next_step == "is org/m the name of a model there?"


def test_a_404_of_another_server_than_openais_names_the_provider_for_it(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert f"is this OpenAI's own server? If not, {OTHER_SERVER}" in refused(server, "inspect/openai/m", 404).next_step


def test_a_404_without_a_body_repeats_no_number(server):
    assert "HTTP 404; is m the name of a model there?" in refused(server, "inspect/openai-api/my-own/m", 404, b"{}").message


def test_other_refusals_raise_no_doubt_about_the_name(server):
    error = refused(server, "inspect/openai-api/my-own/m", 422)
    assert error.message.endswith("HTTP 422: no") and error.next_step == "check the provider, then run again to resume"


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("inspect/openai-api/my-own/m", "set MY_OWN_BASE_URL (such as http://127.0.0.1:8000/v1)"),
        ("inspect/openai-api/unset/m", "and UNSET_API_KEY (any word where no key is wanted)"),
        ("inspect/openai-api/alone", "SERVICE is a word of your choice"),
        ("inspect/openrouter/m", "set OPENROUTER_API_KEY"),
        ("inspect/openai/m", "set OPENAI_API_KEY"),
        ("inspect/opnai/m", "did you mean inspect/openai/…"),
        ("inspect/nosuch/m", OTHER_SERVER),
    ],
)
def test_a_model_that_cannot_be_made_names_what_to_set_or_which_provider_to_take(name, step):
    with pytest.raises(UsageError) as raised:
        load_model(name)
    assert step in raised.value.next_step and len(raised.value.next_step.splitlines()) == 1


@pytest.mark.parametrize("name", sorted(set(KNOWN) - {"hf", "vllm", "sglang"}))
def test_every_provider_that_is_guessed_is_one_of_inspects(name):
    """Those left out load a model or start a server of their own."""
    try:
        asyncio.run(load_model(f"inspect/{name}/service/m").close())
    except UsageError as error:
        assert "not recognized" not in error.message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("inspect/nosuch/model", "nosuch"),
        ("inspect/openai-api/unset/model", "UNSET_API_KEY"),
        ("inspect/openai-api/alone", "service prefix"),
    ],
)
def test_a_provider_that_cannot_be_used_is_one_clear_line(name, said, monkeypatch):
    monkeypatch.delenv("UNSET_API_KEY", raising=False)
    with pytest.raises(UsageError) as raised:
        load_model(name)
    assert said in raised.value.message and "\n" not in raised.value.message and "[bold]" not in raised.value.message
    assert raised.value.next_step
