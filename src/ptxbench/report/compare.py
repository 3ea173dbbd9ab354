"""Two sides of runs compared: what forbids it, which differences exceed noise, what became of the same sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptxbench.core.errors import NotComparable, UsageError
from ptxbench.metrics.bootstrap import RESAMPLES, SEED
from ptxbench.metrics.differences import Difference, Judged, differences, mean_difference
from ptxbench.metrics.exchanges import LEVEL
from ptxbench.report.compare_candidates import SameSources, same_sources
from ptxbench.report.compare_keys import PROTOCOL_KEYS, KeyDifference, covered, key_differences, not_recorded
from ptxbench.report.compare_sides import SideCell, partners
from ptxbench.schema import PROTOCOL_VERSION, SCHEMA_VERSION, CellKey, Record


class ComparedSide(Record):
    """Which runs stand on a side."""

    runs: tuple[str, ...]
    models: tuple[str, ...]


class ComparedCell(Record):
    """Two cells that belong together; every pair is first and second."""

    first: CellKey
    second: CellKey
    turns: tuple[int, int]
    """Planned turns of a trajectory: Fast_p and tokens are of all of them, rates of those below their limit."""
    n_planned: tuple[int, int]
    n_evaluated: tuple[int, int]
    undecided: tuple[int, int]
    """Turns in N without a verdict: what is counted of them is a lower bound."""
    unknown_proofs: tuple[int, int]
    """Correct turns in N that target figures do not count; where that is all of them, these figures are unknown."""
    differences: tuple[Difference, ...]
    same_sources: SameSources


class Comparison(Record):
    """What ``ptxbench compare --json`` prints."""

    schema_version: int = SCHEMA_VERSION
    protocol_version: str = PROTOCOL_VERSION
    first: ComparedSide
    second: ComparedSide
    comparable: bool
    """False where something differs that protocol section 9 asks to be equal and nobody asked about: only under ``forced``."""
    forced: bool
    incomparable: tuple[KeyDifference, ...]
    """What differs of the keys of protocol section 9, asked about or not."""
    not_recorded: tuple[str, ...]
    """Keys of section 9 that a side does not record, so that nobody can say that they are equal."""
    beside: tuple[KeyDifference, ...]
    """What else differs."""
    tasks: tuple[ComparedCell, ...]
    overall: tuple[Difference, ...]
    """Means over tasks, each counting the same; empty for a single one."""
    only_first: tuple[CellKey, ...]
    only_second: tuple[CellKey, ...]
    judged: int
    """How many differences of tasks could be told from noise, or not."""
    exceeding: int
    """How many of these exceed it."""
    expected_by_chance: float
    """How many would, at most and on average, where nothing differs."""
    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int

    @property
    def tells(self) -> bool:
        """Whether anything could be told from noise."""
        return self.judged > 0


def compare(
    first: Sequence[SideCell], second: Sequence[SideCell], *, across: Iterable[str] = (), force: bool = False, seed: int = SEED
) -> Comparison:
    """Return the comparison of two sides.

    ``across`` names keys of protocol section 9 whose difference is the question; ``force`` compares whatever differs, and the
    record says so. Raises ``NotComparable`` with every other key that differs, ``UsageError`` for a name that is no key, and
    where no task is on both sides.
    """
    names = tuple(across)
    for name in names:
        if not covered(name):
            raise UsageError(f"--across {name}: no key of that name", next_step=f"known: {', '.join(PROTOCOL_KEYS)}")
    pairs, left, right = partners(first, second)
    if not pairs:
        raise UsageError(
            "the runs have no cell that belongs to one of the other: " + _without_partner(left, right),
            next_step="compare runs of the same tasks on one architecture",
        )
    places = [(_place(ours.key), ours, theirs) for ours, theirs in pairs]
    incomparable = key_differences([(name, ours.keys, theirs.keys) for name, ours, theirs in places], names)
    unasked = [each for each in incomparable if not each.asked]
    if unasked and not force:
        raise _refusal(unasked)
    judged = [differences(ours.tally, theirs.tally, seed=seed, name=_stream(ours, theirs)) for ours, theirs in pairs]
    verdicts = [each.found.exceeds_noise for cell in judged for each in cell]
    told = sum(verdict is not None for verdict in verdicts)
    return Comparison(
        first=_side(first),
        second=_side(second),
        comparable=not unasked,
        forced=bool(unasked),
        incomparable=tuple(incomparable),
        not_recorded=not_recorded([(name, ours.keys, theirs.keys) for name, ours, theirs in places]),
        beside=tuple(key_differences([(name, ours.beside, theirs.beside) for name, ours, theirs in places])),
        tasks=tuple(_cell(ours, theirs, found) for (ours, theirs), found in zip(pairs, judged, strict=True)),
        overall=tuple(mean_difference(metric).found for metric in zip(*judged, strict=True)) if len(judged) > 1 else (),
        only_first=tuple(cell.key for cell in left),
        only_second=tuple(cell.key for cell in right),
        judged=told,
        exceeding=verdicts.count(True),
        expected_by_chance=round(LEVEL * told, 2),
        seed=seed,
    )


def _cell(first: SideCell, second: SideCell, judged: Sequence[Judged]) -> ComparedCell:
    return ComparedCell(
        first=first.key,
        second=second.key,
        turns=(first.plan.turns, second.plan.turns),
        n_planned=(first.plan.planned_turns, second.plan.planned_turns),
        n_evaluated=(len(first.turns), len(second.turns)),
        undecided=(first.tally.total("undecided"), second.tally.total("undecided")),
        unknown_proofs=(first.tally.total("unproven"), second.tally.total("unproven")),
        differences=tuple(each.found for each in judged),
        same_sources=same_sources(first.turns, second.turns),
    )


def _side(cells: Sequence[SideCell]) -> ComparedSide:
    return ComparedSide(
        runs=tuple(dict.fromkeys(cell.key.run for cell in cells)), models=tuple(dict.fromkeys(cell.key.model for cell in cells))
    )


def _place(key: CellKey) -> str:
    return f"{key.task}@{key.workload}"


def _stream(first: SideCell, second: SideCell) -> str:
    """Return a name for a pair's random numbers, which other pairs do not have and the order of the sides does not change."""
    return "\n".join(sorted(cell.key.model_copy(update={"run": ""}).model_dump_json() for cell in (first, second)))


def _refusal(differing: Sequence[KeyDifference]) -> NotComparable:
    told = "; ".join(f"{each.key}: {each.first} and {each.second}" for each in differing)
    return NotComparable(
        f"the runs are not comparable (protocol section 9), they differ in {told}",
        next_step="--across KEY where that difference is the question, --force to compare them all the same",
        incomparable=[each.model_dump(mode="json") for each in differing],
    )


def _without_partner(first: Sequence[SideCell], second: Sequence[SideCell]) -> str:
    sides = [sorted({f"{_place(cell.key)} on {cell.key.arch}" for cell in side}) for side in (first, second)]
    return " against ".join(", ".join(side[:3]) + (" …" if len(side) > 3 else "") if side else "nothing" for side in sides)
