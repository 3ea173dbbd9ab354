"""What one turn counts as."""

from __future__ import annotations

from collections.abc import Sequence

from ptxbench.arch import ARCHITECTURES
from ptxbench.schema import CellKey, Outcome, Turn


def is_correct(turn: Turn) -> bool:
    """Whether the turn is correct in its run's profile."""
    return turn.outcome is Outcome.CORRECT


def is_qualified(turn: Turn) -> bool:
    """Whether the turn is correct and its target instructions are known to have executed."""
    return is_correct(turn) and turn.proof is not None and turn.proof.status == "qualified"


def is_unproven(turn: Turn) -> bool:
    """Whether the turn is correct and nobody knows whether its target instructions executed."""
    return is_correct(turn) and (turn.proof is None or turn.proof.status == "unknown")


def is_tagged(turn: Turn) -> bool:
    """Whether the turn is correct and an imported table tags its source with the target instructions: a claim, no proof."""
    return is_correct(turn) and turn.proof is not None and turn.proof.source_target is True


def is_decided(turns: Sequence[Turn], not_reached: int) -> bool:
    """Whether rates over these turns say anything: some turn has an outcome, or all that was planned was not reached."""
    return any(turn.outcome is not None for turn in turns) or (not turns and not_reached > 0)


def has_target_instructions(key: CellKey) -> bool:
    """Whether the cell's architecture has instructions to ask for; unknown architectures are taken to have some."""
    arch = ARCHITECTURES.get(key.arch)
    return arch is None or arch.is_gpu
