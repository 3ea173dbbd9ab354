"""The build cache: what was compiled once is never compiled again, whoever asks and whatever was killed meanwhile.

Artifacts and records are blobs named by their content. A key's index entry, one line with the digest of its record, is written
last and atomically: it is there with everything it leads to, or not at all. So writers need no lock to be safe; the lock only
keeps two of them from doing the same work.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from ptxbench.core.atomic import storage_error, write_atomic
from ptxbench.core.canonical import canonical_json
from ptxbench.core.errors import StorageError
from ptxbench.core.store import ContentStore
from ptxbench.schema import Build, Record, Violation
from ptxbench.toolchain.scratch import sweep


class CachedBuild(Record):
    """What the cache remembers of a build."""

    build: Build
    violations: tuple[Violation, ...]


class BuildCache:
    """Builds by key, below a folder that may be deleted at any time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.blobs = ContentStore(root / "blobs", durable=False)
        self.scratch = root / "scratch"

    def sweep(self) -> None:
        """Remove what killed builders left behind: their scratch folders at once, their half-written files after a day."""
        sweep(self.scratch)
        self.blobs.sweep()
        ContentStore(self.root / "index").sweep()

    def get(self, key: str) -> CachedBuild | None:
        """Return what is remembered under the key, every artifact verified; None when it is absent or damaged."""
        data = self.get_blob(key)
        if data is None:
            return None
        try:
            record = CachedBuild.model_validate_json(data)
            for artifact in record.build.artifacts.values():
                self.blobs.get(artifact)
        except (KeyError, ValidationError, StorageError):
            return None  # An artifact was deleted or damaged (the store has removed it), or other code wrote this: build anew.
        return record

    def put(self, key: str, record: CachedBuild) -> None:
        """Remember a build whose artifacts are stored. Raises ``StorageError`` when the disk is full."""
        self.put_blob(key, canonical_json(record))

    def get_blob(self, key: str) -> bytes | None:
        """Return the bytes remembered under the key, None when they are absent or damaged."""
        try:
            return self.blobs.get(self._index(key).read_text(encoding="ascii").strip())
        except FileNotFoundError:
            return None
        except (KeyError, ValueError, StorageError):
            return None
        except OSError as error:
            raise storage_error(error, self.root) from error

    def put_blob(self, key: str, data: bytes) -> str:
        """Remember bytes under the key and return their digest. Raises ``StorageError`` when the disk is full."""
        digest = self.blobs.put(data)
        write_atomic(self._index(key), digest.encode() + b"\n", durable=False)
        return digest

    @contextlib.contextmanager
    def building(self, key: str) -> Iterator[None]:
        """Hold the key's lock: others, in this process or another, wait until the build is done or its builder is dead."""
        # A few lock files for all keys, so that they need no removal; keys that share one merely wait for each other.
        path = self.root / "locks" / key.removeprefix("sha256:")[:2]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise storage_error(error, path) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):
                    raise storage_error(error, path) from error
                # This file system knows no locks: the same work may be done twice, to the same result.
            yield
        finally:
            os.close(descriptor)

    def _index(self, key: str) -> Path:
        digits = key.removeprefix("sha256:")
        return self.root / "index" / digits[:2] / digits[2:]
