"""The numbers at a turn limit: numerator and denominator use turns with an index below k only (protocol section 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from ptxbench.metrics.bootstrap import rate_interval
from ptxbench.metrics.rows import AtLimit, NotReached
from ptxbench.metrics.verdicts import is_correct, is_decided, is_qualified, is_tagged, is_unproven
from ptxbench.schema import Turn

LIMITS = (1, 4, 8)
"""The published limits."""


def at_limit(k: int, turns: Sequence[Turn], not_reached: Sequence[NotReached], turns_per_trajectory: int, target: bool) -> AtLimit:
    """Return a cell's numbers over its turns below k. ``target``: whether its architecture has target instructions."""
    inside = [turn for turn in turns if turn.turn < k]
    missing = Counter({gap.trajectory: not_reached_below(k, gap, turns_per_trajectory) for gap in not_reached})
    n_by_trajectory = Counter(turn.trajectory for turn in inside) + missing
    n = len(inside) + missing.total()
    undecided = sum(turn.outcome is None for turn in inside)
    decided = is_decided(inside, missing.total())
    correct = [turn for turn in inside if is_correct(turn)]
    qualified = [turn for turn in inside if is_qualified(turn)] if target else []
    tagged = [turn for turn in correct if is_tagged(turn)]
    speedups = _speedups(correct)
    target_speedups = _speedups(qualified)
    return AtLimit(
        turns=n,
        correct_turns=len(correct),
        qualified_turns=len(qualified),
        unknown_proofs=sum(map(is_unproven, inside)) if target else 0,
        undecided_turns=undecided,
        not_reached_turns=missing.total(),
        turn_correctness=len(correct) / n if decided else None,
        target_turn_correctness=len(qualified) / n if decided and target else None,
        best_speedup=max(speedups, default=None),
        target_best_speedup=max(target_speedups, default=None),
        median_speedup=median(speedups) if speedups else None,
        target_median_speedup=median(target_speedups) if target_speedups else None,
        trajectories_with_success=len({turn.trajectory for turn in correct}),
        target_trajectories_with_success=len({turn.trajectory for turn in qualified}),
        source_tag_turns=len(tagged),
        source_tag_trajectories_with_success=len({turn.trajectory for turn in tagged}),
        ci95={
            "turn_correctness": _interval(correct, n_by_trajectory) if decided else None,
            "target_turn_correctness": _interval(qualified, n_by_trajectory) if decided and target else None,
        },
    )


def not_reached_below(k: int, gap: NotReached, turns_per_trajectory: int) -> int:
    """Return how many turns with an index below k a trajectory did not reach."""
    return max(0, min(k, turns_per_trajectory) - gap.first)


def _speedups(turns: Sequence[Turn]) -> list[float]:
    return [speedup for turn in turns if (speedup := turn.trusted_speedup) is not None]


def _interval(hits: Sequence[Turn], n_by_trajectory: Counter[str]) -> tuple[float, float] | None:
    successes = Counter(turn.trajectory for turn in hits)
    names = sorted(n_by_trajectory)
    return rate_interval([successes[name] for name in names], [n_by_trajectory[name] for name in names])
