"""Asking a real HTTP server on loopback: what is sent, and what is taken from its answer."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from ptxbench.agent.models import GenerateConfig, Message, Sampling
from ptxbench.agent.models.message import ContextOverflow


def test_a_reply_keeps_text_reasoning_usage_and_finish(chat, server):
    server.steps = [chat.ok(chat.completion("text", reasoning_content="thought"))]
    reply = chat.ask(server)
    assert (reply.text, reply.reasoning, reply.finish, reply.raw_finish, reply.served_model) == (
        "text",
        "thought",
        "stop",
        "stop",
        "served",
    )
    assert reply.usage.model_dump() == {"input": 11, "output": 22, "reasoning": 7, "cached": 3, "cost_usd": None}


def test_the_request_says_what_was_asked_for_and_nothing_else(chat, server):
    server.steps = [chat.ok(chat.completion())]
    sampling = Sampling(temperature=0.5, max_tokens=100, reasoning_effort="high", seed=4)
    messages = [
        Message(role="system", content="s"),
        Message(role="assistant", content="a", reasoning="r"),
        Message(role="user", content="u"),
    ]
    chat.ask(server, config=GenerateConfig(sampling=sampling, trajectory="plain-3", task="secret_task", turn=2), messages=messages)
    sent = server.requests[0]
    assert sent["path"] == "/v1/chat/completions"
    assert sent["headers"]["authorization"] == f"Bearer {chat.KEY}"
    assert sent["body"] == {
        "model": "some-model",
        "messages": [{"role": "system", "content": "s"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "u"}],
        "temperature": 0.5,
        "max_completion_tokens": 100,
        "reasoning_effort": "high",
        "seed": 4,
    }


def test_reasoning_is_sent_back_only_when_asked_for(chat, server):
    server.steps = [chat.ok(chat.completion())]
    messages = [Message(role="assistant", content="a", reasoning="r"), Message(role="user", content="u")]
    chat.ask(server, config=GenerateConfig(sampling=Sampling(send_reasoning=True)), messages=messages)
    assert server.requests[0]["body"]["messages"][0]["reasoning_content"] == "r"


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ({"text": "half", "finish": "length"}, "length"),
        ({"text": "", "finish": "content_filter"}, "refusal"),
        ({"text": None, "refusal": "I must not"}, "refusal"),
        ({"text": "x", "finish": "tool_calls"}, "other"),
        ({"text": "x", "finish": None}, "other"),
    ],
)
def test_why_a_reply_ended_is_recorded(chat, server, said, finish):
    server.steps = [chat.ok(chat.completion(**said))]
    assert chat.ask(server).finish == finish


def test_missing_and_strange_usage_is_unknown(chat, server):
    server.steps = [chat.ok(chat.completion(usage=False))]
    assert set(chat.ask(server).usage.model_dump().values()) == {None}
    server.steps = [
        chat.ok(
            json.dumps(
                {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": "many", "completion_tokens": -1}}
            ).encode()
        )
    ]
    assert set(chat.ask(server).usage.model_dump().values()) == {None}


def test_text_that_is_no_unicode_can_still_be_stored(chat, server):
    server.steps = [chat.ok(b'{"choices": [{"message": {"content": "a\\ud800b"}}]}')]
    assert chat.ask(server).text == "a?b"


@pytest.mark.parametrize(
    "error",
    [
        {"message": "too long", "code": "context_length_exceeded"},
        {"message": "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens."},
    ],
)
def test_a_history_that_is_too_long_is_told_apart(chat, server, error):
    server.steps = [(400, json.dumps({"error": error}).encode(), {})]
    with pytest.raises(ContextOverflow):
        chat.ask(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize("tail", ["", "/"])
def test_the_query_of_an_address_stands_behind_the_path_of_every_request(chat, server, tail):
    server.url += f"{tail}?api-version=2024-10-21&tag=a&tag=b%20c&empty="
    server.steps = [chat.ok(chat.completion())]
    chat.ask(server)
    path = urlsplit(server.requests[0]["path"])
    assert path.path == "/v1/chat/completions"
    assert parse_qs(path.query, keep_blank_values=True) == {"api-version": ["2024-10-21"], "tag": ["a", "b c"], "empty": [""]}
