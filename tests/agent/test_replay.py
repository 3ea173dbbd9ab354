"""A recording plays back exactly what it holds."""

import asyncio
import json

import pytest

from ptxbench.agent.models import GenerateConfig, load_model
from ptxbench.core.errors import ModelError, UsageError


def write(path, *lines):
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return load_model(f"replay/{path}")


def ask(model, turn, trajectory="plain-0", task="twice"):
    return asyncio.run(model.reply([], GenerateConfig(trajectory=trajectory, task=task, turn=turn)))


def test_the_most_exact_line_wins(tmp_path):
    model = write(
        tmp_path / "r.jsonl",
        {"trajectory": None, "turn": 0, "text": "any"},
        {"trajectory": "plain-1", "turn": 0, "text": "second"},
        {"trajectory": "other/plain-1", "turn": 0, "text": "second of other"},
        {"turn": 1, "text": "later", "reasoning": "why", "usage": {"input": 5, "output": 6}},
    )
    assert ask(model, 0).text == "any"
    assert ask(model, 0, "plain-1").text == "second"
    assert ask(model, 0, "plain-1", "other").text == "second of other"
    later = ask(model, 1)
    assert (later.text, later.reasoning, later.usage.input, later.usage.output, later.usage.cached) == ("later", "why", 5, 6, None)


def test_the_name_holds_no_path_and_the_facts_hold_the_content(tmp_path):
    first = write(tmp_path / "r.jsonl", {"turn": 0, "text": "a"})
    assert first.name == "replay/r.jsonl"
    second = write(tmp_path / "r.jsonl", {"turn": 0, "text": "b"})
    assert first.facts() != second.facts()


def test_a_missing_turn_says_which(tmp_path):
    model = write(tmp_path / "r.jsonl", {"turn": 0, "text": "a"})
    with pytest.raises(ModelError, match=r"no reply for turn 3 of trajectory twice/plain-2"):
        ask(model, 3, "plain-2")


def test_half_a_character_is_replaced_so_that_the_reply_can_be_stored(tmp_path):
    model = write(tmp_path / "r.jsonl", '{"turn": 0, "text": "a\\ud800b", "reasoning": "\\udfff"}\n')
    reply = ask(model, 0)
    assert (reply.text, reply.reasoning) == ("a?b", "?")


BAD = {
    "not JSON": ('{"turn": 0, "text": "a"}\n{"turn": 1,\n', "r.jsonl:2 is not JSON"),
    "not an object": ("[]\n", "r.jsonl:1: line"),
    "no text": ('\n{"turn": 0}\n', "r.jsonl:2: text"),
    "turn below zero": ('{"turn": -1, "text": ""}\n', "r.jsonl:1: turn"),
    "unknown key": ('{"turn": 0, "text": "", "txet": ""}\n', "r.jsonl:1: txet"),
    "twice": ('{"turn": 0, "text": ""}\n{"turn": 0, "text": "x"}\n', "r.jsonl:2: a second reply"),
    "empty": ("\n", "holds no replies"),
    "not text": ("\udcff\udcfe", "r.jsonl:1 is not JSON"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD.keys())
def test_a_malformed_recording_is_refused_with_its_line(tmp_path, content, message):
    path = tmp_path / "r.jsonl"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=message):
        load_model(f"replay/{path}")


def test_a_missing_recording_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot read the recording"):
        load_model(f"replay/{tmp_path}/none.jsonl")
