"""What each trajectory of a cell comes to, in the numbers that differences between two cells are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ptxbench.metrics.duplicates import refuse_repeated
from ptxbench.metrics.limits import LIMITS, not_reached_below
from ptxbench.metrics.rows import Plan
from ptxbench.metrics.verdicts import has_target_instructions, is_correct, is_decided, is_qualified, is_unproven
from ptxbench.schema import CellKey, Turn

THRESHOLD = 1.0
"""Where Fast_p is compared: the share of turns that beat the reference."""


@dataclass(frozen=True)
class Tally:
    """One trajectory. Counts are of turns; ``n`` and what is counted of it use turns below the last of ``LIMITS``."""

    variant: str
    name: str
    n: int
    undecided: int
    """Of ``n``: turns without an outcome. Those that were not reached are none of them."""
    correct: int
    qualified: int
    unproven: int
    """Correct, and nobody knows whether target instructions executed."""
    turns: int
    """All of them, as curves count; ``fast`` and ``target_fast`` of these are above ``THRESHOLD``."""
    fast: int
    target_fast: int
    best: tuple[float, ...]
    """Largest trusted speedup below each of ``LIMITS``, 0 where there is none."""
    target_best: tuple[float, ...]
    tokens: int | None
    """Of all its turns, input and output; None as soon as one does not say."""

    @property
    def order(self) -> tuple[Any, ...]:
        """A key to sort by, which equal trajectories have alone."""
        *rest, tokens = vars(self).values()
        return (*rest, -1 if tokens is None else tokens)


@dataclass(frozen=True)
class CellTally:
    """The trajectories of one cell, in order, and what can be said of it."""

    trajectories: tuple[Tally, ...]
    target: bool
    """Whether its architecture has target instructions to ask for."""
    known: bool
    """Whether a turn has an outcome, or none was ever reached: else a rate is unknown, which is not zero."""

    def total(self, name: Literal["correct", "qualified", "unproven", "undecided"]) -> int:
        """Return the sum of a count over the trajectories."""
        return sum(getattr(tally, name) for tally in self.trajectories)

    @property
    def proves(self) -> bool:
        """Whether target figures say anything: of correct turns that all lack a proof, their zero would say that none has one."""
        return self.target and not 0 < self.total("correct") == self.total("unproven")


def cell_tallies(turns: Iterable[Turn], planned: Mapping[CellKey, Plan]) -> dict[CellKey, CellTally]:
    """Return the tallies of every cell that has turns or a plan.

    The figures that follow from them are those of ``summarise``: same N, limits, proofs and trusted speedups. Raises
    ``UsageError`` when a turn occurs twice, or though it was not reached, with the list.
    """
    every = list(turns)
    refuse_repeated(every, planned)
    by_cell: dict[CellKey, list[Turn]] = {key: [] for key in planned}
    for turn in every:
        by_cell.setdefault(turn.key, []).append(turn)
    return {key: _cell(key, rows, planned.get(key)) for key, rows in by_cell.items()}


def _cell(key: CellKey, turns: Sequence[Turn], plan: Plan | None) -> CellTally:
    gaps = {gap.trajectory: gap for gap in plan.not_reached} if plan else {}
    length = plan.turns if plan else 0
    by_name: dict[str, list[Turn]] = {name: [] for name in gaps}
    for turn in turns:
        by_name.setdefault(turn.trajectory, []).append(turn)
    target = has_target_instructions(key)
    tallies = []
    for name, rows in by_name.items():
        gap = gaps.get(name)
        missing = {k: not_reached_below(k, gap, length) if gap else 0 for k in (LIMITS[-1], length)}
        variant = gap.variant if gap else rows[0].variant
        tallies.append(_tally(name, variant or "", rows, missing[LIMITS[-1]], missing[length], target=target))
    inside = [turn for turn in turns if turn.turn < LIMITS[-1]]
    known = is_decided(inside, sum(tally.n for tally in tallies) - len(inside))
    return CellTally(tuple(sorted(tallies, key=lambda tally: tally.order)), target=target, known=known)


def _tally(name: str, variant: str, turns: Sequence[Turn], missing_below: int, missing: int, *, target: bool) -> Tally:
    inside = [turn for turn in turns if turn.turn < LIMITS[-1]]
    timed = [(turn, speedup) for turn in turns if (speedup := turn.trusted_speedup) is not None]
    proven = [(turn, speedup) for turn, speedup in timed if target and is_qualified(turn)]
    spent = [_tokens(turn) for turn in turns]
    known = [count for count in spent if count is not None]
    return Tally(
        variant=variant,
        name=name,
        n=len(inside) + missing_below,
        undecided=sum(turn.outcome is None for turn in inside),
        correct=sum(map(is_correct, inside)),
        qualified=sum(map(is_qualified, inside)) if target else 0,
        unproven=sum(map(is_unproven, inside)) if target else 0,
        turns=len(turns) + missing,
        fast=sum(speedup > THRESHOLD for _, speedup in timed),
        target_fast=sum(speedup > THRESHOLD for _, speedup in proven),
        best=_best(timed),
        target_best=_best(proven),
        tokens=sum(known) if len(known) == len(spent) else None,
    )


def _best(timed: Sequence[tuple[Turn, float]]) -> tuple[float, ...]:
    return tuple(max((speedup for turn, speedup in timed if turn.turn < k), default=0.0) for k in LIMITS)


def _tokens(turn: Turn) -> int | None:
    tokens = turn.tokens
    return None if tokens.input is None or tokens.output is None else tokens.input + tokens.output
