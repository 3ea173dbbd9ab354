"""One side of a comparison: the cells of its run directories, and which cells of two sides belong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptxbench.agent.engine.manifest import Manifest, ManifestCell, read_manifest
from ptxbench.metrics import Plan
from ptxbench.metrics.tallies import CellTally, cell_tallies
from ptxbench.report.compare_keys import NONE, other_values, protocol_values
from ptxbench.report.loading import load_runs
from ptxbench.schema import CellKey, Turn

TELLING = ("model", "checkpoint", "device", "language", "pack", "arm", "condition", "harness", "protocol")
"""What can tell the cells of a place apart within a side, beside the run."""


@dataclass(frozen=True)
class SideCell:
    """One cell of a side with everything that a comparison asks of it."""

    key: CellKey
    plan: Plan
    turns: tuple[Turn, ...]
    tally: CellTally
    keys: Mapping[str, str | None]
    """What must be equal (``PROTOCOL_KEYS``)."""
    beside: Mapping[str, str | None]
    """What else may differ."""

    @property
    def place(self) -> tuple[str, str, str]:
        """Task, workload and architecture: cells of other places have nothing to do with each other."""
        return self.key.task, self.key.workload, self.key.arch


def load_side(folders: Iterable[Path]) -> list[SideCell]:
    """Return the cells of run directories. Raises as ``load_runs`` does."""
    found = list(folders)
    table = load_runs(found)
    tallies = cell_tallies(table.turns, table.planned)
    by_key: dict[CellKey, list[Turn]] = {}
    for turn in table.turns:
        by_key.setdefault(turn.key, []).append(turn)
    cells = []
    for folder in found:
        manifest = read_manifest(folder)
        cells += [
            _cell(manifest, cell, table.planned[cell.key], by_key.get(cell.key, []), tallies[cell.key]) for cell in manifest.cells
        ]
    return cells


def _cell(manifest: Manifest, cell: ManifestCell, plan: Plan, turns: Sequence[Turn], tally: CellTally) -> SideCell:
    method = plan.proof_method if tally.target or manifest.imported else NONE
    return SideCell(
        key=cell.key,
        plan=plan,
        turns=tuple(turns),
        tally=tally,
        keys=protocol_values(manifest, cell, plan, method),
        beside=other_values(manifest, cell, plan),
    )


def partners(
    first: Sequence[SideCell], second: Sequence[SideCell]
) -> tuple[list[tuple[SideCell, SideCell]], list[SideCell], list[SideCell]]:
    """Return the cells that belong together, and those of each side that have no partner.

    Cells of one task, workload and architecture belong together when they agree in whatever tells the cells of either side
    apart: the arm where a side has several arms, nothing where each side has one cell. What else differs between them is what
    the comparison is about, or what forbids it.
    """
    pairs: list[tuple[SideCell, SideCell]] = []
    places = dict.fromkeys(cell.place for cell in (*first, *second))
    for place in sorted(places):
        sides = [[cell for cell in side if cell.place == place] for side in (first, second)]
        telling = [name for name in TELLING if any(len({getattr(cell.key, name) for cell in side}) > 1 for side in sides)]
        by_names: dict[tuple[str | None, ...], tuple[list[SideCell], list[SideCell]]] = {}
        for number, side in enumerate(sides):
            for cell in side:
                by_names.setdefault(tuple(getattr(cell.key, name) for name in telling), ([], []))[number].append(cell)
        pairs += [(ours[0], theirs[0]) for ours, theirs in by_names.values() if len(ours) == len(theirs) == 1]
    paired = {id(cell) for pair in pairs for cell in pair}
    left, right = ([cell for cell in side if id(cell) not in paired] for side in (first, second))
    return pairs, left, right
