"""``ptxbench view``: the page of run directories on loopback, which tells an open page of new turns."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from ptxbench.app.reporting import runs_in
from ptxbench.app.transcripts import Transcripts
from ptxbench.core.errors import PtxbenchError, UsageError
from ptxbench.report.page.document import content_security_policy
from ptxbench.report.page.live import LiveRuns
from ptxbench.report.page.runs import read_runs

HOST = "127.0.0.1"
LOOK_SECONDS = 1.0
"""Between two looks at the run directories."""

KEEP_ALIVE_SECONDS = 15.0
"""Between two signs of life to a page that has nothing to be told; a page that went away is noticed by then."""

GONE = (BrokenPipeError, ConnectionResetError)
"""What writing to a browser that went away raises."""


class View:
    """A server of the page. Reads only; answers only requests that name it by a loopback name.

    ``with View(directories, port=0) as view: view.wait()``. ``port`` 0 takes a free one.
    """

    def __init__(self, directories: Sequence[Path], *, port: int = 0, transcripts: bool = True) -> None:
        """Take a port and read the runs. Raises ``UsageError`` for a folder without a run and for a port that is taken."""
        folders = [run for folder in directories for run in runs_in(folder)]
        runs = read_runs(folders)
        self._stopping = threading.Event()
        self._news = threading.Condition()
        self._version = 0
        try:
            self._server = _Server((HOST, port), _Handler)
        except OSError as error:
            raise UsageError(f"port {port} of {HOST} cannot be had: {error.strerror}", next_step="name another --port") from error
        self._transcripts = Transcripts({run.manifest.run: run.inspect_logs for run in runs} if transcripts else {})
        self._live = LiveRuns(
            lambda: [run for folder in directories for run in runs_in(folder)], viewers=self._transcripts.addresses
        )
        self._server.view = self
        self._threads = [
            threading.Thread(target=self._server.serve_forever, args=(0.1,), name="view", daemon=True),
            threading.Thread(target=self._look, name="view-look", daemon=True),
        ]

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self._server.server_port}/"

    @property
    def live(self) -> LiveRuns:
        """What is handed out."""
        return self._live

    @property
    def names(self) -> frozenset[str]:
        """How a request may name this server: a page elsewhere that a name server points here is refused."""
        return frozenset(f"{name}:{self._server.server_port}" for name in (HOST, "localhost"))

    def wait(self) -> None:
        """Return when the server was stopped; Ctrl-C raises as usual."""
        self._stopping.wait()

    def news(self, since: int) -> int | None:
        """Return the number of changes so far once it is another than ``since``, or after a while; None when stopping."""
        with self._news:
            self._news.wait_for(lambda: self._version != since or self._stopping.is_set(), KEEP_ALIVE_SECONDS)
            return None if self._stopping.is_set() else self._version

    @property
    def version(self) -> int:
        """The number of changes so far."""
        return self._version

    def _look(self) -> None:
        before = self._live.stamp()
        while not self._stopping.wait(LOOK_SECONDS):
            now = self._live.stamp()
            if now != before:
                before = now
                with self._news:
                    self._version += 1
                    self._news.notify_all()

    def close(self) -> None:
        """Stop serving."""
        self._stopping.set()
        with self._news:
            self._news.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._transcripts.close()

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    view: View


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "ptxbench"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        """Answer one of four addresses."""
        view = self.server.view
        asked = urlsplit(self.path)
        if self.headers.get("Host") not in view.names:
            self._answer(HTTPStatus.FORBIDDEN, b"ask for 127.0.0.1 or localhost\n", "text/plain; charset=utf-8")
            return
        try:
            if asked.path == "/":
                self._answer(HTTPStatus.OK, view.live.page().encode(), "text/html; charset=utf-8")
            elif asked.path == "/data":
                self._answer(HTTPStatus.OK, view.live.data(), "application/json")
            elif asked.path == "/trajectory":
                self._trajectory(parse_qs(asked.query))
            elif asked.path == "/events":
                self._events()
            else:
                self._answer(HTTPStatus.NOT_FOUND, b"not here\n", "text/plain; charset=utf-8")
        except PtxbenchError as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, json.dumps(error.as_json()).encode(), "application/json")

    def _trajectory(self, query: dict[str, list[str]]) -> None:
        cell, name = (query.get(one, [""])[0] for one in ("cell", "trajectory"))
        found = self.server.view.live.trajectory(cell, name)
        if found is None:
            self._answer(HTTPStatus.NOT_FOUND, b"{}", "application/json")
        else:
            self._answer(HTTPStatus.OK, found, "application/json")

    def _events(self) -> None:
        """Tell of changes until the page goes away."""
        view = self.server.view
        with suppress(*GONE):
            self._head(HTTPStatus.OK, "text/event-stream", None)
            known = view.version
            self.wfile.write(b": here\n\n")
            while (now := view.news(known)) is not None:
                self.wfile.write(b": here\n\n" if now == known else b"event: changed\ndata: \n\n")
                known = now

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        with suppress(*GONE):
            self._head(status, kind, len(body))
            self.wfile.write(body)

    def _head(self, status: HTTPStatus, kind: str, length: int | None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Content-Security-Policy", f"{content_security_policy(live=True)}; frame-ancestors 'none'")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: requests are no news."""
