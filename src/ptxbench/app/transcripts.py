"""Inspect's viewer for the transcripts of runs that Inspect played: a process of its own for each, where Inspect is installed."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

HOST = "127.0.0.1"
MOST_VIEWERS = 4
"""Each takes a second to start and some hundred megabytes."""

STOP_SECONDS = 5.0


class Transcripts:
    """Viewers of some runs' logs; ``addresses`` are theirs by run, none where Inspect is not installed."""

    def __init__(self, logs: Mapping[str, Path | None]) -> None:
        """Start a viewer for each of the first runs that have logs (``logs``: folder of logs by run)."""
        self.addresses: dict[str, str] = {}
        self._processes: list[subprocess.Popen[bytes]] = []
        if find_spec("inspect_ai") is None:
            return
        for run, folder in [(run, folder) for run, folder in logs.items() if folder is not None][:MOST_VIEWERS]:
            port = _free_port()
            self._processes.append(_viewer(folder, port))
            self.addresses[run] = f"http://{HOST}:{port}/"

    def close(self) -> None:
        """Stop the viewers."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _viewer(folder: Path, port: int) -> subprocess.Popen[bytes]:
    run = folder.parents[1]
    view = ["view", "start", "--host", HOST, "--port", str(port), "--log-dir", str(folder.resolve())]
    return subprocess.Popen(
        [sys.executable, "-m", "ptxbench.inspect", str(run), *view],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((HOST, 0))
        port: int = one.getsockname()[1]
        return port
