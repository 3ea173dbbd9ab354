"""Reading a FlashInfer-Trace folder: ``definitions/**/*.json``, ``workloads/**/*.jsonl``, blobs by path."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ptxbench.core.errors import SuiteError, nearest
from ptxbench.schema import (
    Definition,
    Reference,
    SafetensorsInput,
    Sampler,
    SuiteWorkload,
    TaskSpec,
    TensorSpec,
    Trace,
)
from ptxbench.schema.solution import check_relative
from ptxbench.suite.additions import KEY, TaskAdditions, WorkloadAdditions
from ptxbench.suite.family import GPU_ARCHS
from ptxbench.suite.json_text import Problem, UnreadableError, describe, parse_object, read_text, unknown_keys
from ptxbench.suite.plain_names import name_problem
from ptxbench.suite.tolerance import foreign_tolerance
from ptxbench.suite.work import argument_bytes

LIBRARIES: dict[str, Reference] = {
    "flashinfer": Reference(library="FlashInfer", needs="flashinfer"),
    "torch": Reference(library="torch", needs="torch"),
    "triton": Reference(library="torch", needs="torch"),
}
"""What a foreign reference is measured as, by the module that it imports; the first that applies."""


@dataclass(frozen=True)
class Stored:
    """An input that ptxbench draws and that is stored in a file for other readers, and the line that says so."""

    path: Path
    line: int
    definition: Definition
    axes: dict[str, int]
    name: str
    descriptor: SafetensorsInput


@dataclass
class Folder:
    """What a folder holds: its tasks, the file of each, inputs stored for others, and what was odd or unusable."""

    root: Path
    specs: list[TaskSpec] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    stored: list[Stored] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass
class _Record:
    """A definition that has been read, and the workloads found for it so far."""

    path: Path
    definition: Definition
    additions: TaskAdditions | None
    workloads: list[SuiteWorkload] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)


def read_folder(root: Path) -> Folder:
    """Read a FlashInfer-Trace folder; unusable records become ``problems``, the rest is read all the same.

    Raises ``SuiteError`` when the folder does not exist or has no ``definitions`` folder. Nothing is created.
    """
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise SuiteError(f"suite {root} {what}", next_step="give the folder that holds definitions/ and workloads/", path=str(root))
    if not (root / "definitions").is_dir():
        step = "give the folder that holds definitions/ and workloads/ (FlashInfer-Trace layout)"
        raise SuiteError(f"suite {root} has no definitions folder", next_step=step, path=str(root))
    folder = Folder(root)
    records: dict[str, _Record] = {}
    for path in sorted((root / "definitions").rglob("*.json")):
        _collect(folder, _read_definition(folder, records, path))
    for path in sorted((root / "workloads").rglob("*.jsonl")):
        _collect(folder, _read_workloads(folder, records, path))
    for name, record in records.items():
        if record.workloads:
            folder.specs.append(_spec(record, root))
            folder.files[name] = record.path
        else:
            folder.warnings.append(f"{record.path}: {name} has no workloads and is left out")
    return folder


def blob_paths(folder: Folder) -> tuple[str, ...]:
    """Return the files that workloads name, relative to the folder, each once."""
    descriptors = [one.descriptor for one in folder.stored]
    for spec in folder.specs:
        for one in spec.workloads:
            descriptors += [value for value in one.workload.inputs.values() if isinstance(value, SafetensorsInput)]
    return tuple(sorted({descriptor.path for descriptor in descriptors}))


def _collect(folder: Folder, steps: Iterator[None]) -> None:
    """Run a reader step by step; a step that fails ends its reader and leaves a problem."""
    try:
        for _ in steps:
            pass
    except UnreadableError as unreadable:
        folder.problems.append(unreadable.problem)


def _read_definition(folder: Folder, records: dict[str, _Record], path: Path) -> Iterator[None]:
    text = read_text(path)
    data = parse_object(path, text)
    ours = data.pop(KEY, None)
    try:
        definition = Definition.model_validate(data)
        additions = None if ours is None else TaskAdditions.model_validate(ours)
    except ValidationError as error:
        raise UnreadableError(describe(path, text, 1, error)) from error
    except (RecursionError, MemoryError) as error:
        problem = Problem(path, 1, "its reference or a constraint is nested too deeply", "write a simpler one")
        raise UnreadableError(problem) from error
    odd = name_problem("name", definition.name) or name_problem("op_type", definition.op_type)
    if odd:
        raise UnreadableError(Problem(path, 1, odd, "rename it"))
    if definition.name in records:
        message = f"{definition.name} is defined a second time; the first is {records[definition.name].path}"
        raise UnreadableError(Problem(path, 1, message, "remove one of the two files"))
    keys = sorted(unknown_keys(definition))
    if keys:
        folder.warnings.append(f"{path}: unknown keys kept: {', '.join(keys)}")
    if definition.name != path.stem:
        folder.warnings.append(f"{path}: the file defines {definition.name}, which is not its own name")
    records[definition.name] = _Record(path, definition, additions)
    yield


def _read_workloads(folder: Folder, records: dict[str, _Record], path: Path) -> Iterator[None]:
    # Only \n ends a record: JSON strings may hold the other characters at which Python would split lines.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            try:
                _read_workload(folder, records, path, number, line)
            except UnreadableError as unreadable:
                folder.problems.append(unreadable.problem)
        yield


def _read_workload(folder: Folder, records: dict[str, _Record], path: Path, number: int, line: str) -> None:
    def refuse(message: str, next_step: str) -> UnreadableError:
        return UnreadableError(Problem(path, number, message, next_step))

    data = parse_object(path, line, number)
    inner = data.get("workload")
    ours = inner.pop(KEY, None) if isinstance(inner, dict) else None
    try:
        trace = Trace.model_validate(data)
        additions = None if ours is None else WorkloadAdditions.model_validate(ours)
    except ValidationError as error:
        raise UnreadableError(describe(path, line, number, error)) from error
    if not trace.is_workload:
        raise refuse("is a result, not a workload: it has a solution or an evaluation", "move results to traces/")
    record = records.get(trace.definition)
    if record is None:
        close = nearest(trace.definition, list(records))
        step = f"did you mean {', '.join(close)}?" if close else "add its definition, or remove the line"
        raise refuse(f"no definition is called {trace.definition!r}", step)
    try:
        _check_size(record.definition, trace.workload.axes)
        for descriptor in trace.workload.inputs.values():
            if isinstance(descriptor, SafetensorsInput):
                check_relative(descriptor.path)
    except ValueError as error:
        raise refuse(str(error), "correct the workload") from error
    uuid = trace.workload.uuid
    odd = name_problem("UUID", uuid)
    if odd:
        raise refuse(odd, "give the workload another UUID")
    if uuid in record.seen:
        raise refuse(
            f"UUID {uuid} of {trace.definition} was used before, at {record.seen[uuid]}", "give every workload its own UUID"
        )
    record.seen[uuid] = f"{path}:{number}"
    keys = sorted(unknown_keys(trace))
    if keys:
        folder.warnings.append(f"{path}:{number}: unknown keys kept: {', '.join(keys)}")
    record.workloads.append(_workload(trace, data, additions))
    if additions and additions.inputs:
        folder.stored += [
            Stored(path, number, record.definition, trace.workload.axes, name, descriptor)
            for name, descriptor in trace.workload.inputs.items()
            if name in additions.inputs and isinstance(descriptor, SafetensorsInput)
        ]


def _check_size(definition: Definition, axes: dict[str, int]) -> None:
    """Raise ``ValueError`` for axes that do not fit the definition, or that make a tensor larger than any address."""
    for name in (*definition.inputs, *definition.outputs):
        size = argument_bytes(definition, name, axes)
        if size > sys.maxsize:
            raise ValueError(f"{name} would be larger than any memory")


def _workload(trace: Trace, data: dict[str, Any], additions: WorkloadAdditions | None) -> SuiteWorkload:
    if additions is None:
        return SuiteWorkload(workload=trace.workload, source="foreign", flops=None, bytes=None)
    workload = trace.workload
    if additions.inputs:
        inner = data["workload"]
        restored = {name: value.model_dump(mode="json") for name, value in additions.inputs.items()}
        workload = type(workload).model_validate(inner | {"inputs": inner["inputs"] | restored})
    return SuiteWorkload(
        workload=workload,
        source=additions.source,
        flops=additions.flops,
        bytes=additions.bytes,
        work_share=additions.work_share,
    )


def _spec(record: _Record, root: Path) -> TaskSpec:
    definition, workloads = record.definition, tuple(record.workloads)
    if record.additions is not None:
        ours = {name: getattr(record.additions, name) for name in TaskAdditions.model_fields if name != "schema_version"}
        default = ours.pop("default_workload")
        if default not in record.seen:
            default = workloads[0].workload.uuid
        return TaskSpec(
            name=definition.name, definition=definition, workloads=workloads, default_workload=default, root=str(root), **ours
        )
    reference = foreign_reference(definition)
    return TaskSpec(
        name=definition.name,
        family=definition.op_type,
        archs=("cpu",) if reference.needs == "numpy" else GPU_ARCHS,
        definition=definition,
        workloads=workloads,
        default_workload=workloads[0].workload.uuid,
        reference=reference,
        tolerance=foreign_tolerance({name: spec.dtype for name, spec in definition.outputs.items()}),
        samplers={name: _sampler(spec) for name, spec in definition.inputs.items()},
        scale_inputs=False,
        root=str(root),
    )


def foreign_reference(definition: Definition) -> Reference:
    """Return what a foreign reference needs, from its imports: a GPU library, or nothing but NumPy."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(definition.reference)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module.split(".")[0])
    for module, reference in LIBRARIES.items():
        if module in imported:
            return reference
    return Reference(library="NumPy", needs="numpy")


def _sampler(spec: TensorSpec) -> Sampler:
    if spec.dtype.startswith("float") or spec.dtype == "bfloat16":
        return Sampler(kind="normal")
    return Sampler(kind="integers", scale=1024.0)
