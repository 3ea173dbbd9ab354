"""What figures share: inline data, and colours that tell apart without hue alone."""

from __future__ import annotations

from typing import Any

import altair as alt

from ptxbench.report.figure import DATASET

ROWS = alt.NamedData(DATASET)
"""The figure's own data, which it gets when it is whole: charts would check each row against the language's schema."""

PANEL_WIDTH, PANEL_HEIGHT = 200, 150
"""Of one panel, in pixels."""

COLORS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999"),
    *("#882255", "#44AA99", "#AA4499", "#117733", "#332288", "#DDCC77", "#661100", "#6699CC"),
)
"""Okabe and Ito's colours, which colour-blind readers can tell apart, then Tol's muted ones; after sixteen they repeat."""

OUTCOME_COLORS = {
    "no_code": "#bdbdbd",
    "policy_violation": "#737373",
    "compile_error": "#E69F00",
    "load_error": "#f0c060",
    "sanitizer_error": "#b15928",
    "runtime_error": "#D55E00",
    "timeout": "#a63603",
    "wrong_shape": "#CC79A7",
    "wrong_dtype": "#dd9fc1",
    "wrong_value": "#984ea3",
    "tampered": "#000000",
    "correct": "#0072B2",
    "other_error": "#8c6d31",
    "sanitize_timeout": "#c49c94",
    "profiling_service_timeout": "#7f7f7f",
    "undecided": "#d9d9d9",
    "not_reached": "#f0f0f0",
}
"""A colour for each outcome, the same in every figure."""


def palette(field: str, title: str | None = None) -> Any:
    """Return a colour by the values of a field."""
    return alt.Color(f"{field}:N", title=title, scale=alt.Scale(range=list(COLORS)), legend=alt.Legend(symbolOpacity=1))


def styled(chart: Any) -> Any:
    """Return a chart with the look that all figures have."""
    return (
        chart.configure_view(stroke="#dddddd")
        .configure_axis(gridColor="#eeeeee", labelFontSize=10, titleFontSize=11)
        .configure_header(labelFontSize=11, titleFontSize=11)
        .configure_title(fontSize=14, subtitleFontSize=10, subtitleColor="#555555", offset=12)
        .configure_legend(labelLimit=320, symbolType="square")
    )
