"""Throughput of evaluations and runs, from evidence files of benchmarks (the paper's Figure 12 in numbers)."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from pydantic import JsonValue

from ptxbench.report.evidence import Evidence
from ptxbench.report.published import headlines
from ptxbench.report.reference import place_of
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Table
from ptxbench.schema import Record

NOT_ESTABLISHED = "Not established by throughput: what other machines, models or tasks give."


class Measured(Record):
    """A figure of evidence files."""

    path: str
    title: str
    unit: str


@cache
def measured() -> tuple[Measured, ...]:
    """Return the figures that are about throughput (``throughput.toml``)."""
    text = files("ptxbench.report").joinpath("throughput.toml").read_text(encoding="utf-8")
    return tuple(Measured.model_validate(one) for one in tomllib.loads(text)["figure"])


def throughput(sources: Sources) -> list[Table]:
    """Return a table for each device that measured; figures of two devices stand in no table together."""
    by_device: dict[str, list[Evidence]] = {}
    for one in sources.evidence:
        by_device.setdefault(one.device, []).append(one)
    return [table for device, members in by_device.items() if (table := _of_device(device, members)).rows]


def _of_device(device: str, members: list[Evidence]) -> Table:
    rows = []
    for one in members:
        found: list[tuple[str, JsonValue, str]] = [(each.title, one.figure(each.path), each.unit) for each in measured()]
        found += [(point.title, point.rate, point.unit) for point in steps_of(one)]
        for title, value, unit in found:
            if isinstance(value, int | float) and not isinstance(value, bool):
                told = {"benchmark": one.name, "figure": title, "value": value, "unit": unit}
                rows.append(Line(values=told | {"commit": one.commit[:12], "date": one.date[:10]}))
    return Table(
        kind="throughput",
        title="Throughput",
        facts={"device": device},
        columns=(
            Column(key="benchmark", title="benchmark"),
            Column(key="figure", title="figure"),
            Column(key="value", title="value", format="number"),
            Column(key="unit", title="unit"),
            Column(key="commit", title="commit"),
            Column(key="date", title="date"),
        ),
        rows=tuple(rows),
        published=tuple(
            Line(values={"figure": one.note, "value": one.value, "unit": "x"}, source=place_of(one))
            for one in headlines()
            if one.metric == "throughput_ratio" and members[0].on_gpu
        ),
        notes=(*(f"{one.name}: {one.command}" for one in members), NOT_ESTABLISHED),
    )


class Step(Record):
    """A rate at one concurrency."""

    series: str
    concurrency: float
    rate: float
    unit: str

    @property
    def title(self) -> str:
        """The point in words."""
        return f"{self.series}, {self.concurrency:g} at once"


def steps_of(one: Evidence) -> list[Step]:
    """Return the rates by concurrency that an evidence file has, in its order."""
    found = one.figure("throughput")
    return [Step.model_validate(point) for point in found] if isinstance(found, list) else []
