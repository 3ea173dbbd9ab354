"""The content store keeps its promises under concurrent writers, killed writers, damage and a full disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ptxbench.core.canonical import sha256
from ptxbench.core.errors import StorageError
from ptxbench.core.store import ContentStore

WRITER = """
import sys
from pathlib import Path
from ptxbench.core.store import ContentStore
store = ContentStore(Path(sys.argv[1]))
print("ready", flush=True)
number = 0
while True:
    store.put(b"%d" % number * 200_000)
    number += 1
"""


def blobs(root: Path) -> list[Path]:
    return [path for path in root.glob("*/*") if path.is_file()]


def test_what_is_put_comes_back_under_its_hash(tmp_path):
    store = ContentStore(tmp_path)
    digest = store.put(b"kernel")
    assert digest == sha256(b"kernel") and digest in store and store.get(digest) == b"kernel"


def test_a_missing_blob_is_a_key_error_and_a_malformed_digest_a_value_error(tmp_path):
    store = ContentStore(tmp_path)
    with pytest.raises(KeyError):
        store.get(sha256(b"nothing"))
    for digest in ("sha256:../../etc/passwd", "md5:" + "0" * 64, "sha256:" + "G" * 64, ""):
        with pytest.raises(ValueError, match="digest"):
            store.path(digest)


def test_concurrent_writers_of_the_same_bytes_leave_one_whole_blob(tmp_path):
    store = ContentStore(tmp_path, durable=False)
    data = os.urandom(300_000)
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(store.put, [data] * 64))
    assert len(digests) == 1 and store.get(digests.pop()) == data
    assert len(blobs(tmp_path)) == 1


def test_a_writer_killed_at_any_moment_leaves_only_whole_blobs(tmp_path):
    for _ in range(5):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        before = len(blobs(tmp_path))
        while len(blobs(tmp_path)) < before + 3:
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    for path in blobs(tmp_path):
        if not path.name.startswith(".tmp-"):
            assert sha256(path.read_bytes()) == f"sha256:{path.parent.name}{path.name}"
    ContentStore(tmp_path).sweep(older_than_seconds=-1)
    assert not list(tmp_path.glob("*/.tmp-*"))


def test_sweep_spares_the_files_of_living_writers(tmp_path):
    store = ContentStore(tmp_path)
    store.put(b"x")
    young, old = tmp_path / "2d" / ".tmp-young", tmp_path / "2d" / ".tmp-old"
    young.parent.mkdir(exist_ok=True)
    young.write_bytes(b"")
    old.write_bytes(b"")
    os.utime(old, (time.time() - 10, time.time() - 10))
    assert store.sweep(older_than_seconds=5) == 1
    assert young.exists() and not old.exists()


def test_a_damaged_blob_is_reported_removed_and_can_be_written_again(tmp_path):
    store = ContentStore(tmp_path)
    digest = store.put(b"good bytes")
    store.path(digest).write_bytes(b"bad bytes!")
    with pytest.raises(StorageError, match="damaged"):
        store.get(digest)
    assert store.put(b"good bytes") == digest and store.get(digest) == b"good bytes"


def test_a_blob_is_on_disk_before_it_has_its_name_and_others_may_read_it(tmp_path, monkeypatch):
    synced = []
    real = os.fsync

    def watched(descriptor):
        real(descriptor)
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

    monkeypatch.setattr(os, "fsync", watched)
    before = os.umask(0o077)
    try:
        store = ContentStore(tmp_path)
        path = store.path(store.put(b"x"))
    finally:
        os.umask(before)
    assert synced[0].startswith(".tmp-") and synced[1] == path.parent.name
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_store_of_what_cannot_be_made_again_keeps_even_damaged_blobs(tmp_path):
    store = ContentStore(tmp_path, keep_damaged=True)
    digest = store.put(b"good bytes")
    store.path(digest).write_bytes(b"bad bytes!")
    with pytest.raises(StorageError, match="damaged") as caught:
        store.get(digest)
    assert str(store.path(digest)) in caught.value.next_step
    assert store.path(digest).read_bytes() == b"bad bytes!"


def test_a_blob_that_cannot_be_read_is_a_storage_error(tmp_path):
    store = ContentStore(tmp_path)
    digest = sha256(b"x")
    store.path(digest).mkdir(parents=True)
    with pytest.raises(StorageError, match="cannot read"):
        store.get(digest)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")
def test_a_full_disk_is_a_storage_error_and_leaves_nothing_half_written(tmp_path):
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"this machine does not let root mount a tmpfs: {mount.stderr.strip()}")
    try:
        with pytest.raises(StorageError, match="no space left") as caught:
            ContentStore(tmp_path).put(os.urandom(200_000))
        assert "PTXBENCH_CACHE_DIR" in (caught.value.next_step or "")
        assert blobs(tmp_path) == []
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
