"""``ptxbench view``: the page on loopback, which tells an open tab of new turns and answers nobody from elsewhere."""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.agent.engine.ledger import JOURNAL_NAME, STORE_NAME
from ptxbench.agent.engine.manifest import read_manifest
from ptxbench.app.viewing import View
from ptxbench.core.errors import UsageError
from ptxbench.core.journal import Journal
from ptxbench.core.store import ContentStore
from ptxbench.schema import Outcome

pytestmark = pytest.mark.xdist_group("chromium")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def shape(made):
    return made.Shape(name="going-on", variants=("base",), trajectories=1, turns=6, seed=1)


@pytest.fixture
def folder(made, shape, tmp_path):
    """A run that has been planned and has made no turn."""
    folder = made.make_run(tmp_path / "runs" / "going-on", shape)
    (folder / JOURNAL_NAME).write_bytes(b"")
    return folder


@pytest.fixture
def add_turn(made, shape, folder):
    """Makes the next turns of the run, as a run that goes on does."""
    (key,) = (cell.key for cell in read_manifest(folder).cells)
    (place,) = made.places(shape, key)
    store = ContentStore(folder / STORE_NAME)

    def add(turn, outcome=Outcome.CORRECT):
        steps = made.turn_steps(shape, key, place, turn, f"// kernel {turn}\n", outcome, random.Random(turn), store)
        with Journal(folder / JOURNAL_NAME) as journal:
            journal.append(*steps)

    return add


def ask(view, path, *, method="GET", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", int(view.url.rstrip("/").rpartition(":")[2]), timeout=20)
    connection.request(method, path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_new_turns_appear_in_an_open_tab_where_it_stands(tab, folder, add_turn):
    with View([folder]) as view:
        page = tab.page
        page.goto(view.url)
        page.locator("#state", has_text="live · 0 turns").wait_for()
        add_turn(0, Outcome.WRONG_VALUE)
        page.locator("#state", has_text="1 turns").wait_for()
        page.locator("table[aria-label='Results'] a.row").click()
        page.locator("table[aria-label='Trajectories'] a.row").click()
        add_turn(1)
        page.locator("table[aria-label='Turns'] a.row", has_text="turn 1").click()
        page.locator("#feedback").wait_for()
        assert page.locator(".code li").inner_text() == "// kernel 1"
        page.keyboard.press("d")
        page.locator("#diff .plus").wait_for()
        assert all(url.startswith(view.url) for url in tab.requests)


def test_only_requests_that_name_it_by_a_loopback_name_are_answered(folder):
    with View([folder]) as view:
        port = view.url.rstrip("/").rpartition(":")[2]
        assert ask(view, "/", host=f"localhost:{port}")[0].status == 200
        for host in ("elsewhere.invalid", f"elsewhere.invalid:{port}", "127.0.0.1", f"127.0.0.1:{port}.elsewhere.invalid"):
            answer, body = ask(view, "/data", host=host)
            assert answer.status == 403 and b"cells" not in body


def test_it_reads_only_and_serves_no_file(folder):
    with View([folder]) as view:
        assert ask(view, "/", method="POST")[0].status == 501
        for path in ("/run.json", "/../run.json", "/store/", "/trajectory", "/trajectory?cell=../..&trajectory=x"):
            assert ask(view, path)[0].status == 404
        headers = ask(view, "/data")[0].headers
        assert headers["X-Content-Type-Options"] == "nosniff" and "default-src 'none'" in headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in headers


def test_a_torn_last_line_is_no_turn_and_a_damaged_one_is_said(folder, add_turn):
    add_turn(0)
    whole = (folder / JOURNAL_NAME).read_bytes()
    with View([folder]) as view:
        (folder / JOURNAL_NAME).write_bytes(whole + b'{"kind": "turn", "pl')
        answer, body = ask(view, "/data")
        assert answer.status == 200 and json.loads(body)["cells"][0]["figures"]["n"] == 1
        (folder / JOURNAL_NAME).write_bytes(b"nonsense\n" + whole)
        answer, body = ask(view, "/data")
        assert answer.status == 500 and "journal" in json.loads(body)["message"]


def test_runs_that_begin_later_are_found(made, folder):
    with View([folder.parent]) as view:
        made.make_run(folder.parent / "later", made.Shape(name="later", variants=("base",), trajectories=1, turns=2))
        assert {run["run"] for run in json.loads(ask(view, "/data")[1])["runs"]} == {"going-on", "later"}


def test_stopping_does_not_wait_for_open_tabs(tab, folder):
    with View([folder]) as view:
        tab.page.goto(view.url)
        tab.page.locator("#state", has_text="live").wait_for()
        url = view.url
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))).close()
    tab.page.locator("#state", has_text="not connected").wait_for()
    tab.errors.clear()  # The browser says that the connection is gone, which is what this test does.


def test_what_cannot_be_served_is_refused(folder, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="cannot be had"):
            View([folder], port=taken.getsockname()[1])
    with pytest.raises(UsageError, match="holds no run"):
        View([tmp_path / "runs" / "going-on" / STORE_NAME])


def test_the_command_prints_its_address_and_ends_with_ctrl_c(folder):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "ptxbench", "view", str(folder), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as running:
        said = "".join(iter(running.stdout.readline, "}\n")) + "}"
        address = json.loads(said)["url"]
        connection = http.client.HTTPConnection(address.split("/")[2], timeout=20)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 130
        assert running.stderr.read().splitlines()[-1] == "stopped"
