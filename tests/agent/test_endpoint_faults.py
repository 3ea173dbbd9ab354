"""Faults of a real HTTP server on loopback: tried again within bounds of tries, time and memory, and told in one line."""

import json
import socket
from urllib.parse import urlsplit

import pytest

from ptxbench.agent.models import GenerateConfig, Sampling
from ptxbench.agent.models import bounded_body as module
from ptxbench.agent.models.openai_compatible import FIRST_TRIES
from ptxbench.core.errors import ModelError


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
def test_a_fleeting_fault_is_tried_again(chat, server, fault):
    server.steps = [fault, fault, chat.ok(chat.completion("at last"))]
    assert chat.ask(server).text == "at last"
    assert len(server.requests) == 3


@pytest.mark.parametrize("fault", FLEETING.values(), ids=FLEETING.keys())
def test_a_lasting_fault_ends_in_one_error_within_bounds(chat, server, fault):
    server.steps = [fault]
    with pytest.raises(ModelError, match=r"openai/some-model: .*\(3 tries\)"):
        chat.ask(server, attempts=3)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refused_request_is_not_repeated(chat, server, status):
    server.steps = [(status, b'{"error": {"message": "no such model"}}', {})]
    with pytest.raises(ModelError, match=f"HTTP {status}: no such model"):
        chat.ask(server)
    assert len(server.requests) == 1


def test_a_server_that_does_not_answer_in_time_is_given_up(chat, server):
    server.steps = [lambda handler: server.released.wait()]
    with pytest.raises(ModelError, match=r"no answer within 0\.2 s"):
        chat.ask(server, config=GenerateConfig(sampling=Sampling(timeout_s=0.2)), attempts=2)
    assert len(server.requests) == 2


def test_a_server_that_drips_is_given_up_as_well(chat, server):
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
        chat.ask(server, config=GenerateConfig(sampling=Sampling(timeout_s=0.3)), attempts=1)


def test_a_huge_answer_is_not_read_to_its_end(chat, server, monkeypatch):
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
        chat.ask(server)
    assert len(sent) < 100


def test_nobody_there_is_an_error_with_a_next_step(chat, server):
    url, server.url = server.url, "http://127.0.0.1:9/v1"
    with pytest.raises(ModelError, match=r"cannot connect to 127\.0\.0\.1:9 \(2 tries\)") as caught:
        chat.ask(server, attempts=2)
    assert caught.value.next_step
    server.url = url


@pytest.mark.parametrize("error", [socket.EAI_NONAME, socket.EAI_AGAIN])
def test_a_name_that_nobody_knows_is_said_to_be_unknown_and_a_name_server_that_fails_is_not(chat, server, monkeypatch, error):
    def unresolved(*args, **kwargs):
        raise socket.gaierror(error, "as the system's resolver says it")

    url, server.url = server.url, "http://no-such-host.invalid/v1"
    monkeypatch.setattr(socket, "getaddrinfo", unresolved)
    with pytest.raises(ModelError) as caught:
        chat.ask(server, attempts=2)
    known = "the name no-such-host.invalid is not known: is the address right?"
    told = known if error == socket.EAI_NONAME else "cannot connect to no-such-host.invalid:80"
    assert caught.value.message == f"openai/some-model: {told} (2 tries)"
    server.url = url


def test_who_never_answered_is_given_up_sooner_than_who_did(chat, server):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    url, server.url = server.url, f"http://127.0.0.1:{port}/v1"
    with pytest.raises(ModelError, match=rf"cannot connect to 127\.0\.0\.1:{port} \({FIRST_TRIES} tries\)"):
        chat.ask(server, attempts=8)
    server.url, server.steps = url, [(503, b"", {"Connection": "close"})]
    with pytest.raises(ModelError, match=r"cannot connect to .* \(8 tries\)"):
        chat.ask(server, config=GenerateConfig(notice=lambda _: server.stop()), attempts=8)


@pytest.mark.parametrize("fault", [drop, cut_short])
def test_a_connection_that_breaks_off_is_named(chat, server, fault):
    server.steps = [fault]
    with pytest.raises(ModelError, match=f"the connection to 127.0.0.1:{urlsplit(server.url).port} broke off"):
        chat.ask(server, attempts=1)


def test_a_web_page_is_tried_once_more_and_the_address_is_doubted(chat, server):
    server.steps = [chat.ok(b"\n<!doctype html><title>welcome</title>")]
    with pytest.raises(ModelError, match=r"sends a web page and no JSON.*\(2 tries\)") as caught:
        chat.ask(server, attempts=8)
    assert len(server.requests) == 2
    assert caught.value.next_step == "is the address right (does it end in /v1?)"
    server.steps, server.requests[:] = [chat.ok(b"<html>restarting</html>"), chat.ok(chat.completion())], []
    assert chat.ask(server).text == "hello"


def test_who_waits_is_told_why_a_request_is_made_again(chat, server):
    server.steps = [(503, json.dumps({"error": {"message": f"overloaded, {chat.KEY}"}}).encode(), {}), chat.ok(chat.completion())]
    told = []
    chat.ask(server, config=GenerateConfig(notice=told.append))
    (line,) = told
    assert line.startswith("openai/some-model: HTTP 503: overloaded") and "next try in 0 s" in line and chat.KEY not in line


def test_a_wait_that_would_end_too_late_is_not_begun(chat, server):
    server.steps = [(429, b'{"error": {"message": "slow down"}}', {"Retry-After": "50"})]
    with pytest.raises(ModelError, match=r"HTTP 429: slow down \(after 0 s\)$"):
        chat.ask_until(server, in_all_s=40.0)
    assert len(server.requests) == 1


def test_tries_end_a_busy_endpoint_as_well_as_the_clock_does(chat, server):
    server.steps = [(429, b'{"error": {"message": "slow down"}}', {"Retry-After": "0"})]
    with pytest.raises(ModelError, match=r"HTTP 429: slow down \(3 tries\)$"):
        chat.ask_until(server, in_all_s=40.0, attempts=3)
    assert len(server.requests) == 3


def test_a_reply_within_the_time_is_taken(chat, server):
    server.steps = [(429, b"{}", {"Retry-After": "0"}), chat.ok(chat.completion("at last"))]
    assert chat.ask_until(server, in_all_s=40.0).text == "at last"
