"""Inspect's viewer for the transcripts of runs that Inspect played: a process of its own for each, where Inspect is installed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

HOST = "127.0.0.1"
MOST_VIEWERS = 4
"""Each takes seconds to start and some hundred megabytes."""

STOP_SECONDS = 5.0


class Transcripts:
    """Viewers of some runs' logs; ``addresses`` are theirs by run, none where Inspect is not installed.

    A viewer only reads the logs: what it keeps for itself goes to a temporary folder, which ``close`` removes.
    """

    def __init__(self, logs: Mapping[str, Path | None]) -> None:
        """Start a viewer for each of the first runs that have logs (``logs``: folder of logs by run)."""
        self.addresses: dict[str, str] = {}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._scratch = tempfile.TemporaryDirectory(prefix="ptxbench-view-", ignore_cleanup_errors=True)
        wanted = [(run, folder) for run, folder in logs.items() if folder is not None] if find_spec("inspect_ai") else []
        for run, folder in wanted[:MOST_VIEWERS]:
            port = _free_port()
            self._processes.append(_viewer(folder.resolve(), port, Path(self._scratch.name)))
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
        self._scratch.cleanup()


def _viewer(logs: Path, port: int, scratch: Path) -> subprocess.Popen[bytes]:
    places = {
        "INSPECT_TRACE_FILE": str(scratch / "trace.log"),
        "INSPECT_CACHE_DIR": str(scratch / "cache"),
        "INSPECT_EVAL_CTL_SERVER": "false",
        "XDG_DATA_HOME": str(scratch / "data"),
    }
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--host", HOST, "--port", str(port), "--log-dir", str(logs)]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=scratch, env=os.environ | places, stdin=nowhere, stdout=nowhere, stderr=nowhere)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((HOST, 0))
        port: int = one.getsockname()[1]
        return port
