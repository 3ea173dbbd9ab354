"""Turns out of run directories, with what their manifests and evaluations say about each cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ptxbench.agent.engine.ledger import STORE_NAME, EndStep, TurnStep, read_steps
from ptxbench.agent.engine.manifest import MANIFEST_NAME, Manifest, ManifestCell, read_manifest
from ptxbench.core.errors import StorageError, UsageError
from ptxbench.core.store import ContentStore
from ptxbench.metrics import NotReached, Plan
from ptxbench.report.settings import settings_of
from ptxbench.schema import CellKey, Evaluation, Turn


@dataclass(frozen=True)
class RunTable:
    """Turns of one or more runs, and a plan for each of their cells (a cell may have no turn yet)."""

    turns: tuple[Turn, ...]
    planned: dict[CellKey, Plan]


def load_runs(folders: Iterable[Path]) -> RunTable:
    """Return the turns of run directories; a run that still goes on may be read.

    Raises ``UsageError`` for a folder that is no run directory and for a run that is named twice, ``StorageError`` for a
    damaged journal.
    """
    turns: list[Turn] = []
    planned: dict[CellKey, Plan] = {}
    for folder in folders:
        manifest = read_manifest(folder)
        if any(cell.key in planned for cell in manifest.cells):
            raise UsageError(f"run {manifest.run} is named twice", next_step="name each run directory once")
        rows, gaps = _read(folder)
        turns += rows
        planned |= _plans(folder, manifest, rows, gaps)
    return RunTable(tuple(turns), planned)


def _read(folder: Path) -> tuple[list[Turn], list[EndStep]]:
    steps = read_steps(folder)
    return [s.row for s in steps if isinstance(s, TurnStep)], [s for s in steps if isinstance(s, EndStep)]


def _plans(folder: Path, manifest: Manifest, turns: list[Turn], gaps: list[EndStep]) -> dict[CellKey, Plan]:
    store = ContentStore(folder / STORE_NAME, keep_damaged=True)
    plans: dict[CellKey, Plan] = {}
    for cell in manifest.cells:
        key = cell.key
        own = [turn for turn in turns if turn.key == key]
        judged = _an_evaluation(store, own)
        ends = [gap for gap in gaps if (gap.place.task, gap.place.workload, gap.place.arch) == (key.task, key.workload, key.arch)]
        counts = _counts(folder, manifest, cell)
        plans[key] = Plan(
            **counts,
            left_out=sum(counts["turns"] - end.turn for end in ends if end.reason == "target_speedup"),
            not_reached=tuple(
                NotReached(trajectory=end.place.trajectory, variant=end.place.variant, first=end.turn)
                for end in ends
                if end.reason != "target_speedup"
            ),
            baseline=manifest.imported.baseline if manifest.imported else _baseline(judged),
            device_name=judged.device.name if judged and judged.device else None,
            proof_method=None if manifest.imported else _proof_method(store, own),
            settings=settings_of(manifest, cell),
        )
    return plans


def _counts(folder: Path, manifest: Manifest, cell: ManifestCell) -> dict[str, Any]:
    """Return a cell's planned variants, trajectories and turns; before packs, a run's variants were those of all its cells."""
    try:
        counts = {name: manifest.config[name] for name in ("trajectories", "turns")}
        counts["variants"] = cell.variants or manifest.config["variants"]
        plan = Plan.model_validate(counts)
    except (KeyError, ValidationError):
        raise UsageError(f"{folder / MANIFEST_NAME} does not say how many turns were planned") from None
    return {name: getattr(plan, name) for name in counts}


def _an_evaluation(store: ContentStore, turns: list[Turn]) -> Evaluation | None:
    """Return the evaluation that says most about where a cell was measured: one with a reference latency if there is one."""
    evaluated = [turn.hashes.evaluation for turn in turns if turn.hashes.evaluation is not None]
    timed = [turn.hashes.evaluation for turn in turns if turn.hashes.evaluation is not None and turn.reference_us is not None]
    return next((_evaluation(store, digest) for digest in timed or evaluated), None)


def _proof_method(store: ContentStore, turns: list[Turn]) -> str | None:
    """Return how executed instructions were counted, by the first evaluation that tells; None where none does.

    Kernels that hold no target instruction say so without being run, all of a cell alike: one of them is asked at most.
    """
    proven = [(turn.proof.status, turn.hashes.evaluation) for turn in turns if turn.proof and turn.hashes.evaluation]
    counted = [digest for status, digest in proven if status in ("qualified", "not_executed")]
    absent = [digest for status, digest in proven if status == "absent"]
    for digest in counted + absent[:1]:
        proof = _evaluation(store, digest).proof
        if proof is not None and proof.method not in (None, "static"):
            return proof.method
    return None


def _evaluation(store: ContentStore, digest: str) -> Evaluation:
    try:
        return Evaluation.model_validate_json(store.get(digest))
    except ValidationError:
        raise StorageError(
            f"{digest} in the run's store is no evaluation of this version", next_step="use the version of ptxbench that wrote it"
        ) from None
    except KeyError:
        raise StorageError(
            f"{store.root} has lost {digest}", next_step="restore the run's directory from a copy, or leave it out"
        ) from None


def _baseline(evaluation: Evaluation | None) -> str | None:
    if evaluation is None or evaluation.latency is None:
        return None
    reference = evaluation.latency.reference
    return reference.library if reference.version is None else f"{reference.library} {reference.version}"
