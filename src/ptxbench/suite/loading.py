"""``load``: the bundled tasks together with any number of FlashInfer-Trace folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ptxbench.core.errors import SuiteError
from ptxbench.schema import TaskSpec
from ptxbench.suite.blobs import blob_problem
from ptxbench.suite.folder import Folder, read_folder
from ptxbench.suite.json_text import Problem
from ptxbench.suite.suite import BUNDLED, Suite


def load(paths: Sequence[Path] = (), *, include_bundled: bool = True) -> Suite:
    """Load the bundled tasks and those of FlashInfer-Trace folders.

    A task that is the same in two places counts once. Two folders that define a name differently are an error. A folder that
    defines a bundled name differently (the name of a published GEMM with another type, say) is loaded as ``FOLDER:NAME``, with a
    warning, and the bare name becomes ambiguous: asking for it is an error that names both.

    Args:
        paths: folders with ``definitions/`` and ``workloads/``.
        include_bundled: whether the bundled tasks are part of the suite.

    Raises ``SuiteError`` with file and line for a missing folder, a record that cannot be used, or names in conflict.
    """
    ours = {spec.name: spec for spec in _bundled()} if include_bundled else {}
    specs: list[TaskSpec] = list(ours.values())
    files: dict[str, tuple[Path, TaskSpec]] = {}
    ambiguous: dict[str, dict[str, str]] = {}
    warnings: list[str] = []
    for path in paths:
        folder = _read(Path(path))
        warnings += folder.warnings
        for spec in folder.specs:
            where = folder.files[spec.name]
            if spec.name in files:
                _refuse_conflict(spec, where, *files[spec.name])
                continue
            files[spec.name] = where, spec
            if spec.name in ours:
                if spec.hash == ours[spec.name].hash:
                    continue
                qualified = f"{_label(folder.root)}:{spec.name}"
                ambiguous[spec.name] = {f"{BUNDLED}:{spec.name}": "a bundled one", qualified: str(where)}
                warnings.append(f"{where}: {spec.name} is also the name of a bundled task that differs; loaded as {qualified}")
                spec = spec.model_copy(update={"name": qualified})
            specs.append(spec)
    return Suite(specs, ambiguous=ambiguous, warnings=warnings)


def load_folder(path: Path) -> Suite:
    """Load one FlashInfer-Trace folder alone, in order to validate it.

    Records that cannot be used become the suite's ``problems``, and so do files stored for other readers that are missing or do
    not fit (``load`` does not look at those: ptxbench draws such inputs itself).

    Raises ``SuiteError`` when the folder does not exist or has no ``definitions`` folder.
    """
    folder = read_folder(Path(path))
    problems = list(folder.problems)
    for one in folder.stored:
        message = blob_problem(folder.root, one.definition, one.axes, one.name, one.descriptor)
        if message:
            problems.append(Problem(one.path, one.line, message, "export the suite again, with its blobs"))
    return Suite(folder.specs, warnings=folder.warnings, problems=problems)


def _read(path: Path) -> Folder:
    folder = read_folder(path)
    if folder.problems:
        first, *others = folder.problems
        raise first.error(len(others))
    return folder


def _refuse_conflict(spec: TaskSpec, where: Path, first: Path, other: TaskSpec) -> None:
    """Raise ``SuiteError`` unless both tasks are the same."""
    if spec.hash != other.hash:
        raise SuiteError(
            f"{spec.name} is defined differently by {first} and {where}",
            next_step="give only one of the two folders, or rename one of the definitions",
            name=spec.name,
            files=[str(first), str(where)],
        )


def _label(root: Path) -> str:
    return root.resolve().name


def _bundled() -> tuple[TaskSpec, ...]:
    from ptxbench.suite.bundled import bundled

    return bundled()
