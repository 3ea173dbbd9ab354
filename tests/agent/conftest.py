"""Fixtures of the agent's tests."""

import asyncio
import importlib.util
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ptxbench.agent import RunConfig, run


def beside(name):
    """Return the module of that name beside this file."""
    full = f"ptxbench_tests_agent_{name}"
    spec = importlib.util.spec_from_file_location(full, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def scripted():
    """The module ``scripted.py``: a task, records, an evaluator that does what a comment says."""
    return beside("scripted")


@pytest.fixture(scope="session")
def playing():
    """The module ``playing.py``: a model that answers from a function."""
    return beside("playing")


@pytest.fixture(scope="session")
def code(playing):
    """Makes a reply with a kernel of some directives."""
    return playing.code


@pytest.fixture(scope="session")
def rows(playing):
    """Reads the rows of a run directory."""
    return playing.rows


@pytest.fixture
def play(scripted, playing, tmp_path):
    """Run a plan in a folder of its own; returns summary, evaluator, model, events."""

    def go(answer, out="run", evaluator=None, **changes):
        settings = {"tasks": ("twice",), "model": "openai/table", "trajectories": 1, "turns": 2, "evaluation_wait_s": 0.0}
        evaluator = evaluator or scripted.ScriptedEvaluator()
        model = playing.TableModel(answer)
        events = []
        config = RunConfig(**(settings | changes))
        summary = asyncio.run(run(config, scripted.OneSuite(), lambda task: evaluator, tmp_path / out, events.append, model=model))
        return summary, evaluator, model, events

    return go


@pytest.fixture(scope="session")
def pack_data():
    """The module ``pack_data.py``: a small knowledge pack that a test may change."""
    return beside("pack_data")


@pytest.fixture(scope="session")
def telling():
    """The module ``telling.py``: an evaluation of every outcome that has much to tell."""
    return beside("telling")


@pytest.fixture(scope="session")
def recorded():
    """The module ``recorded_texts.py``: holds a feedback text against its golden file."""
    return beside("recorded_texts")


@pytest.fixture(scope="session")
def chat():
    """The module ``chat.py``: asks ``server`` one question, and makes the answers that it gives."""
    return beside("chat")


@pytest.fixture(scope="session")
def stub():
    """The module ``stub_provider.py``: a provider that answers by place in the run, and what it may do instead of answering."""
    return beside("stub_provider")


class Server:
    """Plays one step per request; the last one is repeated. A step is ``(status, body, headers)`` or a function of the handler."""

    def __init__(self):
        self.steps = []
        self.requests = []
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append({"body": body, "headers": {k.lower(): v for k, v in self.headers.items()}, "path": self.path})
                step = outer.steps[min(len(outer.requests), len(outer.steps)) - 1]
                if callable(step):
                    self.close_connection = True
                    step(self)
                    return
                status, data, headers = step
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def stop(self):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server():
    running = Server()
    yield running
    running.stop()
