"""The records of a summary: one ``Row`` per cell, as ``ptxbench report --json`` prints it."""

from __future__ import annotations

from pydantic import Field

from ptxbench.schema import CellKey, Pace, Record, TokenCount

Points = tuple[tuple[float, float], ...]
"""A step curve: each value holds from its p (inclusive) to the next one's."""


STOP_RULE, MIXED_VERSIONS = "stops at", "mixed versions"
"""Settings that only runs have which are comparable with no other (protocol section 7)."""


class NotReached(Record):
    """A trajectory that the model's context window ended: ``first`` is the first turn that it did not reach."""

    trajectory: str
    variant: str | None
    first: int


class Plan(Record):
    """What is known of a cell beside its turns."""

    variants: tuple[str | None, ...]
    trajectories: int
    """Per variant."""
    turns: int
    """Per trajectory."""
    left_out: int = 0
    """Turns that a stop rule (``target_speedup``) left out: in no N."""
    not_reached: tuple[NotReached, ...] = ()
    baseline: str | None = None
    """Library and version that the reference latencies come from."""
    device_name: str | None = None
    proof_method: str | None = None
    """How executed instructions were counted; None where nothing was proven."""
    settings: dict[str, str] = Field(default_factory=dict)
    """Everything else that must be equal for rows to be comparable (protocol section 9), by name."""

    @property
    def planned_turns(self) -> int:
        """Turns in all, without those that a stop rule left out."""
        return len(self.variants) * self.trajectories * self.turns - self.left_out


class AtLimit(Record):
    """A cell's numbers over turns with an index below a limit k. Rates are None when nothing could be decided.

    ``turns`` is N: evaluated and not reached turns. ``target_…`` numbers ask for executed target instructions as well; they
    are None for architectures that have none.
    """

    turns: int
    correct_turns: int
    qualified_turns: int
    unknown_proofs: int
    """Correct turns whose proof is unknown: inside N, outside the numerator."""
    undecided_turns: int
    not_reached_turns: int
    turn_correctness: float | None
    target_turn_correctness: float | None
    best_speedup: float | None
    target_best_speedup: float | None
    median_speedup: float | None
    target_median_speedup: float | None
    trajectories_with_success: int
    target_trajectories_with_success: int
    source_tag_turns: int = 0
    """Correct turns that an imported table tags as holding target instructions in their source: a claim, in no other figure."""
    source_tag_trajectories_with_success: int = 0
    """Trajectories with such a turn."""
    ci95: dict[str, tuple[float, float] | None]


class Curves(Record):
    """A step curve per cell: mean over prompt variants of their fractions, and the variants' minimum and maximum."""

    mean: Points | None
    min: Points | None
    max: Points | None


class Row(Record):
    """One cell of a report."""

    key: CellKey
    trajectories: int
    n_planned: int
    n_evaluated: int
    complete: bool
    """Whether every planned turn was evaluated or is known not to be reached."""
    at: dict[str, AtLimit]
    fast_p: Curves
    fast_p_inst: Curves
    outcomes_by_turn: dict[str, dict[str, int]]
    tokens: TokenCount
    cost_usd: float | None
    gpu_seconds: float = Field(ge=0)
    pace: Pace = Pace()
    baseline: str | None = None
    device_name: str | None = None
    proof_method: str | None = None
    settings: dict[str, str] = Field(default_factory=dict)
