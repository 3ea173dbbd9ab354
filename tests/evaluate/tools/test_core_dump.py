"""A core dump is asked for through the driver's pipe, waited for until it is whole, and taken as a plain file of bounded size."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ptxbench.evaluate.tools.core_dump import CoreDump, core_dump

DRIVER = Path(__file__).with_name("stand_in_driver.py")
SECTION = bytes(64)
HEADER = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 4, 190, 1, 0, 0, 64, 0, 64, 0, 0, 64, 2, 1)
DUMP = HEADER + 2 * SECTION
UNTIL_TIMEOUT = 3600.0
"""Longer than any test may take: whoever waits for that long has not seen what it waits for."""


@contextmanager
def driver(dump: CoreDump, *pieces: bytes, how: str = "closes") -> Iterator[subprocess.Popen[str]]:
    """Run a process that writes one piece of a dump each time that it is asked."""
    command = [sys.executable, str(DRIVER), how, *(piece.hex() for piece in pieces)]
    with subprocess.Popen(command, env=dict(dump.tool.env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.stdin.close()


def test_a_dump_is_taken() -> None:
    with core_dump() as dump, driver(dump, DUMP) as process:
        assert dump.take(process.pid, 20.0) == DUMP


def test_half_a_dump_is_none_until_the_rest_is_there() -> None:
    with core_dump() as dump, driver(dump, DUMP[:100], DUMP[100:]) as process:
        assert dump.take(process.pid, 0.3) is None
        assert dump.take(process.pid, 20.0) == DUMP


@pytest.mark.parametrize("nonsense", [b"x", bytes(4096), b"\x7fELF", HEADER[:40] + bytes(24)])
def test_what_is_no_dump_is_none(nonsense: bytes) -> None:
    with core_dump() as dump, driver(dump, nonsense) as process:
        assert dump.take(process.pid, 0.2) is None


def test_without_a_driver_that_listens_there_is_none() -> None:
    with core_dump() as dump:
        assert dump.take(os.getpid(), 20.0) is None, "no pipe: known at once"
        os.mkfifo(dump.tool.env["CUDA_COREDUMP_PIPE"])
        assert dump.take(os.getpid(), 20.0) is None, "nobody reads it: known at once"


def test_a_file_in_the_place_of_the_pipe_is_not_written_to() -> None:
    """It could be another name of somebody's file."""
    with core_dump() as dump:
        pipe = Path(dump.tool.env["CUDA_COREDUMP_PIPE"])
        pipe.write_text("precious")
        assert dump.take(os.getpid(), UNTIL_TIMEOUT) is None
        assert pipe.read_text() == "precious"


def test_another_file_in_the_place_of_the_dump_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(DUMP)
    with core_dump() as dump, driver(dump) as process:
        os.symlink(tmp_path / "secret", dump.tool.env["CUDA_COREDUMP_FILE"])
        assert dump.take(process.pid, 0.2) is None


@pytest.mark.parametrize("how", ["closes", "keeps", "moves"])
def test_the_wait_ends_with_the_dump_and_not_with_its_time(how: str) -> None:
    with core_dump() as dump, driver(dump, DUMP, how=how) as process:
        assert dump.take(process.pid, UNTIL_TIMEOUT) == DUMP


def test_the_wait_ends_with_the_process() -> None:
    with core_dump() as dump, driver(dump, DUMP[:100], how="ends") as process:
        assert dump.take(process.pid, UNTIL_TIMEOUT) is None


def test_waiting_leaves_no_descriptors() -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    for seconds in (0.1, 20.0):
        with core_dump() as dump, driver(dump, DUMP if seconds > 1 else b"x") as process:
            dump.take(process.pid, seconds)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_the_folder_goes_with_the_dump_and_only_its_own_user_may_look_into_it() -> None:
    with core_dump() as dump:
        folder = Path(dump.tool.env["CUDA_COREDUMP_FILE"]).parent
        assert folder.is_dir() and folder.parent.stat().st_mode & 0o066 == 0
    assert not folder.parent.exists()
