"""What must be equal for two cells to be compared (protocol section 9), and what else differs between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ptxbench.agent.engine.manifest import Manifest, ManifestCell
from ptxbench.metrics import Plan
from ptxbench.report.settings import sampling_of
from ptxbench.schema import Record

NONE = "none"
"""The value of what a run can do without: a pack, a stop rule, a device."""

UNKNOWN_HERE = ("unknown", "")
"""How manifests spell a hash that nobody knows."""

PROTOCOL_KEYS = (
    "origin",
    *("protocol", "profile", "feedback", "history", "stop rule", "turn budget"),
    *("language", "pack", "pack arm", "pack version", "condition", "harness", "sampling", "proof method"),
    *("device", "device name", "reference", "suite", "judge", "judge numpy", "mixed versions"),
)
"""Every key of protocol section 9, by the names that people see. ``origin`` parts runs that were made elsewhere from ours, and
``mixed versions`` runs that went on with another version of something."""


class KeyDifference(Record):
    """One thing that differs between the sides, with both values, and the tasks in which it does."""

    key: str
    first: str | None
    second: str | None
    tasks: tuple[str, ...]
    asked: bool = False
    """Whether the comparison is about this very difference (``--across``)."""


def protocol_values(manifest: Manifest, cell: ManifestCell, plan: Plan, proof_method: str | None) -> dict[str, str | None]:
    """Return a value for each of ``PROTOCOL_KEYS``; None where the run does not record it or nothing was measured.

    ``proof_method``: how the cell's executed instructions were counted.
    """
    key, config, imported = cell.key, manifest.config, manifest.imported
    made_here = imported is None
    return {
        "origin": "made here" if imported is None else f"imported {imported.form} table",
        "protocol": manifest.protocol_version if made_here else None,
        "profile": key.protocol,
        "feedback": _feedback(config),
        "history": _setting(config, "history"),
        "stop rule": _stop_rule(config) if made_here else None,
        "turn budget": str(plan.turns),
        "language": key.language,
        "pack": _optional(key.pack, made_here),
        "pack arm": _optional(key.arm, made_here),
        "pack version": cell.knowledge.version if cell.knowledge else _optional(None, made_here),
        "condition": _optional(key.condition, made_here),
        "harness": key.harness,
        "sampling": sampling_of(config) if made_here else None,
        "proof method": proof_method,
        "device": key.device or NONE,
        "device name": plan.device_name,
        "reference": plan.baseline,
        "suite": _hash(manifest.suite),
        "judge": _hash(manifest.code.judge),
        "judge numpy": _hash(manifest.code.numpy),
        "mixed versions": _mixed(manifest),
    }


def other_values(manifest: Manifest, cell: ManifestCell, plan: Plan) -> dict[str, str | None]:
    """Return what section 9 leaves free, and what a reader of a difference wants to know: who answered, what was asked."""
    return {
        "model": cell.key.model,
        "model facts": ", ".join(f"{name} {value}" for name, value in sorted(manifest.model_facts.items())) or None,
        "checkpoint": cell.key.checkpoint,
        "served model": ", ".join(manifest.served_models) or None,
        "prompt variants": ", ".join(variant or "unnamed" for variant in plan.variants),
        "trajectories a variant": str(plan.trajectories),
        "prompt templates": _hash(manifest.code.templates),
        "agent": _hash(manifest.code.agent),
        "code version": manifest.code.version,
        "task": _hash(cell.task_hash),
        "toolchain": manifest.toolchains.get(cell.key.arch),
        "seed of inputs": _setting(manifest.config, "seed"),
    }


def key_differences(
    pairs: Sequence[tuple[str, Mapping[str, str | None], Mapping[str, str | None]]], across: Iterable[str] = ()
) -> list[KeyDifference]:
    """Return what differs in pairs of values by name, each with the task it belongs to; equal differences are one.

    A value that one side does not know differs from nothing: see ``not_recorded``. ``across`` names what may differ; a name
    stands for the keys that begin with it as well (``pack`` for ``pack arm``).
    """
    names = tuple(across)
    found: dict[tuple[str, str | None, str | None], list[str]] = {}
    for task, first, second in pairs:
        for key, ours in first.items():
            theirs = second.get(key)
            if ours is not None and theirs is not None and ours != theirs:
                found.setdefault((key, ours, theirs), []).append(task)
    return [
        KeyDifference(
            key=key, first=ours, second=theirs, tasks=tuple(dict.fromkeys(tasks)), asked=any(_covers(name, key) for name in names)
        )
        for (key, ours, theirs), tasks in found.items()
    ]


def not_recorded(pairs: Sequence[tuple[str, Mapping[str, str | None], Mapping[str, str | None]]]) -> tuple[str, ...]:
    """Return the keys that a side of some pair does not know, so that nobody can say that they are equal."""
    unknown = {key for _, first, second in pairs for key, value in first.items() if value is None or second.get(key) is None}
    return tuple(key for key in PROTOCOL_KEYS if key in unknown)


def covered(name: str) -> bool:
    """Whether a name is one of ``PROTOCOL_KEYS``, or stands for some."""
    return any(_covers(name, key) for key in PROTOCOL_KEYS)


def _covers(name: str, key: str) -> bool:
    return key == name or key.startswith(f"{name} ")


def _setting(config: Mapping[str, Any], name: str) -> str | None:
    value = config.get(name)
    return None if value is None else str(value)


def _feedback(config: Mapping[str, Any]) -> str | None:
    told = _setting(config, "feedback")
    return f"{told} with counters" if told and config.get("profile_feedback") else told


def _stop_rule(config: Mapping[str, Any]) -> str:
    target = config.get("target_speedup")
    return NONE if target is None else f"speedup {target:g}"


def _optional(value: str | None, made_here: bool) -> str | None:
    """Return a value that a run made here either has or does without; of another run nobody knows."""
    return value or (NONE if made_here else None)


def _hash(value: str | None) -> str | None:
    return None if value is None or value in UNKNOWN_HERE else value


def _mixed(manifest: Manifest) -> str:
    changes = [f"{change.field} after turn {change.turns_done}: {change.was} then {change.now}" for change in manifest.accepted]
    return "; ".join(changes) or NONE
