"""Published figures as rows and marks beside one's own; they are in no figure of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ptxbench.agent.imports.directory import BASELINES
from ptxbench.report.groups import Group
from ptxbench.report.published import Headline, headlines, reference_lines
from ptxbench.report.table import Line, Number, Pair, Value

AT = 8
"""The turn limit of published headline figures."""

DEVICES = {"sm_90a": "h100", "sm_100a": "b200"}
"""What the published figures were measured on."""

PROFILE = "paper"
"""By whose rules."""

NAMES: dict[str, Any] = {
    "turn_correctness": ("turn_correctness", "correct_turns"),
    "best_speedup": ("best_speedup",),
    "trajectories_correct": ("target_trajectories",),
}
"""What the headline figures call our metrics."""


class Published:
    """What was published of a group's workloads, as far as it may stand beside the group's own figures.

    A speedup over another library, or another version of it, stays out of the comparison (protocol section 9).
    """

    def __init__(self, group: Group) -> None:
        self.arch = group.facts["arch"]
        self._own = {"device": group.frame.cells.get_column("device")[0], "profile": group.facts["profile"]}
        self._baselines: dict[str, set[str]] = {}
        for cell in group.frame.cells.filter(~group.frame.cells.get_column("baseline").is_null()).rows(named=True):
            self._baselines.setdefault(cell["task"], set()).add(cell["baseline"])

    def of(self, metric: str, task: str, language: str) -> list[Headline]:
        """Return the figures of one of our metrics on a task."""
        found = [
            one for name in NAMES.get(metric, ()) for one in reference_lines(name, arch=self.arch, task=task, language=language)
        ]
        return [] if metric == "best_speedup" and self._other_baseline(task) else found

    def rows(self, metric: str, tasks: Mapping[str, str], language: str, limits: Sequence[int]) -> tuple[Line, ...]:
        """Return a row for each model and source, with the figures of workloads by the key of their column."""
        rows: dict[tuple[str, str], dict[str, Value]] = {}
        for column, task in tasks.items():
            for one in self.of(metric, task, language):
                row = rows.setdefault((one.model or "", place_of(one)), {"model": one.model})
                row[column] = pair_of(one, limits)
        return tuple(Line(values=values, source=source) for (_, source), values in sorted(rows.items(), key=lambda item: item[0]))

    def arms(self, language: str, limits: Sequence[int]) -> tuple[Line, ...]:
        """Return a row for each arm of the published ablation, which names neither model nor task."""
        rows: dict[tuple[str, str], dict[str, Pair]] = {}
        for one in headlines():
            if one.arm is not None and one.language == language:
                rows.setdefault((one.arm, place_of(one)), {})[one.metric] = pair_of(one, limits)
        lines = []
        for (arm, source), told in rows.items():
            unknown = (None,) * len(limits)
            target, every = told.get("target_turn_correctness"), told.get("turn_correctness")
            pair = Pair(target=target.target if target else unknown, unrestricted=every.unrestricted if every else unknown)
            lines.append(Line(values={"model": "not named", "arm": arm, "turn_correctness": pair}, source=source))
        return tuple(lines)

    def token_multiples(self, language: str) -> tuple[Line, ...]:
        """Return a row for each published token multiple of a coding agent over multi-turn refinement."""
        return tuple(
            Line(values={"model": one.model, "harness": "a coding agent", "token_multiple": one.value}, source=place_of(one))
            for one in headlines()
            if (one.metric, one.arch, one.language) == ("token_ratio", self.arch, language)
        )

    def notes(self, metric: str, shown: bool) -> tuple[str, ...]:
        """Return what keeps published figures from being compared with one's own. ``shown``: whether there are any."""
        theirs = {"device": DEVICES.get(self.arch, ""), "profile": PROFILE}
        unlike = [name for name in theirs if theirs[name] != self._own[name]]
        lines = []
        if shown and unlike:
            words = " and ".join(f"{name} {theirs[name]} (here {self._own[name] or 'none'})" for name in unlike)
            lines.append(f"Published figures are of {words}: not comparable with these rows.")
        out = [
            task for task in sorted(self._baselines) if metric == "best_speedup" and _theirs(task) and self._other_baseline(task)
        ]
        if out:
            lines.append(
                f"No published speedups beside {', '.join(out)}: those are over {', '.join(sorted(set(map(_theirs, out))))}."
            )
        return tuple(lines)

    def _other_baseline(self, task: str) -> bool:
        theirs = _theirs(task)
        return any(own != theirs and not own.startswith(f"{theirs} ") for own in self._baselines.get(task, ()))


def place_of(one: Headline) -> str:
    """Return where a published figure is to be found."""
    return f"{one.source.title}, {one.where}"


def pair_of(one: Headline, limits: Sequence[int] = (AT,)) -> Pair:
    """Return a published figure as a cell, at the limit that it was published for; counts of turns as shares, as ours are."""
    value: Number = one.value if one.value is None or one.metric != "correct_turns" else one.value / (one.of or 1)
    told, unknown = tuple(value if k == AT else None for k in limits), (None,) * len(limits)
    is_target = one.metric.startswith("target_")
    return Pair(target=told if is_target else None, unrestricted=unknown if is_target else told)


def _theirs(task: str) -> str:
    """Return the baseline of a task's published speedups; "" where nothing was published of it."""
    return next((baseline for prefix, baseline in BASELINES.items() if task.startswith(prefix)), "")
