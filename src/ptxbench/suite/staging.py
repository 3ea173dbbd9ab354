"""A folder that appears whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ptxbench.core.atomic import storage_error, sync_folder
from ptxbench.core.errors import UsageError


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``target`` that becomes it at the end, and is removed when anything fails.

    Raises ``UsageError`` when ``target`` exists and is not an empty folder, ``StorageError`` when it cannot be written.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists and is not an empty folder", next_step="name a folder that does not exist yet")
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
        yield temporary
        temporary.chmod(0o755)
        temporary.rename(target)  # an empty folder of that name is replaced
        temporary = None
        sync_folder(target.parent)
    except OSError as error:
        raise storage_error(error, target) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
