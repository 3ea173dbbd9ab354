"""What a run was made with, as far as protocol section 9 asks it of rows that stand together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptxbench.agent.engine.manifest import Manifest, ManifestCell
from ptxbench.metrics.rows import MIXED_VERSIONS, STOP_RULE

SAMPLING_ASIDE = ("seed", "timeout_s")
"""Settings of a request that do not change what answers are like."""


def settings_of(manifest: Manifest, cell: ManifestCell) -> dict[str, str]:
    """Return what makes runs comparable beside key, device, reference and proof method, in a few characters each."""
    if manifest.imported:
        return {"origin": f"imported {manifest.imported.form} table", "turns": str(manifest.config.get("turns"))}
    config = manifest.config
    return {
        "protocol": manifest.protocol_version,
        "feedback": f"{config.get('feedback')}{' with counters' if config.get('profile_feedback') else ''}",
        "history": str(config.get("history")),
        "turns": str(config.get("turns")),
        "sampling": sampling_of(config),
        "suite": manifest.suite.partition(":")[2][:8],
        "judge": (manifest.code.judge or "unknown")[:8],
        "numpy": manifest.code.numpy or "unknown",
        "pack text": "none" if cell.knowledge is None else cell.knowledge.version.partition(":")[2][:8],
    } | _caveats(manifest)


def sampling_of(config: Mapping[str, Any]) -> str:
    """Return what a run's requests ask of sampling, ``default`` where all is left to the provider; 0 and false are asked for."""
    chosen = {name: value for name, value in (config.get("sampling") or {}).items() if name not in SAMPLING_ASIDE}
    return ", ".join(f"{name} {value}" for name, value in sorted(chosen.items()) if value not in (None, {}, [])) or "default"


def _caveats(manifest: Manifest) -> dict[str, str]:
    """Return what takes a run out of comparison, in words that a heading shows; nothing for an ordinary run."""
    caveats = {}
    target = manifest.config.get("target_speedup")
    if target is not None:
        caveats[STOP_RULE] = f"speedup {target:g} (not comparable)"
    if manifest.accepted:
        changed = dict.fromkeys(f"{change.field} after turn {change.turns_done}" for change in manifest.accepted)
        caveats[MIXED_VERSIONS] = f"{', '.join(changed)} (not comparable)"
    return caveats
