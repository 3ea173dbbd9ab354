"""``import_suite``: a checked copy of a foreign suite."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from ptxbench.core.errors import SuiteError, UsageError
from ptxbench.suite.folder import Folder, blob_paths, read_folder
from ptxbench.suite.staging import new_folder


@dataclass(frozen=True)
class Imported:
    """What an import copied: names of tasks, number of files, and what was odd about them."""

    names: tuple[str, ...]
    files: int
    warnings: tuple[str, ...]


def import_suite(source: Path, target: Path) -> Imported:
    """Check a FlashInfer-Trace folder whole and copy its definitions, its workloads and the blobs that they use.

    Files are copied as they are, byte for byte. Solutions and traces stay behind. ``target`` must not exist, or be empty.

    Raises ``SuiteError`` when a record cannot be used or a blob is missing, ``UsageError`` for a format that is not known.
    """
    if (source / "definition.json").is_file():
        step = "only FlashInfer-Trace folders (definitions/, workloads/) can be imported"
        raise UsageError(f"{source} is a single problem's folder, which is not a known format", next_step=step)
    folder = read_folder(source)
    if folder.problems:
        first, *others = folder.problems
        raise first.error(len(others))
    with new_folder(target) as root:
        files = _files(folder)
        for file in files:
            copy = root / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file, copy)
    return Imported(tuple(spec.name for spec in folder.specs), len(files), tuple(folder.warnings))


def _files(folder: Folder) -> list[Path]:
    """Return the files to copy, relative to the folder."""
    records = [*(folder.root / "definitions").rglob("*.json"), *(folder.root / "workloads").rglob("*.jsonl")]
    blobs = blob_paths(folder)
    for blob in blobs:
        if not (folder.root / blob).is_file():
            raise SuiteError(f"{folder.root / blob} does not exist", next_step="download the suite's blobs first")
    return sorted(path.relative_to(folder.root) for path in records) + [Path(blob) for blob in blobs]
