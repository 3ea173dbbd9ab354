"""From a table of turns to one row per cell. Turns with different keys are never pooled (protocol section 9)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ptxbench.metrics.duplicates import refuse_repeated
from ptxbench.metrics.fast_p import UNKNOWN, fast_p
from ptxbench.metrics.limits import LIMITS, at_limit, not_reached_below
from ptxbench.metrics.rows import Curves, NotReached, Plan, Row
from ptxbench.metrics.verdicts import has_target_instructions, is_decided, is_qualified
from ptxbench.schema import CellKey, Pace, TokenCount, Turn

GPU_STAGES = ("sanitize", "compare", "time", "prove", "mutate", "counters", "debug")
"""Stages of an evaluation that hold a GPU."""


def summarise(turns: Sequence[Turn], planned: Mapping[CellKey, Plan] | None = None) -> list[Row]:
    """Return one row per cell, in the order of their keys, with every cell of ``planned`` even when it has no turn yet.

    A cell without a plan is taken to be complete as it is. Raises ``UsageError`` when a turn occurs twice, or though it
    was not reached, with the list.
    """
    plans = dict(planned or {})
    refuse_repeated(turns, plans)
    cells: dict[CellKey, list[Turn]] = {key: [] for key in plans}
    for turn in turns:
        cells.setdefault(turn.key, []).append(turn)
    ordered = sorted(cells.items(), key=lambda item: [value or "" for value in item[0].model_dump().values()])
    return [_row(key, members, plans.get(key)) for key, members in ordered]


def _row(key: CellKey, turns: list[Turn], plan: Plan | None) -> Row:
    turns = sorted(turns, key=lambda turn: (turn.trajectory, turn.turn))
    gaps = plan.not_reached if plan else ()
    length = plan.turns if plan else max((turn.turn + 1 for turn in turns), default=0)
    target = has_target_instructions(key)
    n_planned = plan.planned_turns if plan else len(turns)
    missing = sum(not_reached_below(length, gap, length) for gap in gaps)
    n_by_variant = _n_by_variant(turns, gaps, length)
    decided = is_decided(turns, missing)
    return Row(
        key=key,
        trajectories=len({turn.trajectory for turn in turns} | {gap.trajectory for gap in gaps}),
        n_planned=n_planned,
        n_evaluated=len(turns),
        complete=len(turns) + missing >= n_planned,
        at={str(k): at_limit(k, turns, gaps, length, target) for k in LIMITS},
        fast_p=_curves(turns, n_by_variant) if decided else UNKNOWN,
        fast_p_inst=_curves(filter(is_qualified, turns), n_by_variant) if decided and target else UNKNOWN,
        outcomes_by_turn=_outcomes_by_turn(turns, gaps, length),
        tokens=_tokens(turns),
        cost_usd=_cost(turns),
        gpu_seconds=_gpu_seconds(key, turns),
        pace=Pace.of(turns),
        baseline=plan.baseline if plan else None,
        device_name=plan.device_name if plan else None,
        proof_method=plan.proof_method if plan else None,
        settings=plan.settings if plan else {},
    )


def _n_by_variant(turns: Iterable[Turn], gaps: Iterable[NotReached], length: int) -> Counter[str | None]:
    n: Counter[str | None] = Counter(turn.variant for turn in turns)
    for gap in gaps:
        n[gap.variant] += not_reached_below(length, gap, length)
    return n


def _curves(turns: Iterable[Turn], n_by_variant: Mapping[str | None, int]) -> Curves:
    speedups: dict[str | None, list[float]] = defaultdict(list)
    for turn in turns:
        speedup = turn.trusted_speedup
        if speedup is not None:
            speedups[turn.variant].append(speedup)
    return fast_p(speedups, n_by_variant)


def _outcomes_by_turn(turns: Iterable[Turn], gaps: Iterable[NotReached], length: int) -> dict[str, dict[str, int]]:
    counted: dict[int, Counter[str]] = defaultdict(Counter)
    for turn in turns:
        counted[turn.turn]["undecided" if turn.outcome is None else turn.outcome.value] += 1
    for gap in gaps:
        for index in range(gap.first, length):
            counted[index]["not_reached"] += 1
    return {str(index): dict(sorted(counted[index].items())) for index in sorted(counted)}


def _tokens(turns: Sequence[Turn]) -> TokenCount:
    """Return sums over the turns whose provider named a count; None where none did."""
    sums: dict[str, int | None] = {}
    for kind in TokenCount.model_fields:
        named = [count for turn in turns if (count := getattr(turn.tokens, kind)) is not None]
        sums[kind] = sum(named) if named else None
    return TokenCount.model_validate(sums)


def _cost(turns: Sequence[Turn]) -> float | None:
    """Return the price of all turns; None as soon as one turn's is unknown, since a part would pass for the whole."""
    costs = [turn.cost_usd for turn in turns]
    known = [cost for cost in costs if cost is not None and math.isfinite(cost)]
    return math.fsum(known) if known and len(known) == len(costs) else None


def _gpu_seconds(key: CellKey, turns: Iterable[Turn]) -> float:
    if key.device is None or key.device == "cpu":
        return 0.0
    return math.fsum(turn.seconds.get(stage) or 0.0 for turn in turns for stage in GPU_STAGES)
