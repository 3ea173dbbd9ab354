"""``Figure``: a plot as a Vega-Lite specification with its data, and what it shows."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue

from ptxbench.metrics.definitions import MetricDefinition, definitions
from ptxbench.report.heading import caveat, heading_of, wrapped
from ptxbench.schema import Record

DATASET = "rows"
"""What a specification calls its data."""


class Figure(Record):
    """A plot of things that may stand beside each other. ``data`` is what is drawn, one record for each mark or point."""

    kind: str
    title: str
    facts: dict[str, str]
    metrics: dict[str, MetricDefinition]
    data: tuple[dict[str, JsonValue], ...]
    spec: dict[str, JsonValue]
    """Vega-Lite, complete: with the data."""
    notes: tuple[str, ...] = ()


def figure(
    kind: str, title: str, facts: dict[str, str], metrics: tuple[str, ...], data: list[dict[str, Any]], chart: Any, notes: list[str]
) -> Figure:
    """Return the record of an Altair chart, which gets its title, header and footnotes here.

    A picture leaves its page, so the header (device, baseline and its version) is part of it.
    """
    defined = {name: definitions()[name] for name in metrics}
    caveats = [caveat(each) for each in defined.values()]
    # Vega-Lite has no footnotes: the title of an empty row below would be cut, so they are further lines of the subtitle.
    subtitle = [line for text in (heading_of(facts), *notes, *caveats) for line in wrapped(text)]
    spec = chart.properties(title={"text": title, "subtitle": subtitle, "anchor": "start"}).to_dict()
    spec["datasets"] = {DATASET: data}
    return Figure(kind=kind, title=title, facts=facts, metrics=defined, data=tuple(data), spec=spec, notes=tuple(notes))
