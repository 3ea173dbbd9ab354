"""How many calls a latency is measured by (protocol section 5)."""

from __future__ import annotations

from dataclasses import dataclass

TRIALS = 3
WARM_UP, ITERATIONS = 10, 50
"""Calls of a trial (protocol section 5)."""
BUDGET_S = 20.0
"""Time for all trials of a candidate: a slower one gets fewer calls, and the record shows how many."""
LEAST_ITERATIONS = 3


@dataclass(frozen=True)
class Plan:
    """How many calls a trial has."""

    warm_up: int
    iterations: int

    @property
    def calls(self) -> int:
        """All calls of a trial."""
        return self.warm_up + self.iterations


def plan(call_s: float) -> Plan:
    """Return the protocol's counts, or fewer for a call so slow that they would take longer than the budget."""
    affordable = int(BUDGET_S / TRIALS / max(call_s, 1e-6))
    if affordable >= WARM_UP + ITERATIONS:
        return Plan(WARM_UP, ITERATIONS)
    iterations = max(LEAST_ITERATIONS, affordable * ITERATIONS // (WARM_UP + ITERATIONS))
    return Plan(max(1, iterations // 5), min(ITERATIONS, iterations))
