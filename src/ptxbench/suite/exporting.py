"""``export``: a suite as a FlashInfer-Trace folder, for other tools, and loadable again without loss."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ptxbench.core.atomic import write_atomic
from ptxbench.core.errors import StorageError, SuiteError
from ptxbench.schema import SafetensorsInput, SuiteWorkload, TaskSpec
from ptxbench.suite.additions import KEY, TaskAdditions, WorkloadAdditions
from ptxbench.suite.staging import new_folder
from ptxbench.suite.suite import Suite
from ptxbench.suite.work import argument_bytes

BLOB_SEED = 0
"""Seed of the inputs that are written as blobs."""


def export(suite: Suite, folder: Path, names: Sequence[str] | None = None, *, blobs: bool = False) -> list[Path]:
    """Write tasks as a FlashInfer-Trace folder and return the files written.

    ``definitions/<op_type>/<name>.json`` and ``workloads/<op_type>/<name>.jsonl`` hold what every reader of the format knows. What
    ptxbench adds (samplers, tolerances, sources) is in sub-objects named ``ptxbench``, which other readers drop; loading the folder
    again gives tasks with the same hashes.

    Args:
        suite: where the tasks come from.
        folder: a folder that does not exist yet, or is empty; it appears whole or not at all.
        names: the tasks to write, None for all.
        blobs: whether to write inputs that are derived from others (O and L of attention backward), with those that they are
            derived from, to ``blob/workloads/<op_type>/<name>/<uuid>.safetensors``: other readers would draw them at random. At
            the headline size that is 0.8 GB and minutes of computing for each workload.

    Raises ``UnknownTask``, ``UsageError`` for a folder in use, ``SuiteError`` for two tasks that would share a file, and
    ``StorageError``.
    """
    specs = [suite.get(name) for name in (suite.names if names is None else names)]
    _refuse_shared_files(specs)
    if blobs:
        _refuse_full_disk(specs, folder)
    with new_folder(folder) as root:
        written = [path for spec in specs for path in _write(spec, root, blobs=blobs)]
        relative = [path.relative_to(root) for path in written]
    return [folder / path for path in relative]


def derived_inputs(spec: TaskSpec) -> frozenset[str]:
    """Return the inputs that other readers cannot draw: derived ones, and those that they are derived from."""
    from ptxbench.suite.inputs import DERIVED_FROM

    derived = {name for name, sampler in spec.samplers.items() if sampler.kind == "derived"}
    return frozenset(derived | set(DERIVED_FROM)) if derived else frozenset()


def _write(spec: TaskSpec, root: Path, *, blobs: bool) -> Iterator[Path]:
    definition = spec.definition
    foreign = all(one.source == "foreign" for one in spec.workloads)
    data: dict[str, Any] = definition.model_dump(mode="json")
    if not foreign:
        data[KEY] = TaskAdditions.of(spec).model_dump(mode="json")
    path = root / "definitions" / definition.op_type / f"{definition.name}.json"
    write_atomic(path, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode(), durable=False)
    yield path
    lines = []
    for workload in spec.workloads:
        stored = derived_inputs(spec) if blobs else frozenset()
        if stored:
            yield _write_blob(spec, workload, root, stored)
        yield from _copy_blobs(spec, workload, root)
        lines.append(json.dumps(_workload_line(spec, workload, stored, foreign=foreign), ensure_ascii=False))
    path = root / "workloads" / definition.op_type / f"{definition.name}.jsonl"
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode(), durable=False)
    yield path


def _workload_line(spec: TaskSpec, workload: SuiteWorkload, stored: frozenset[str], *, foreign: bool) -> dict[str, Any]:
    data: dict[str, Any] = workload.workload.model_dump(mode="json")
    for name in data["inputs"]:
        if name in stored:
            path = str(_blob_path(spec, workload))
            data["inputs"][name] = {"type": "safetensors", "path": path, "tensor_key": name}
    if not foreign:
        data[KEY] = WorkloadAdditions.of(workload, stored).model_dump(mode="json", exclude_none=True)
        data[KEY] |= {"flops": workload.flops, "bytes": workload.bytes}
    return {"definition": spec.definition.name, "solution": None, "workload": data, "evaluation": None}


def _blob_path(spec: TaskSpec, workload: SuiteWorkload) -> Path:
    return Path("blob") / "workloads" / spec.definition.op_type / spec.definition.name / f"{workload.workload.uuid}.safetensors"


def _write_blob(spec: TaskSpec, workload: SuiteWorkload, root: Path, stored: frozenset[str]) -> Path:
    import numpy as np

    from ptxbench.suite.inputs import draw
    from ptxbench.suite.safetensors import write_tensors

    task = Suite([spec]).task(f"{spec.name}@{workload.workload.uuid}")
    drawn = draw(task, BLOB_SEED)
    path = root / _blob_path(spec, workload)
    write_tensors(path, {name: value for name, value in drawn.items() if name in stored and isinstance(value, np.ndarray)})
    return path


def _copy_blobs(spec: TaskSpec, workload: SuiteWorkload, root: Path) -> Iterator[Path]:
    """Copy the files that a foreign workload's inputs are stored in, each to the same place below the new root."""
    for descriptor in workload.workload.inputs.values():
        if isinstance(descriptor, SafetensorsInput) and spec.root is not None:
            source, target = Path(spec.root) / descriptor.path, root / descriptor.path
            if target.exists():
                continue
            if not source.is_file():
                step = "download the suite's blobs, or export other tasks"
                raise SuiteError(f"{source}, an input of {spec.name}, does not exist", next_step=step)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            yield target


def _refuse_shared_files(specs: Sequence[TaskSpec]) -> None:
    owners: dict[str, TaskSpec] = {}
    roots: dict[str, str | None] = {}
    for spec in specs:
        name = spec.definition.name
        if name in owners:
            step = "export one of them at a time"
            raise SuiteError(f"{owners[name].name} and {spec.name} are both defined as {name}", next_step=step)
        owners[name] = spec
        for one in spec.workloads:
            for descriptor in one.workload.inputs.values():
                if isinstance(descriptor, SafetensorsInput) and roots.setdefault(descriptor.path, spec.root) != spec.root:
                    step = "export the tasks of one folder at a time"
                    raise SuiteError(f"two folders have a file {descriptor.path}", next_step=step)


def _refuse_full_disk(specs: Sequence[TaskSpec], folder: Path) -> None:
    needed = sum(
        argument_bytes(spec.definition, name, one.workload.axes)
        for spec in specs
        for one in spec.workloads
        for name in derived_inputs(spec)
    )
    place = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    free = shutil.disk_usage(place).free
    if needed > free:
        raise StorageError(
            f"the blobs need {needed / 1e9:.1f} GB and {place} has {free / 1e9:.1f} GB left",
            next_step="export fewer tasks (name them), or to another disk",
        )
