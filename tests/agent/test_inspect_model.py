"""Models through Inspect's own interface: its mock, and its OpenAI-compatible provider against a real HTTP server on loopback."""

import asyncio
import json
import threading

import pytest

from ptxbench.agent.models import GenerateConfig, Message, Sampling, load_model
from ptxbench.agent.models.message import ContextOverflow
from ptxbench.agent.retry import RetryPolicy
from ptxbench.core.errors import ModelError

inspect_model = pytest.importorskip("inspect_ai.model", reason="inspect-ai is not installed (make test-inspect)")
pytestmark = pytest.mark.inspect

from ptxbench.agent.models.inspect_model import InspectModel, sampling_of  # noqa: E402 - after the skip
from ptxbench.agent.models.provider_guard import ProviderFailure, guarded  # noqa: E402

KEY = "sk-very-secret-0123456789"
ASK = [Message(role="user", content="hi")]


def completion(text="hello", finish="stop", usage=True, **message):
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "served", "choices": [choice]}
    if usage:
        body["usage"] = {
            "prompt_tokens": 11,
            "completion_tokens": 22,
            "total_tokens": 33,
            "completion_tokens_details": {"reasoning_tokens": 7},
            "prompt_tokens_details": {"cached_tokens": 3},
        }
    return 200, json.dumps(body).encode(), {}


def refusal(status, message, code=None, **headers):
    return status, json.dumps({"error": {"message": message, "code": code, "type": "some"}}).encode(), headers


@pytest.fixture
def address(server, monkeypatch):
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    monkeypatch.setenv("LOCAL_BASE_URL", server.url)
    return "inspect/openai-api/local/some-model"


def ask(address, *, config=None, attempts=3, messages=ASK, times=1):
    async def go():
        retry = RetryPolicy(attempts=attempts, first_s=0.0, longest_s=0.01)
        model = InspectModel.named(address.removeprefix("inspect/"), retry=retry)
        try:
            return await asyncio.gather(*(model.reply(messages, config or GenerateConfig()) for _ in range(times)))
        finally:
            await model.close()

    replies = asyncio.run(go())
    return replies if times > 1 else replies[0]


def mock(*outputs, **settings):
    made = inspect_model.get_model(
        "mockllm/model", custom_outputs=list(outputs), config=inspect_model.GenerateConfig(**settings), memoize=False
    )
    return InspectModel(made)


def output(content, stop="stop", **usage):
    made = inspect_model.ModelOutput.from_content("mock", content, stop_reason=stop)
    made.usage = inspect_model.ModelUsage(**usage)
    return made


def test_the_mock_answers_with_text_reasoning_and_tokens_by_kind():
    content = [inspect_model.ContentReasoning(reasoning="thought"), inspect_model.ContentText(text="text")]
    usage = {"input_tokens": 5, "output_tokens": 7, "input_tokens_cache_read": 3, "input_tokens_cache_write": 2, "total_cost": 0.25}
    reply = asyncio.run(mock(output(content, reasoning_tokens=4, **usage)).reply(ASK, GenerateConfig()))
    assert (reply.text, reply.reasoning, reply.finish, reply.raw_finish) == ("text", "thought", "stop", "stop")
    assert reply.usage.model_dump() == {"input": 10, "output": 7, "reasoning": 4, "cached": 3, "cost_usd": 0.25}


def test_redacted_reasoning_is_not_taken_for_words():
    content = [
        inspect_model.ContentReasoning(reasoning="gAAAAencrypted", redacted=True, summary="in short"),
        inspect_model.ContentText(text="text"),
    ]
    assert asyncio.run(mock(output(content)).reply(ASK, GenerateConfig())).reasoning == "in short"


def test_a_reply_through_a_provider_keeps_text_reasoning_usage_and_finish(server, address):
    server.steps = [completion("text", reasoning_content="thought")]
    reply = ask(address)
    assert (reply.text, reply.reasoning, reply.finish, reply.served_model) == ("text", "thought", "stop", "served")
    assert reply.usage.model_dump() == {"input": 11, "output": 22, "reasoning": 7, "cached": 3, "cost_usd": None}


def test_the_request_says_what_was_asked_for(server, address):
    server.steps = [completion()]
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=100, seed=4)
    messages = [
        Message(role="system", content="s"),
        Message(role="user", content="u"),
        Message(role="assistant", content="a", reasoning="r"),
        Message(role="user", content="v"),
    ]
    ask(address, config=GenerateConfig(sampling=sampling, trajectory="plain-3", task="secret_task", turn=2), messages=messages)
    (sent,) = server.requests
    assert sent["headers"]["authorization"] == f"Bearer {KEY}"
    assert [(one["role"], one["content"]) for one in sent["body"]["messages"]] == [
        ("system", "s"),
        ("user", "u"),
        ("assistant", "a"),
        ("user", "v"),
    ]
    limit = sent["body"].get("max_tokens", sent["body"].get("max_completion_tokens"))
    assert (sent["body"]["model"], limit) == ("some-model", 100)
    assert {name: sent["body"][name] for name in ("temperature", "top_p", "seed")} == {"temperature": 0.5, "top_p": 0.9, "seed": 4}
    assert "secret_task" not in json.dumps(sent) and '"r"' not in json.dumps(sent["body"])


def test_reasoning_is_sent_back_only_when_asked_for(server, address):
    server.steps = [completion()]
    messages = [*ASK, Message(role="assistant", content="a", reasoning="my earlier thought"), Message(role="user", content="u")]
    ask(address, messages=messages)
    ask(address, messages=messages, config=GenerateConfig(sampling=Sampling(send_reasoning=True)))
    without, having = (json.dumps(request["body"]["messages"]) for request in server.requests)
    assert "my earlier thought" not in without and "my earlier thought" in having


@pytest.mark.parametrize(
    ("step", "finish"),
    [
        (completion("half", finish="length"), "length"),
        (completion("", finish="content_filter"), "refusal"),
        (completion(None, refusal="I must not"), "refusal"),
        (completion("x", finish="tool_calls"), "other"),
        (refusal(400, "this was blocked", code="content_policy_violation"), "refusal"),
    ],
)
def test_why_a_reply_ended_is_recorded(server, address, step, finish):
    server.steps = [step]
    assert ask(address).finish == finish
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "step",
    [
        refusal(400, "too many tokens", code="context_length_exceeded"),
        refusal(400, "This model's maximum context length is 4096 tokens, but you asked for 9000", code=400),
        refusal(413, "the input is longer than the model's context length"),
    ],
)
def test_a_full_context_ends_the_conversation_and_is_not_asked_again(server, address, step):
    server.steps = [step]
    with pytest.raises(ContextOverflow):
        ask(address)
    assert len(server.requests) == 1


def test_a_reply_that_ran_into_the_window_while_it_was_written_was_cut_off():
    reply = asyncio.run(mock(output("half a kernel", "model_length", output_tokens=3)).reply(ASK, GenerateConfig()))
    assert (reply.finish, reply.text) == ("length", "half a kernel")


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_what_may_pass_is_tried_again_by_our_policy_and_by_nobody_else(server, address, status):
    server.steps = [refusal(status, "later")] * 2 + [completion("at last")]
    notices = []
    assert ask(address, attempts=3, config=GenerateConfig(notice=notices.append)).text == "at last"
    assert len(server.requests) == 3
    assert [f"HTTP {status}: later" in notice for notice in notices] == [True, True]


@pytest.mark.parametrize("end", ["error", "abort"])
def test_an_end_that_is_the_servers_fault_is_no_reply(server, address, end):
    server.steps = [completion("hal", finish=end), completion("whole")]
    assert ask(address).text == "whole"
    assert len(server.requests) == 2


def test_retries_end_and_were_not_multiplied_by_the_layers_below(server, address):
    server.steps = [refusal(500, "broken for good")]
    with pytest.raises(ModelError, match=r"HTTP 500.*broken for good.*\(4 tries\)"):
        ask(address, attempts=4)
    assert len(server.requests) == 4


def test_the_wait_that_a_server_asks_for_reaches_our_policy(server, address):
    server.steps = [refusal(429, "slow down", **{"Retry-After": "7"})]

    async def go():
        made = inspect_model.get_model(address.removeprefix("inspect/"), memoize=False)
        try:
            await guarded(made).generate("hi", config=inspect_model.GenerateConfig(max_retries=0))
        finally:
            await made.api.aclose()

    with pytest.raises(ProviderFailure) as raised:
        asyncio.run(go())
    assert (raised.value.retry, raised.value.asked_s) == (True, 7.0)


def test_a_connection_that_breaks_is_tried_again(server, address):
    server.steps = [lambda handler: handler.connection.close(), completion("back")]
    assert ask(address).text == "back"
    assert len(server.requests) == 2


def test_a_refused_key_is_not_tried_again_and_not_told(server, address):
    server.steps = [refusal(401, f"Incorrect API key provided: {KEY}")]
    with pytest.raises(ModelError) as raised:
        ask(address)
    assert len(server.requests) == 1
    assert "HTTP 401: Incorrect API key provided: [key]" in raised.value.message
    # A traceback shows causes and contexts too.
    assert raised.value.__cause__ is None and raised.value.__context__ is None


def test_a_key_that_a_server_repeats_is_cut_out_of_everything(server, address):
    server.steps = [completion(f"your key is {KEY}", reasoning_content=f"he said {KEY}")]
    assert KEY not in ask(address).model_dump_json()


def test_a_wait_for_an_answer_is_bounded(server, address):
    server.steps = [lambda handler: server.released.wait(30)]
    with pytest.raises(ModelError, match=r"no answer within 0\.2 s"):
        ask(address, attempts=1, config=GenerateConfig(sampling=Sampling(timeout_s=0.2)))


def test_more_requests_are_under_way_than_inspect_would_allow_by_itself(server, address):
    together = threading.Barrier(14, timeout=60)

    def step(handler):
        together.wait()
        status, body, _ = completion()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    server.steps = [step]
    assert len(ask(address, times=14)) == 14


def test_equal_prompts_are_asked_again_even_when_inspects_cache_is_on(server, address):
    server.steps = [completion("first"), completion("second")]

    async def go():
        made = inspect_model.get_model(
            address.removeprefix("inspect/"), config=inspect_model.GenerateConfig(cache=True), memoize=False
        )
        model = InspectModel(made)
        try:
            return [(await model.reply(ASK, GenerateConfig())).text for _ in range(2)]
        finally:
            await model.close()

    assert asyncio.run(go()) == ["first", "second"]


def test_inspects_events_do_not_pile_up_beside_a_long_conversation():
    from inspect_ai.log import transcript

    async def go():
        model = mock(*(output("x") for _ in range(3)))
        for _ in range(3):
            await model.reply(ASK, GenerateConfig())
        return len(transcript().events)

    assert asyncio.run(go()) == 0


def test_settings_of_inspects_that_change_answers_are_facts_of_the_model():
    assert mock(temperature=0.3, max_connections=4).facts() == {}
    assert mock(stop_seqs=["END"]).facts() == {"generate": {"stop_seqs": ["END"]}}


def test_facts_hold_no_header_and_no_key(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", KEY)
    made = mock(extra_headers={"Authorization": "Bearer of another"}, extra_body={"routing": f"by {KEY}"})
    assert made.facts() == {"generate": {"extra_headers": ["Authorization"], "extra_body": {"routing": "by [key]"}}}


def test_sampling_of_inspects_is_recorded_as_ours():
    config = inspect_model.GenerateConfig(temperature=0.5, max_tokens=9, seed=3, reasoning_effort="high")
    made = inspect_model.get_model("mockllm/model", config=config, memoize=False)
    assert sampling_of(made) == Sampling(temperature=0.5, max_tokens=9, seed=3, reasoning_effort="high")


@pytest.mark.parametrize(("history", "sent"), [(None, None), ("auto", None), ("none", False), ("all", True), ("last", True)])
def test_whether_reasoning_goes_back_is_ours_to_say_unless_inspect_was_told(history, sent):
    config = inspect_model.GenerateConfig(reasoning_history=history)
    assert sampling_of(inspect_model.get_model("mockllm/model", config=config, memoize=False)).send_reasoning is sent


def test_the_name_for_records_holds_provider_and_model(address):
    assert load_model(address).name == "inspect/openai-api/local/some-model"
