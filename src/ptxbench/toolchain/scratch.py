"""Folders that live as long as the build that made them, also when the builder is killed.

A builder holds a lock on its folder; the kernel lets go of it when the process dies, whatever the cause. So a folder whose lock
can be taken is abandoned, and the next builder removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ptxbench.core.atomic import storage_error


@contextlib.contextmanager
def scratch_folder(root: Path) -> Iterator[Path]:
    """Yield a new empty folder below ``root`` and remove it in every case. Raises ``StorageError`` when it cannot be made."""
    folder, descriptor = _make(root)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _make(root: Path) -> tuple[Path, int]:
    """Make a folder and return it with the descriptor that holds its lock."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _locked(root, fcntl.LOCK_SH):
            # Between creation and lock the folder looks abandoned; whoever sweeps holds the parent's lock exclusively.
            folder = Path(tempfile.mkdtemp(dir=root, prefix="build-"))
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        raise storage_error(error, root) from error
    return folder, descriptor


def sweep(root: Path) -> int:
    """Remove the folders below ``root`` whose builders are gone; return how many."""
    if not root.is_dir():
        return 0
    removed = 0
    try:
        with _locked(root, fcntl.LOCK_EX | fcntl.LOCK_NB):
            for folder in root.glob("build-*"):
                with contextlib.suppress(OSError), _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    shutil.rmtree(folder, ignore_errors=True)
                    removed += 1
    except BlockingIOError:
        return removed  # Another process is making a folder, or sweeps already.
    except OSError as error:
        raise storage_error(error, root) from error
    return removed


@contextlib.contextmanager
def _locked(folder: Path, operation: int) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, operation)
        yield
    finally:
        os.close(descriptor)
