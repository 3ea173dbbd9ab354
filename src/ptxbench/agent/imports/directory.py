"""Published turns as run directories: one for each cell of the table, as its run is called there."""

from __future__ import annotations

import platform
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ptxbench import __version__
from ptxbench.agent.engine.ledger import JOURNAL_NAME, EndStep, TurnStep
from ptxbench.agent.engine.manifest import Code, Environment, Imported, Manifest, ManifestCell
from ptxbench.agent.engine.places import Place
from ptxbench.agent.imports.published import PublishedTable, PublishedTurn
from ptxbench.core.atomic import storage_error, write_atomic
from ptxbench.core.canonical import canonical_json, content_hash, sha256
from ptxbench.core.errors import UsageError
from ptxbench.schema import Blame, CellKey, CorrectVerdict, Outcome, Profile, TokenCount, Turn, TurnHashes, TurnProof

TARGETS = {"hopper": ("sm_90a", "h100"), "blackwell": ("sm_100a", "b200")}
"""Architecture and device by the source's name of the architecture (paper, section "Evaluation": H100 and B200)."""

BASELINES = {"gemm_": "cuBLAS 13.1.0", "mha_": "cuDNN 9.20.0", "gqa_": "FlashInfer 0.6.14"}
"""Library and version that the paper says it timed as reference, by the beginning of a definition's name."""

PUBLISHED_TURNS = 8
"""Turns of a published trajectory (protocol section 7)."""

NOT_KNOWN = "unknown"
"""Stands in a manifest where a run that was made here has a hash."""


@dataclass(frozen=True)
class ImportedCell:
    """What became of one cell: its folder, and how complete it is."""

    key: CellKey
    folder: Path
    turns: int
    trajectories: int
    shortened: int
    """Trajectories that end before their last turn, which counts those that are missing as not reached."""
    lost: int
    """Turns that are missing before a trajectory's last one: the cell is incomplete."""


def write_directories(table: PublishedTable, out: Path, *, turns: int = PUBLISHED_TURNS) -> list[ImportedCell]:
    """Write the table's cells as run directories in ``out``, all or none, in the order of the table.

    ``turns``: how many a trajectory was planned to have; a run with longer ones was planned for its longest. Raises
    ``UsageError`` when ``out`` holds something, ``StorageError`` when it cannot be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there and not an empty folder", next_step="choose another --out")
    cells: dict[CellKey, list[PublishedTurn]] = {}
    for turn in table.turns:
        cells.setdefault(_key(turn), []).append(turn)
    several = {key.run for key in cells if sum(other.run == key.run for other in cells) > 1}
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        # What appears in ``out`` was whole before: renames within one file system, one for a new folder.
        home = out if out.exists() else out.parent
        with tempfile.TemporaryDirectory(dir=home, prefix=".tmp-import-") as temporary:
            staging = Path(temporary) / "runs"
            staging.mkdir()
            written = [
                _write(key, rows, table, staging, out / folder_name(key, alone=key.run not in several), turns)
                for key, rows in cells.items()
            ]
            if out.exists():
                for folder in sorted(staging.iterdir()):
                    folder.rename(out / folder.name)
            else:
                staging.rename(out)
    except OSError as error:
        raise storage_error(error, out) from error
    return written


def folder_name(key: CellKey, *, alone: bool) -> str:
    """Return a name for a cell's folder: its run's, as far as a folder can be called that; ``alone``: the run has no other."""
    name = key.run
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80]
        name = f"{plain or 'run'}-{sha256(key.run.encode()).partition(':')[2][:8]}"
    return name if alone else f"{name}.{content_hash(key).partition(':')[2][:8]}"


def _key(turn: PublishedTurn) -> CellKey:
    arch, device = TARGETS[turn.arch]
    return CellKey(
        model=turn.model,
        arch=arch,
        device=device,
        task=turn.definition,
        workload=turn.workload_uuid,
        language="cuda",
        protocol=Profile.PAPER.value,
        run=turn.run,
    )


def _write(
    key: CellKey, rows: Sequence[PublishedTurn], table: PublishedTable, temporary: Path, folder: Path, turns: int
) -> ImportedCell:
    reached: dict[str, set[int]] = {}
    for row in rows:
        reached.setdefault(row.trajectory, set()).add(row.turn)
    planned = max(turns, *(max(indices) + 1 for indices in reached.values()))
    places = {
        name: Place(task=key.task, workload=key.workload, arch=key.arch, variant=None, number=number, name=name)
        for number, name in enumerate(reached)
    }
    ends = {name: max(indices) + 1 for name, indices in reached.items()}
    steps: list[TurnStep | EndStep] = [TurnStep(place=places[row.trajectory], row=_turn(key, row), feedback=None) for row in rows]
    shortened = [name for name, end in ends.items() if end < planned]
    steps += [EndStep(place=places[name], turn=ends[name], reason="unrecorded") for name in shortened]
    here = temporary / folder.name
    here.mkdir()
    write_atomic(here / JOURNAL_NAME, _lines(steps))
    _manifest(key, table, len(rows), trajectories=len(reached), turns=planned).write(here)
    return ImportedCell(
        key=key,
        folder=folder,
        turns=len(rows),
        trajectories=len(reached),
        shortened=len(shortened),
        lost=sum(ends.values()) - len(rows),
    )


def _lines(steps: Iterable[TurnStep | EndStep]) -> bytes:
    return b"".join(canonical_json(step) + b"\n" for step in steps)


def _turn(key: CellKey, row: PublishedTurn) -> Turn:
    """Return a row of ours. What the table does not say is None; its tag is a claim, and the proof unknown."""
    correct = row.outcome is Outcome.CORRECT
    decided_here = isinstance(row.outcome, Outcome)
    return Turn(
        key=key,
        trajectory=row.trajectory,
        turn=row.turn,
        outcome=row.outcome,
        undecided=None,
        blame=Blame.CANDIDATE if decided_here and not correct else None,
        correct=CorrectVerdict(paper=correct, strict=None, reasons=()),
        speedup=row.speedup if correct and row.speedup > 0.0 else None,
        candidate_us=None,
        reference_us=None,
        proof=TurnProof(
            status="unknown",
            compute=None,
            data_movement=None,
            work_share=None,
            source_tag=row.source_arch_tag,
            source_target=row.target_instruction,
        ),
        hashes=TurnHashes(prompt=None, reply=None, source=None, evaluation=None, task=None),
        tokens=TokenCount(reasoning=row.reasoning_tokens),
        cost_usd=None,
        seconds={},
    )


def _manifest(key: CellKey, table: PublishedTable, rows: int, *, trajectories: int, turns: int) -> Manifest:
    return Manifest(
        run=key.run,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        code=Code(version=__version__, templates=NOT_KNOWN),
        environment=Environment(python=platform.python_version(), platform=f"{platform.system()} {platform.machine()}"),
        model=key.model,
        model_facts={},
        suite=NOT_KNOWN,
        config={
            "model": key.model,
            "tasks": [f"{key.task}@{key.workload}"],
            "variants": [None],
            "trajectories": trajectories,
            "turns": turns,
            "profile": key.protocol,
        },
        cells=(ManifestCell(key=key, task_hash=NOT_KNOWN),),
        imported=Imported(
            form="published",
            table=table.name,
            sha256=table.sha256,
            rows=rows,
            baseline=next((name for prefix, name in BASELINES.items() if key.task.startswith(prefix)), None),
        ),
    )
