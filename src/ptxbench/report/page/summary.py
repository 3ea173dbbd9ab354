"""What the page shows before a turn is opened: runs, comparable groups of cells, their figures, and every turn in a few numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ptxbench import __version__
from ptxbench.agent.engine.ledger import TurnStep
from ptxbench.core.canonical import content_hash
from ptxbench.metrics import LIMITS, Curves, Plan, Row, summarise
from ptxbench.metrics.verdicts import has_target_instructions, is_unproven
from ptxbench.report.cells import comparable_groups, differences, heading, notes
from ptxbench.report.page.figures import metric_notes, published
from ptxbench.report.page.runs import Run
from ptxbench.schema import CellKey, ImportedOutcome, Outcome, Turn

OUTCOMES = (*(outcome.value for outcome in (*Outcome, *ImportedOutcome)), "undecided", "not_reached")
"""Names of outcomes, in the order in which the page shows them."""

PROOFS = ("qualified", "not_executed", "absent", "unknown")

TURN_COLUMNS = (
    *("turn", "outcome", "speedup", "trusted", "proof", "input_tokens", "output_tokens", "reasoning_tokens"),
    *("cost_usd", "model_s", "judge_s", "source"),
)
"""A turn in the summary is a list of these: ``outcome`` and ``proof`` are indices (proof -1: none), ``trusted`` is 0 or 1,
``source`` the beginning of its hash."""

Ends = Mapping[tuple[CellKey, str], Sequence[int]]
"""By cell and trajectory: which turns' details a page holds."""


def cell_id(key: CellKey) -> str:
    """Return the short name of a cell in the page's addresses: the same whenever a page is made of the run."""
    return content_hash(key).partition(":")[2][:10]


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the page's data as plain JSON values. Raises ``UsageError`` when a turn occurs twice."""
    plans = {key: plan for run in runs for key, plan in run.plans.items()}
    rows = summarise([step.row for run in runs for step in run.turns], plans)
    groups = comparable_groups(rows)
    number = {row.key: index for index, row in enumerate(rows)}
    members = _members(runs)
    run_number = {run.manifest.run: index for index, run in enumerate(runs)}
    return {
        "form": 1,
        "tool": f"ptxbench {__version__}",
        "limits": list(LIMITS),
        "outcomes": list(OUTCOMES),
        "proofs": list(PROOFS),
        "turn_columns": list(TURN_COLUMNS),
        "metrics": metric_notes(),
        "published": published(row.key for row in rows),
        "apart": differences(groups),
        "groups": [
            {"heading": heading(group), "notes": _notes(group), "cells": [number[row.key] for row in group]} for group in groups
        ],
        "runs": [_run(run) for run in runs],
        "cells": [_cell(row, runs[run_number[row.key.run]], members.get(row.key, [])) for row in rows],
    }


def _notes(group: Sequence[Row]) -> list[str]:
    """Return a table's footnotes; those that explain its two lines in the page's words, which has a column for each."""
    kept = [note for note in notes(group) if "parentheses" not in note and "first line" not in note]
    longest = max(len(row.outcomes_by_turn) for row in group)
    if longest > LIMITS[-1]:
        kept.append(f"Curves (Fast_p) are of all turns, up to {longest} of a trajectory; rates of the first {LIMITS[-1]} at most.")
    unknown = sum(row.at[str(LIMITS[-1])].unknown_proofs for row in group)
    told = (
        f"{unknown} correct turns have an unknown proof: in N, and in no figure with target instructions, which may be higher (≥)."
    )
    return [told, *kept] if unknown else kept


def _members(runs: Iterable[Run]) -> dict[CellKey, list[TurnStep]]:
    members: dict[CellKey, list[TurnStep]] = {}
    for run in runs:
        for step in run.turns:
            members.setdefault(step.row.key, []).append(step)
    return members


def _run(run: Run) -> dict[str, Any]:
    manifest = run.manifest
    machine = manifest.environment
    return {
        "run": manifest.run,
        "folder": run.folder.resolve().name,
        "created": manifest.created,
        "model": manifest.model,
        "served_models": list(manifest.served_models),
        "code": manifest.code.version,
        "python": machine.python,
        "platform": machine.platform,
        "devices": [f"{device.name}{f', driver {device.driver}' if device.driver else ''}" for device in machine.devices],
        "toolchains": {arch: digest.partition(":")[2][:8] for arch, digest in manifest.toolchains.items()},
        "accepted": [f"{change.field} changed after turn {change.turns_done}" for change in manifest.accepted],
        "imported": None if manifest.imported is None else f"imported from {manifest.imported.table}",
        "inspect": run.inspect_logs is not None,
    }


def _cell(row: Row, run: Run, steps: Sequence[TurnStep]) -> dict[str, Any]:
    plan = run.plans.get(row.key)
    variants = sorted({step.row.variant for step in steps if step.row.variant is not None})
    return {
        "id": cell_id(row.key),
        "key": row.key.model_dump(mode="json"),
        "target": has_target_instructions(row.key),
        "n_planned": row.n_planned,
        "complete": row.complete,
        "baseline": row.baseline,
        "device_name": row.device_name,
        "settings": row.settings,
        "pace": row.pace.model_dump(mode="json"),
        "figures": _figures(row, [step.row for step in steps]),
        "by_variant": {name: _of_variant(row.key, name, run, plan, steps) for name in variants} if len(variants) > 1 else {},
        "variants": variants,
        "trajectories": _trajectories(row.key, run, steps),
    }


def _of_variant(key: CellKey, variant: str, run: Run, plan: Plan | None, steps: Sequence[TurnStep]) -> dict[str, Any]:
    """Return a cell's figures over one prompt variant: the same functions over fewer turns."""
    turns = [step.row for step in steps if step.row.variant == variant]
    if plan is None:
        return _figures(summarise(turns)[0], turns)
    stopped = [end for end in _ends(key, run) if end.reason == "target_speedup" and end.place.variant == variant]
    part = plan.model_copy(
        update={
            "variants": (variant,),
            "left_out": sum(plan.turns - end.turn for end in stopped),
            "not_reached": tuple(gap for gap in plan.not_reached if gap.variant == variant),
        }
    )
    return _figures(summarise(turns, {key: part})[0], turns)


def _ends(key: CellKey, run: Run) -> list[Any]:
    where = (key.task, key.workload, key.arch)
    return [end for end in run.ends if (end.place.task, end.place.workload, end.place.arch) == where]


def _figures(row: Row, turns: Sequence[Turn]) -> dict[str, Any]:
    """Return a row's figures. ``could_raise``: how many turns could raise a curve, being undecided or of an unknown proof."""
    undecided = sum(turn.outcome is None for turn in turns)
    unproven = sum(map(is_unproven, turns)) if has_target_instructions(row.key) else 0
    return {
        "n": row.n_evaluated,
        "n_planned": row.n_planned,
        "trajectories": row.trajectories,
        "at": {k: at.model_dump(mode="json") for k, at in row.at.items()},
        "fast_p": _curve(row.fast_p),
        "fast_p_inst": _curve(row.fast_p_inst),
        "could_raise": {"fast_p": undecided, "fast_p_inst": undecided + unproven},
        "outcomes_by_turn": row.outcomes_by_turn,
        "tokens": row.tokens.model_dump(mode="json"),
        "cost_usd": row.cost_usd,
        "gpu_seconds": row.gpu_seconds,
    }


def _curve(curve: Curves) -> dict[str, Any] | None:
    """Return a step curve with its thresholds once: six digits are finer than any screen."""
    if curve.mean is None:
        return None
    band = curve.min is not None and curve.max is not None and (curve.min != curve.mean or curve.max != curve.mean)
    return {
        "p": [_short(p) for p, _ in curve.mean],
        "mean": [_short(value) for _, value in curve.mean],
        "min": [_short(value) for _, value in curve.min or ()] if band else None,
        "max": [_short(value) for _, value in curve.max or ()] if band else None,
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _trajectories(key: CellKey, run: Run, steps: Sequence[TurnStep]) -> list[dict[str, Any]]:
    ends = {end.place.trajectory: end for end in _ends(key, run)}
    names: dict[str, list[Turn]] = {}
    for step in steps:
        names.setdefault(step.row.trajectory, []).append(step.row)
    for name in ends:
        names.setdefault(name, [])
    found = []
    for name in sorted(names):
        turns = sorted(names[name], key=lambda turn: turn.turn)
        end = ends.get(name)
        found.append(
            {
                "name": name,
                "variant": turns[0].variant if turns else end and end.place.variant,
                "ended": None if end is None else {"turn": end.turn, "reason": end.reason},
                "turns": [_turn(turn) for turn in turns],
            }
        )
    return found


def _turn(turn: Turn) -> list[Any]:
    judged = [value for stage, value in turn.seconds.items() if stage not in ("model", "wait") and value is not None]
    return [
        turn.turn,
        OUTCOMES.index("undecided" if turn.outcome is None else turn.outcome.value),
        _short(turn.speedup),
        int(turn.trusted_speedup is not None),
        -1 if turn.proof is None else PROOFS.index(turn.proof.status),
        turn.tokens.input,
        turn.tokens.output,
        turn.tokens.reasoning,
        _short(turn.cost_usd),
        _short(turn.seconds.get("model")),
        _short(sum(judged)) if judged else None,
        None if turn.hashes.source is None else turn.hashes.source.partition(":")[2][:12],
    ]
