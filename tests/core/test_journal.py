"""A journal survives a kill at any moment, and has one writer."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from ptxbench.core.errors import StorageError, UsageError
from ptxbench.core.journal import Journal, read_journal

WRITER = """
import sys
from pathlib import Path
from ptxbench.core.journal import Journal
with Journal(Path(sys.argv[1])) as journal:
    number = 0
    while True:
        journal.append({"n": number, "pad": "x" * 5000})
        print(number, flush=True)
        number += 1
"""


def test_entries_come_back_in_order(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for number in range(5):
            journal.append({"n": number})
    assert [entry["n"] for entry in read_journal(path)] == list(range(5))


def test_a_missing_journal_is_empty(tmp_path):
    assert list(read_journal(tmp_path / "none")) == []


def test_a_torn_last_line_is_ignored_and_then_cut_off(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"n":0}\n{"n":1')
    assert [entry["n"] for entry in read_journal(path)] == [0]
    with Journal(path) as journal:
        journal.append({"n": 2})
    assert [entry["n"] for entry in read_journal(path)] == [0, 2]


@pytest.mark.parametrize("middle", [b'{"n":1', b"[1]", b"\xff\xfe"])
def test_damage_before_the_last_line_is_an_error_that_names_the_line(tmp_path, middle):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"n":0}\n' + middle + b'\n{"n":2}\n')
    with pytest.raises(StorageError, match=r"journal.jsonl:2"):
        list(read_journal(path))


def test_a_line_is_on_disk_before_append_returns(tmp_path, monkeypatch):
    synced = []
    real = os.fsync

    def watched(descriptor):
        real(descriptor)
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", watched)
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for number in range(3):
            journal.append({"n": number})
            assert synced[-1] == path.stat().st_size


def test_a_second_writer_is_refused(tmp_path):
    with Journal(tmp_path / "journal.jsonl"), pytest.raises(UsageError, match="another process"):
        Journal(tmp_path / "journal.jsonl")
    Journal(tmp_path / "journal.jsonl").close()


def test_what_was_acknowledged_before_a_kill_is_there_after_it(tmp_path):
    path = tmp_path / "journal.jsonl"
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    seen = [int(process.stdout.readline()) for _ in range(20)]
    process.kill()
    rest = process.stdout.read().split()
    process.wait()
    acknowledged = max([*seen, *map(int, rest)])
    numbers = [entry["n"] for entry in read_journal(path)]
    assert numbers == list(range(len(numbers))) and len(numbers) > acknowledged
    with Journal(path) as journal:
        journal.append({"n": "after"})
    assert json.loads(path.read_bytes().splitlines()[-1]) == {"n": "after"}


def test_a_full_disk_is_a_storage_error(tmp_path):
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from ptxbench.core.errors import StorageError\n"
        "from ptxbench.core.journal import Journal, read_journal\n"
        "import signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "path = Path(sys.argv[1])\n"
        "with Journal(path) as journal:\n"
        "    journal.append({'n': 0})\n"
        "    try:\n"
        "        journal.append({'n': 1, 'pad': 'x' * 5000})\n"
        "    except StorageError as error:\n"
        "        print(error.code, [e['n'] for e in read_journal(path)], path.read_bytes().count(b'\\n'))\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "j")], capture_output=True, text=True)
    assert done.stdout.strip() == "storage [0] 1", done.stderr


def test_a_journal_that_cannot_be_opened_is_a_storage_error(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "folder", tmp_path / "file" / "journal.jsonl"):
        with pytest.raises(StorageError):
            Journal(path)
    with pytest.raises(StorageError):
        list(read_journal(tmp_path / "folder"))


@pytest.mark.parametrize("line", [b"[" * 200_000, b"9" * 5000, b'{"n": "\xff"}'])
def test_a_line_that_no_reader_takes_is_an_error_that_names_it(tmp_path, line):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(line + b"\n")
    with pytest.raises(StorageError, match=r"journal.jsonl:1"):
        list(read_journal(path))


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")
def test_a_disk_that_fills_and_is_freed_leaves_a_journal_that_goes_on(tmp_path):
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"this machine does not let root mount a tmpfs: {mount.stderr.strip()}")
    try:
        path = tmp_path / "journal.jsonl"
        (tmp_path / "ballast").write_bytes(b"x" * 40_000)
        with Journal(path) as journal:
            journal.append({"n": 0})
            with pytest.raises(StorageError, match="no space left"):
                journal.append({"n": 1, "pad": "x" * 100_000})
            (tmp_path / "ballast").unlink()
            journal.append({"n": 2})
        assert [entry["n"] for entry in read_journal(path)] == [0, 2]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
