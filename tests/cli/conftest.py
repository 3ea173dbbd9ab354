"""An endpoint on loopback, and the command as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORT_PATH = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
"""This source tree, and whatever the tests themselves import from."""


class Endpoint:
    """Answers every request with the same text and 100 + 20 tokens, and keeps what it was asked."""

    def __init__(self):
        self.text = "I do not know."
        self.usage = {"prompt_tokens": 100, "completion_tokens": 20}
        self.bodies, self.keys = [], set()
        lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    endpoint.bodies.append(body)
                    endpoint.keys.add(self.headers["Authorization"])
                choice = {"index": 0, "message": {"role": "assistant", "content": endpoint.text}, "finish_reason": "stop"}
                data = json.dumps({"model": body["model"], "choices": [choice], "usage": endpoint.usage}).encode()
                self.send_response(200)
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
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def endpoint():
    """A running endpoint."""
    running = Endpoint()
    yield running
    running.stop()


@pytest.fixture
def ptxbench(tmp_path, build_cache):
    """Runs the command in an empty folder with nothing in the environment but what is given."""

    def go(*arguments, code=0, **environment):
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PTXBENCH_CACHE_DIR": str(build_cache), "PYTHONPATH": IMPORT_PATH}
        command = [sys.executable, "-m", "ptxbench", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=env | environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return go


@pytest.fixture(scope="session")
def import_path():
    """What a process of a test's own needs as ``PYTHONPATH``."""
    return IMPORT_PATH
