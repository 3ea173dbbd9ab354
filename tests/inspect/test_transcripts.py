"""Inspect's viewer beside ``ptxbench view``: it answers at the address that the page links to, and is gone afterwards."""

import urllib.error
import urllib.request
from itertools import count
from threading import Event

import pytest

from ptxbench.app.transcripts import Transcripts

pytest.importorskip("inspect_ai", reason="needs inspect-ai (make test-inspect)")
pytestmark = pytest.mark.inspect


def answer(address):
    """Return the first answer at an address, asked again until something listens there."""
    for attempt in count():
        try:
            with urllib.request.urlopen(address, timeout=10) as reply:
                return reply.status, reply.read()
        except urllib.error.URLError:
            if attempt > 600:
                raise
            Event().wait(0.1)


def test_a_viewer_is_there_for_a_run_with_logs_and_writes_nothing_beside_them(tmp_path):
    logs = tmp_path / "run" / "inspect" / "logs"
    logs.mkdir(parents=True)
    transcripts = Transcripts({"with": logs, "without": None})
    try:
        assert transcripts.addresses.keys() == {"with"}
        status, body = answer(transcripts.addresses["with"])
        assert status == 200 and b"Inspect View" in body
    finally:
        transcripts.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(transcripts.addresses["with"], timeout=10)
    assert [path.name for path in (tmp_path / "run").rglob("*")] == ["inspect", "logs"]
