"""Open the suite that a command works on, and list it in the shape of the contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ptxbench.app.machine import machine_settings
from ptxbench.suite import Suite, load


def open_suite(paths: Sequence[Path] = (), warn: Callable[[str], None] = lambda _: None) -> Suite:
    """Return the bundled tasks with those of the folders given and of ``PTXBENCH_SUITE``; ``warn`` is told what was odd."""
    suite = load([*machine_settings().suite_paths, *paths])
    for warning in suite.warnings:
        warn(f"warning: {warning}")
    return suite


def listing(suite: Suite) -> list[dict[str, Any]]:
    """Return the suite as the rows of ``tasks list --json``."""
    rows = []
    for name in suite.names:
        spec = suite.get(name)
        rows.append(
            {
                "name": name,
                "family": spec.family,
                "op_type": spec.definition.op_type,
                "reference": spec.reference.library,
                "archs": list(spec.archs),
                "default_workload": spec.default_workload,
                "workloads": [
                    {
                        "uuid": item.workload.uuid,
                        "axes": item.workload.axes,
                        "source": item.source,
                        "flops": item.flops,
                        "bytes": item.bytes,
                    }
                    for item in spec.workloads
                ],
            }
        )
    return rows
