"""Turn records as columns of a flat table, with what evaluations and gates say of the same kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from ptxbench.core.canonical import canonical_json
from ptxbench.metrics.rows import Plan
from ptxbench.metrics.summarise import GPU_STAGES
from ptxbench.schema import CellKey, Evaluation, Turn

Gates = Mapping[str, bool]
"""Whether a source, by its hash, passed the equivalence gate; a source that was not put through it is absent."""


@dataclass(frozen=True)
class Resources:
    """What a candidate's kernels use; None where the compiler or the profiler did not say."""

    registers: int | None
    """Per thread, the most of any kernel."""
    spill_bytes: int | None
    """Of all kernels together."""
    occupancy_percent: float | None
    """Measured, of the kernel that took longest; None without counters."""

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        """Return what an evaluation's build and counters say."""
        kernels = evaluation.build.kernels if evaluation.build else ()
        registers = [kernel.registers for kernel in kernels if kernel.registers is not None]
        spills = [kernel.spill_bytes for kernel in kernels if kernel.spill_bytes is not None]
        counted = evaluation.counters.kernels if evaluation.counters else ()
        return cls(
            registers=max(registers, default=None),
            spill_bytes=sum(spills) if spills else None,
            occupancy_percent=counted[0].occupancy_percent if counted else None,
        )


UNSEEN = Resources(None, None, None)


def turn_columns(
    turns: Iterable[Turn], planned: Mapping[CellKey, Plan], resources: Mapping[str, Resources], gates: Gates
) -> dict[str, list[Any]]:
    """Return a flat table's columns: one entry per turn, then one per turn that was planned and not reached."""
    rows = [_row(turn, resources, gates) for turn in turns] + [row for key, plan in planned.items() for row in _gaps(key, plan)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def _row(turn: Turn, resources: Mapping[str, Resources], gates: Gates) -> dict[str, Any]:
    used = resources.get(turn.hashes.evaluation or "", UNSEEN)
    return {
        **turn.key.model_dump(),
        "trajectory": turn.trajectory,
        "variant": turn.variant,
        "turn": turn.turn,
        "outcome": "undecided" if turn.outcome is None else turn.outcome.value,
        "speedup": turn.trusted_speedup,
        "proof": turn.proof and turn.proof.status,
        "source_target": turn.proof and turn.proof.source_target,
        "input_tokens": turn.tokens.input,
        "output_tokens": turn.tokens.output,
        "reasoning_tokens": turn.tokens.reasoning,
        "cached_tokens": turn.tokens.cached,
        "cost_usd": turn.cost_usd,
        "gpu_seconds": _gpu_seconds(turn),
        "model_seconds": turn.seconds.get("model"),
        "gate_passed": gates.get(turn.hashes.source or ""),
        "registers": used.registers,
        "spill_bytes": used.spill_bytes,
        "occupancy_percent": used.occupancy_percent,
    }


def _gaps(key: CellKey, plan: Plan) -> Iterable[dict[str, Any]]:
    """Return a row for each turn that a trajectory did not reach."""
    for gap in plan.not_reached:
        for index in range(gap.first, plan.turns):
            yield {
                **key.model_dump(),
                "trajectory": gap.trajectory,
                "variant": gap.variant,
                "turn": index,
                "outcome": "not_reached",
            }


def _gpu_seconds(turn: Turn) -> float | None:
    """Return the seconds that a turn held a GPU; None where nothing is known of its time."""
    if turn.key.device is None or turn.key.device == "cpu":
        return 0.0
    return math.fsum(turn.seconds.get(stage) or 0.0 for stage in GPU_STAGES) if turn.seconds else None


def settings_text(plan: Plan) -> str:
    """Return a plan's settings as canonical JSON, so that equal settings are equal texts."""
    return canonical_json(plan.settings).decode("utf-8")
