"""The raw page of an ncu report, as CSV, to counters per kernel.

``ncu --import REPORT --csv --page raw`` prints a line of names (``"ID"``, …, ``"Kernel Name"``, …, one column a metric), a line of
units, and one line a launch; every field stands in quotes, numbers may have commas between thousands, and a metric that was not
counted has ``n/a`` (Nsight Compute CLI, "Output Pages" and "Metrics and Units").
"""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ptxbench.evaluate.tools.ncu_report import NAME_CHARACTERS, UnreadableReport
from ptxbench.schema import Counters, KernelBuild, KernelCounters, Stall

MOST_LAUNCHES = 10_000
MOST_KERNELS = 16
MOST_STALLS = 4
LEAST_SHARE = 0.02
"""A stall with a smaller share explains nothing."""
LARGEST = 1e18
"""Numbers beyond are no counts of one call."""
_NAME = "Kernel Name"


@dataclass(frozen=True)
class MetricTable:
    """Which metrics are asked for: by figure, the names to try in order; by stall reason, its metric (``issuing`` is no stall)."""

    figures: Mapping[str, tuple[str, ...]]
    stalls: Mapping[str, str]
    issuing: str

    @property
    def names(self) -> tuple[str, ...]:
        """Every metric, once."""
        return tuple(dict.fromkeys([*(name for names in self.figures.values() for name in names), *self.stalls.values()]))


@cache
def metric_table() -> MetricTable:
    """Return the table of ``counters.toml``."""
    data = tomllib.loads(Path(__file__).with_name("counters.toml").read_text(encoding="utf-8"))
    stalls = data["stalls"]
    return MetricTable(
        figures={name: tuple(names) for name, names in data["figures"].items()},
        stalls={one: stalls["metric"].format(reason=one) for one in (*stalls["reasons"], stalls["issuing"])},
        issuing=stalls["issuing"],
    )


def read_counters(text: str, kernels: Sequence[KernelBuild], asked: Sequence[str] | None = None) -> Counters:
    """Return the counters that a raw page holds; ``kernels`` are the build's, ``asked`` the metrics that ncu was asked for.

    Raises ``UnreadableReport`` for what is no such page, and for one without a launch.
    """
    table = metric_table()
    launches = _launches(text)
    if not launches:
        raise UnreadableReport("the call launched no kernel")
    by_name: dict[str, list[dict[str, float]]] = {}
    for name, values in launches:
        by_name.setdefault(name, []).append(values)
    seen = {metric for _, values in launches for metric in values}
    if not seen & set(table.names):
        raise UnreadableReport("it counted nothing")
    names = {kernel.mangled: kernel.name for kernel in kernels}
    found = [_summed(names.get(name, name), group, table) for name, group in by_name.items()]
    found.sort(key=lambda one: -(one.duration_us or 0.0))
    missing = tuple(name for name in (table.names if asked is None else asked) if name not in seen)
    return Counters(kernels=tuple(found[:MOST_KERNELS]), left_out=missing)


def _launches(text: str) -> list[tuple[str, dict[str, float]]]:
    """Return each launch's kernel and its known metrics."""
    rows = csv.reader(text.splitlines(), strict=True)
    try:
        header = next((row for row in rows if row[:1] == ["ID"] and _NAME in row), None)
        if header is None:
            raise UnreadableReport("its raw page has no line of names")
        units = next(rows, [])
        listed = list(rows)
    except csv.Error as error:
        raise UnreadableReport(f"its raw page is no CSV: {error}") from error
    if len(listed) > MOST_LAUNCHES:
        raise UnreadableReport(f"its raw page has more than {MOST_LAUNCHES} launches")
    if len(units) != len(header) or any(len(row) != len(header) for row in listed):
        raise UnreadableReport("its raw page has lines of different lengths")
    place = header.index(_NAME)
    wanted = {column: header[column] for column in range(len(header)) if header[column] in metric_table().names}
    if any(units[column] == "second" or units[column] == "usecond" for column in wanted):
        raise UnreadableReport("its raw page is not in base units")
    found = []
    for row in listed:
        name = row[place]
        if not 0 < len(name) <= NAME_CHARACTERS or not name.isprintable():
            raise UnreadableReport("its raw page names a kernel without a name")
        values = {metric: value for column, metric in wanted.items() if (value := _number(row[column])) is not None}
        found.append((name, values))
    return found


def _number(text: str) -> float | None:
    """Return a field's number, None for one that was not counted (``n/a``, nothing, NaN) or cannot be a count."""
    try:
        value = float(text.replace(",", "").strip())
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= LARGEST else None


def _summed(name: str, launches: Sequence[Mapping[str, float]], table: MetricTable) -> KernelCounters:
    """Return a kernel's counters: counts add up, percentages are means over its time."""
    durations = [_first(one, table.figures["duration"]) for one in launches]
    weights = [one if one is not None else 0.0 for one in durations]
    if not any(weights):
        weights = [1.0] * len(launches)
    percents = {figure: _mean(launches, table.figures[figure], weights) for figure in ("sm", "dram", "tensor", "occupancy")}
    counts = {figure: _total(launches, table.figures[figure]) for figure in ("shared_conflicts", "shared_accesses")}
    nanoseconds = [one for one in durations if one is not None]
    return KernelCounters(
        kernel=name[:NAME_CHARACTERS],
        launches=len(launches),
        duration_us=sum(nanoseconds) / 1e3 if len(nanoseconds) == len(launches) else None,
        **{f"{figure}_percent": value for figure, value in percents.items()},
        **counts,
        stalls=_stalls(launches, weights, table),
    )


def _first(launch: Mapping[str, float], names: Sequence[str]) -> float | None:
    return next((launch[name] for name in names if name in launch), None)


def _mean(launches: Sequence[Mapping[str, float]], names: Sequence[str], weights: Sequence[float]) -> float | None:
    known = [(value, weight) for one, weight in zip(launches, weights, strict=True) if (value := _first(one, names)) is not None]
    whole = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / whole if whole else None


def _total(launches: Sequence[Mapping[str, float]], names: Sequence[str]) -> int | None:
    known = [value for one in launches if (value := _first(one, names)) is not None]
    return round(sum(known)) if len(known) == len(launches) else None


def _stalls(launches: Sequence[Mapping[str, float]], weights: Sequence[float], table: MetricTable) -> tuple[Stall, ...]:
    """Return the most common reasons with their share of all states; a report without the state ``selected`` has no whole."""
    states = {reason: _mean(launches, (metric,), weights) for reason, metric in table.stalls.items()}
    known = {reason: value for reason, value in states.items() if value is not None}
    whole = sum(known.values())
    if table.issuing not in known or not whole:
        return ()
    shares = ((reason, value / whole) for reason, value in known.items() if reason != table.issuing)
    common = sorted(((reason, share) for reason, share in shares if share >= LEAST_SHARE), key=lambda item: (-item[1], item[0]))
    return tuple(Stall(reason=reason, share=share) for reason, share in common[:MOST_STALLS])
