"""Rates by concurrency, from evidence files (the paper's Figure 12)."""

from __future__ import annotations

from typing import Any

import altair as alt

from ptxbench.report.figure import Figure, figure
from ptxbench.report.figures.drawing import PANEL_HEIGHT, ROWS, palette, styled
from ptxbench.report.sources import Sources
from ptxbench.report.tables.throughput import NOT_ESTABLISHED, steps_of


def throughput(sources: Sources) -> list[Figure]:
    """Return a figure for each device whose evidence has rates by concurrency."""
    by_device: dict[str, list[dict[str, Any]]] = {}
    for one in sources.evidence:
        for step in steps_of(one):
            by_device.setdefault(one.device, []).append({"benchmark": one.name, "commit": one.commit[:12], **step.model_dump()})
    return [_of_device(device, rows) for device, rows in by_device.items()]


def _of_device(device: str, rows: list[dict[str, Any]]) -> Figure:
    chart = (
        alt.Chart(ROWS)
        .mark_line(point=True)
        .encode(
            x=alt.X("concurrency:Q", title="at once"),
            y=alt.Y("rate:Q", title="rate"),
            color=palette("series", "series"),
            tooltip=["series:N", "concurrency:Q", "rate:Q", "unit:N", "commit:N"],
        )
        .properties(width=360, height=PANEL_HEIGHT + 60)
        .facet(facet=alt.Facet("unit:N", title=None), columns=3)
        .resolve_scale(y="independent")
    )
    return figure("throughput", "Throughput", {"device": device}, (), rows, styled(chart), [NOT_ESTABLISHED])
