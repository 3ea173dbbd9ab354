"""What became of the same sources on both sides: two versions of a judge, or of a toolchain, on the same candidates."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median, quantiles

from ptxbench.schema import Record, Turn


class ChangedVerdict(Record):
    """A source that both sides judged, and judged differently."""

    trajectory: str
    turn: int
    first: str
    second: str


class SameSources(Record):
    """Turns of equal trajectory and number whose sources are equal."""

    turns: int
    changed: tuple[ChangedVerdict, ...]
    timed: int
    """How many of them have a trusted speedup on both sides."""
    speedup_ratio: float | None
    """Median of the second's speedup over the first's, None without one."""
    speedup_quartiles: tuple[float, float] | None
    """None for fewer than two."""


def same_sources(first: Iterable[Turn], second: Iterable[Turn]) -> SameSources:
    """Return what the sides say of the same sources."""
    theirs = {(turn.trajectory, turn.turn): turn for turn in second if turn.hashes.source is not None}
    pairs = [
        (turn, other)
        for turn in sorted(first, key=lambda turn: (turn.trajectory, turn.turn))
        if (other := theirs.get((turn.trajectory, turn.turn))) and other.hashes.source == turn.hashes.source
    ]
    ratios = [
        other.trusted_speedup / turn.trusted_speedup
        for turn, other in pairs
        if turn.trusted_speedup is not None and other.trusted_speedup is not None
    ]
    low, _, high = quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else (0.0, 0.0, 0.0)
    return SameSources(
        turns=len(pairs),
        changed=tuple(
            ChangedVerdict(trajectory=turn.trajectory, turn=turn.turn, first=verdict(turn), second=verdict(other))
            for turn, other in pairs
            if verdict(turn) != verdict(other)
        ),
        timed=len(ratios),
        speedup_ratio=median(ratios) if ratios else None,
        speedup_quartiles=(low, high) if len(ratios) > 1 else None,
    )


def verdict(turn: Turn) -> str:
    """Return a turn's outcome and, of a correct one, the status of its proof, in words."""
    if turn.outcome is None:
        return "undecided"
    proof = f", proof {turn.proof.status}" if turn.outcome == "correct" and turn.proof is not None else ""
    return f"{turn.outcome.value}{proof}"
