"""Asking a real HTTP server on loopback: what it may do to us, and what we tell of it."""

import asyncio
import json
import logging
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

from ptxbench.agent.models import GenerateConfig, Message, Sampling, load_model
from ptxbench.agent.models import bounded_body as module
from ptxbench.agent.models.message import ContextOverflow
from ptxbench.agent.models.openai_compatible import OpenAICompatibleModel
from ptxbench.agent.retry import RetryPolicy
from ptxbench.core.errors import ModelError, ToolMissing, UsageError

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


def test_a_reply_keeps_text_reasoning_usage_and_finish(server):
    server.steps = [ok(completion("text", reasoning_content="thought"))]
    reply = ask(server)
    assert (reply.text, reply.reasoning, reply.finish, reply.raw_finish, reply.served_model) == (
        "text",
        "thought",
        "stop",
        "stop",
        "served",
    )
    assert reply.usage.model_dump() == {"input": 11, "output": 22, "reasoning": 7, "cached": 3, "cost_usd": None}


def test_the_request_says_what_was_asked_for_and_nothing_else(server):
    server.steps = [ok(completion())]
    sampling = Sampling(temperature=0.5, max_tokens=100, reasoning_effort="high", seed=4)
    messages = [
        Message(role="system", content="s"),
        Message(role="assistant", content="a", reasoning="r"),
        Message(role="user", content="u"),
    ]
    ask(server, config=GenerateConfig(sampling=sampling, trajectory="plain-3", task="secret_task", turn=2), messages=messages)
    sent = server.requests[0]
    assert sent["path"] == "/v1/chat/completions"
    assert sent["headers"]["authorization"] == f"Bearer {KEY}"
    assert sent["body"] == {
        "model": "some-model",
        "messages": [{"role": "system", "content": "s"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "u"}],
        "temperature": 0.5,
        "max_completion_tokens": 100,
        "reasoning_effort": "high",
        "seed": 4,
    }


def test_reasoning_is_sent_back_only_when_asked_for(server):
    server.steps = [ok(completion())]
    messages = [Message(role="assistant", content="a", reasoning="r"), Message(role="user", content="u")]
    ask(server, config=GenerateConfig(sampling=Sampling(send_reasoning=True)), messages=messages)
    assert server.requests[0]["body"]["messages"][0]["reasoning_content"] == "r"


@pytest.mark.parametrize(
    ("body", "finish"),
    [
        (completion("half", finish="length"), "length"),
        (completion("", finish="content_filter"), "refusal"),
        (completion(None, refusal="I must not"), "refusal"),
        (completion("x", finish="tool_calls"), "other"),
        (completion("x", finish=None), "other"),
    ],
)
def test_why_a_reply_ended_is_recorded(server, body, finish):
    server.steps = [ok(body)]
    assert ask(server).finish == finish


def test_missing_and_strange_usage_is_unknown(server):
    server.steps = [ok(completion(usage=False))]
    assert set(ask(server).usage.model_dump().values()) == {None}
    server.steps = [
        ok(
            json.dumps(
                {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": "many", "completion_tokens": -1}}
            ).encode()
        )
    ]
    assert set(ask(server).usage.model_dump().values()) == {None}


def test_text_that_is_no_unicode_can_still_be_stored(server):
    server.steps = [ok(b'{"choices": [{"message": {"content": "a\\ud800b"}}]}')]
    assert ask(server).text == "a?b"


def drop(handler):
    """Close the connection without an answer."""
    handler.connection.close()


def cut_short(handler):
    """Promise more than is sent."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')


FLEETING = {
    "429": (429, b'{"error": {"message": "slow down"}}', {"Retry-After": "0"}),
    "429 with a date": (429, b"{}", {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
    "500": (500, b"oops", {}),
    "503": (503, b"", {}),
    "malformed JSON": (200, b'{"choices": [', {}),
    "not an object": (200, b"[1]", {}),
    "no choices": (200, b'{"choices": []}', {}),
    "error in a 200": (200, b'{"error": {"message": "overloaded"}}', {}),
    "dropped connection": drop,
    "truncated answer": cut_short,
}


@pytest.mark.parametrize("fault", FLEETING.values(), ids=FLEETING.keys())
def test_a_fleeting_fault_is_tried_again(server, fault):
    server.steps = [fault, fault, ok(completion("at last"))]
    assert ask(server).text == "at last"
    assert len(server.requests) == 3


@pytest.mark.parametrize("fault", FLEETING.values(), ids=FLEETING.keys())
def test_a_lasting_fault_ends_in_one_error_within_bounds(server, fault):
    server.steps = [fault]
    with pytest.raises(ModelError, match=r"openai/some-model: .*\(3 tries\)"):
        ask(server, attempts=3)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refused_request_is_not_repeated(server, status):
    server.steps = [(status, b'{"error": {"message": "no such model"}}', {})]
    with pytest.raises(ModelError, match=f"HTTP {status}: no such model"):
        ask(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize("path", ["", "/", "/openai/deployments/name"])
def test_a_404_at_an_address_without_a_version_doubts_the_address(server, path):
    server.url = server.url.removesuffix("/v1") + path
    server.steps = [(404, b'{"detail": "Not Found"}', {})]
    with pytest.raises(ModelError, match=r"HTTP 404: Not Found; is the address right \(does it end in /v1\?\)") as caught:
        ask(server)
    assert caught.value.next_step == "is the address right (does it end in /v1?)"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1beta/openai", "/api/v3"])
def test_a_404_at_an_address_with_a_version_does_not(server, path):
    server.url = server.url.removesuffix("/v1") + path
    server.steps = [(404, b'{"error": {"message": "no such model"}}', {})]
    with pytest.raises(ModelError, match=r"HTTP 404: no such model$"):
        ask(server)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("variable", "named"),
    [
        ("OPENAI_API_KEY", "OPENAI_API_KEY"),
        ("PTXBENCH_MODEL_KEY", "PTXBENCH_MODEL_KEY"),
        (None, "OPENAI_API_KEY"),
        ("KEY_OF_A_PLAN", "the variable that the plan's key_variable names"),
    ],
)
def test_a_refused_key_names_its_variable_and_never_the_key(server, monkeypatch, status, variable, named):
    for name in ("OPENAI_API_KEY", "PTXBENCH_MODEL_KEY", "PTXBENCH_MODEL_URL"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, KEY)
    server.steps = [(status, json.dumps({"error": {"message": f"no access for {KEY} " + "x" * 1000}}).encode(), {})]

    async def go():
        own = variable if variable == "KEY_OF_A_PLAN" else None
        model = OpenAICompatibleModel.from_environment("m", base_url=server.url, key_variable=own)
        try:
            await model.reply([Message(role="user", content="hi")], GenerateConfig())
        finally:
            await model.close()

    with pytest.raises(ModelError, match=f"HTTP {status}: no access") as caught:
        asyncio.run(go())
    assert caught.value.message.endswith(f"; does {named} hold the right key?") and len(caught.value.message) < 500
    assert caught.value.next_step == f"does {named} hold the right key?"
    if variable is not None:
        assert KEY not in str(caught.value.as_json()) and "KEY_OF_A_PLAN" not in caught.value.message


@pytest.mark.parametrize(
    "error",
    [
        {"message": "too long", "code": "context_length_exceeded"},
        {"message": "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens."},
    ],
)
def test_a_history_that_is_too_long_is_told_apart(server, error):
    server.steps = [(400, json.dumps({"error": error}).encode(), {})]
    with pytest.raises(ContextOverflow):
        ask(server)
    assert len(server.requests) == 1


def test_a_server_that_does_not_answer_in_time_is_given_up(server):
    server.steps = [lambda handler: server.released.wait()]
    with pytest.raises(ModelError, match=r"no answer within 0\.2 s"):
        ask(server, config=GenerateConfig(sampling=Sampling(timeout_s=0.2)), attempts=2)
    assert len(server.requests) == 2


def test_a_server_that_drips_is_given_up_as_well(server):
    def drip(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not server.released.wait(0.02):
            try:
                handler.wfile.write(b" ")
            except OSError:
                return

    server.steps = [drip]
    with pytest.raises(ModelError, match="no answer within"):
        ask(server, config=GenerateConfig(sampling=Sampling(timeout_s=0.3)), attempts=1)


def test_a_huge_answer_is_not_read_to_its_end(server, monkeypatch):
    monkeypatch.setattr(module, "ANSWER_BYTES", 1 << 20)
    sent = []

    def flood(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(1 << 32))
        handler.end_headers()
        try:
            for _ in range(1 << 12):
                sent.append(handler.wfile.write(b" " * (1 << 20)))
        except OSError:
            return

    server.steps = [flood]
    with pytest.raises(ModelError, match="longer than 1048576 bytes"):
        ask(server)
    assert len(sent) < 100


def test_nobody_there_is_an_error_with_a_next_step(server):
    url, server.url = server.url, "http://127.0.0.1:9/v1"
    with pytest.raises(ModelError, match=r"cannot connect to 127\.0\.0\.1:9 \(2 tries\)") as caught:
        ask(server, attempts=2)
    assert caught.value.next_step
    server.url = url


@pytest.mark.parametrize("fault", [drop, cut_short])
def test_a_connection_that_breaks_off_is_named(server, fault):
    server.steps = [fault]
    with pytest.raises(ModelError, match=f"the connection to 127.0.0.1:{urlsplit(server.url).port} broke off"):
        ask(server, attempts=1)


def test_a_web_page_is_tried_once_more_and_the_address_is_doubted(server):
    server.steps = [ok(b"\n<!doctype html><title>welcome</title>")]
    with pytest.raises(ModelError, match=r"sends a web page and no JSON.*\(2 tries\)") as caught:
        ask(server, attempts=8)
    assert len(server.requests) == 2
    assert caught.value.next_step == "is the address right (does it end in /v1?)"
    server.steps, server.requests[:] = [ok(b"<html>restarting</html>"), ok(completion())], []
    assert ask(server).text == "hello"


@pytest.mark.parametrize("tail", ["", "/"])
def test_the_query_of_an_address_stands_behind_the_path_of_every_request(server, tail):
    server.url += f"{tail}?api-version=2024-10-21&tag=a&tag=b%20c&empty="
    server.steps = [ok(completion())]
    ask(server)
    path = urlsplit(server.requests[0]["path"])
    assert path.path == "/v1/chat/completions"
    assert parse_qs(path.query, keep_blank_values=True) == {"api-version": ["2024-10-21"], "tag": ["a", "b c"], "empty": [""]}


@pytest.mark.parametrize("tail", ["/chat/completions", "/chat/completions/", "/chat/completions?api-version=1"])
def test_an_address_of_one_request_is_refused_with_the_next_step(monkeypatch, tail):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with pytest.raises(UsageError, match="must end before /chat/completions") as caught:
        load_model("openai/x", base_url=f"http://127.0.0.1:9/v1{tail}")
    assert "leave /chat/completions out" in caught.value.next_step


def test_the_key_is_nowhere(server, caplog):
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    server.steps = [(401, echo, {})]
    with pytest.raises(ModelError) as caught:
        ask(server)
    error = caught.value
    seen = [str(error), repr(error), json.dumps(error.as_json()), repr(error.__cause__), repr(error.__context__)]
    server.steps = [ok(completion(f"your key is {KEY}", reasoning_content=f"hm, {KEY}", usage=False))]
    seen.append(ask(server).model_dump_json())
    model = OpenAICompatibleModel("some-model", base_url=server.url, api_key=KEY)
    seen += [repr(model), str(model.facts()), model.name, caplog.text]
    asyncio.run(model.close())
    assert "[key]" in seen[0] and "[key]" in seen[5]
    assert not any(KEY in text for text in seen)


def test_address_and_key_come_from_the_environment(server, monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "PTXBENCH_MODEL_URL", "PTXBENCH_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="no key") as caught:
        load_model("openai/x")
    assert "OPENAI_API_KEY" in caught.value.next_step
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PTXBENCH_MODEL_URL", server.url)
    monkeypatch.setenv("PTXBENCH_MODEL_KEY", "from-the-environment")
    server.steps = [ok(completion())]

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
    with pytest.raises(UsageError, match="http"):
        load_model("openai/x", base_url="localhost:8000")


def test_without_the_client_library_the_extra_is_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ToolMissing) as caught:
        load_model("openai/x")
    assert "[agent]" in caught.value.next_step


@pytest.mark.parametrize("name", ["openai", "openai/", "gpt-4", "", "litellm/x", "/x"])
def test_unknown_models_are_refused(name):
    with pytest.raises(UsageError, match="unknown model"):
        load_model(name)


def test_who_waits_is_told_why_a_request_is_made_again(server):
    server.steps = [(503, json.dumps({"error": {"message": f"overloaded, {KEY}"}}).encode(), {}), ok(completion())]
    told = []
    ask(server, config=GenerateConfig(notice=told.append))
    (line,) = told
    assert line.startswith("openai/some-model: HTTP 503: overloaded") and "next try in 0 s" in line and KEY not in line


def test_a_wait_that_would_end_too_late_is_not_begun(server):
    server.steps = [(429, b'{"error": {"message": "slow down"}}', {"Retry-After": "50"})]
    with pytest.raises(ModelError, match=r"HTTP 429: slow down \(after 0 s\)$"):
        ask_until(server, in_all_s=40.0)
    assert len(server.requests) == 1


def test_tries_end_a_busy_endpoint_as_well_as_the_clock_does(server):
    server.steps = [(429, b'{"error": {"message": "slow down"}}', {"Retry-After": "0"})]
    with pytest.raises(ModelError, match=r"HTTP 429: slow down \(3 tries\)$"):
        ask_until(server, in_all_s=40.0, attempts=3)
    assert len(server.requests) == 3


def test_a_reply_within_the_time_is_taken(server):
    server.steps = [(429, b"{}", {"Retry-After": "0"}), ok(completion("at last"))]
    assert ask_until(server, in_all_s=40.0).text == "at last"
