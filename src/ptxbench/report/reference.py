"""Published figures as rows and marks beside one's own; they are in no figure of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ptxbench.report.groups import Group
from ptxbench.report.published import Headline, reference_lines
from ptxbench.report.table import Line, Number, Pair, Value

AT = 8
"""The turn limit of published headline figures."""


def published_rows(group: Group, metric: str, tasks: Mapping[str, str], limits: Sequence[int]) -> tuple[Line, ...]:
    """Return a row for each model and source that published the metric on workloads of the group, by column key and task."""
    arch, language = group.facts["arch"], group.facts.get("language", "cuda")
    rows: dict[tuple[str, str], dict[str, Value]] = {}
    for key, task in tasks.items():
        for one in published(metric, arch, task, language):
            where = (one.model or "", f"{one.source.title}, {one.where}")
            row = rows.setdefault(where, {"model": one.model})
            row[key] = pair_of(one, limits)
    return tuple(Line(values=values, source=source) for (_, source), values in sorted(rows.items(), key=lambda item: item[0]))


def published(metric: str, arch: str, task: str, language: str) -> list[Headline]:
    """Return what was published of one of our metrics on a workload's task."""
    names: dict[str, Any] = {"turn_correctness": ("turn_correctness", "correct_turns"), "best_speedup": ("best_speedup",)}
    return [one for name in names.get(metric, ()) for one in reference_lines(name, arch=arch, task=task, language=language)]


def pair_of(one: Headline, limits: Sequence[int] = (AT,)) -> Pair:
    """Return a published figure as a cell: unrestricted, at the limit that it was published for."""
    value: Number = one.value if one.value is None or one.of is None else one.value / one.of
    return Pair(target=None, unrestricted=tuple(value if k == AT else None for k in limits))
