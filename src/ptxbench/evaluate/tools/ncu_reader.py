"""Read a report of ncu and print its executed instructions as JSON: ``python -I ncu_reader.py FOLDER REPORT METRIC METRIC``.

Run as a script in a process of its own: ``ncu_report`` is a native library, and what it reads came from near a candidate. FOLDER
holds ``ncu_report``. Prints ``{"kernels": [{"name": mangled, "METRIC": [[opcode, count], …], …}, …]}``, one entry a launch.
"""

from __future__ import annotations

import json
import sys
from typing import Any

MOST_LAUNCHES = 20_000


def read(folder: str, report: str, metrics: list[str]) -> dict[str, Any]:
    """Return the instances of each metric for every profiled launch. Raises what ``ncu_report`` raises."""
    sys.path.append(folder)
    import ncu_report  # type: ignore[import-not-found, unused-ignore]

    context = ncu_report.load_report(report)
    launches: list[dict[str, Any]] = []
    for number in range(context.num_ranges()):
        actions = context.range_by_idx(number)
        for index in range(actions.num_actions()):
            if len(launches) == MOST_LAUNCHES:
                raise ValueError(f"more than {MOST_LAUNCHES} launches")
            action = actions.action_by_idx(index)
            counted = {name: _instances(action, name) for name in metrics}
            launches.append({"name": action.name(action.NameBase_MANGLED), **counted})
    return {"kernels": launches}


def _instances(action: Any, name: str) -> list[tuple[str, int]] | None:
    """Return what a metric says of each opcode, None when the report does not hold the metric."""
    metric = action.metric_by_name(name)
    if metric is None:
        return None
    opcodes = metric.correlation_ids()
    return [(opcodes.as_string(index), metric.as_uint64(index)) for index in range(metric.num_instances())]


if __name__ == "__main__":
    json.dump(read(sys.argv[1], sys.argv[2], sys.argv[3:]), sys.stdout)
