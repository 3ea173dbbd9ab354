"""Correct turns as bars, target instruction beside unrestricted: recipes by workload, arms by prompt variant."""

from __future__ import annotations

from typing import Any

import altair as alt

from ptxbench.report.figure import Figure, figure
from ptxbench.report.figures.drawing import PANEL_HEIGHT, ROWS, palette, styled
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Pair, Table
from ptxbench.report.tables.arms import arms as arms_tables
from ptxbench.report.tables.arms import rank_of
from ptxbench.report.tables.side_by_side import recipes as recipes_tables

FORMS = {"target": "target instruction", "unrestricted": "unrestricted"}


def recipes(sources: Sources) -> list[Figure]:
    """Return correct turns at the last limit of each recipe, a panel for each workload and model."""
    found = []
    for table in recipes_tables(sources):
        rows = [
            {"panel": f"{line.values['task']}", "x": f"{line.values['model']}", **bar}
            for line in table.rows
            for bar in _bars(line.values["turn_correctness"])
        ]
        found += _drawn("recipes", table, rows, "recipe")
    return found


def arms(sources: Sources) -> list[Figure]:
    """Return correct turns at the last limit of each arm, pooled and by prompt variant."""
    found = []
    for table in arms_tables(sources):
        columns = [one for one in table.columns if one.key.startswith("turn_correctness")]
        several = len({line.values["model"] for line in table.rows}) > 1
        rows = [
            {"panel": ", ".join(_panel(line, several, column)), "x": line.values["arm"], **bar}
            for line in table.rows
            for column in columns
            for bar in _bars(line.values.get(column.key))
        ]
        found += _drawn("arms", table, sorted(rows, key=lambda row: rank_of(row["x"])), "arm")
    return found


def _panel(line: Line, several: bool, column: Column) -> list[str]:
    """Return what a panel shows: the model where there are several, the workload, the prompt variant."""
    return [*([str(line.values["model"])] if several else []), str(line.values["task"]), column.title]


def _bars(value: Any) -> list[dict[str, Any]]:
    """Return the last limit's shares of a pair, of those that are known."""
    if not isinstance(value, Pair):
        return []
    last = {"target": (value.target, value.target_ci95), "unrestricted": (value.unrestricted, value.ci95)}
    bars = []
    for form, (shares, intervals) in last.items():
        if shares and shares[-1] is not None:
            low, high = (intervals and intervals[-1]) or (None, None)
            bars.append({"form": FORMS[form], "share": shares[-1], "low": low, "high": high})
    return bars


def _drawn(kind: str, table: Table, rows: list[dict[str, Any]], title: str) -> list[Figure]:
    if not rows:
        return []
    order = list(dict.fromkeys(row["x"] for row in rows))
    base = alt.Chart().encode(
        x=alt.X("x:N", title=title, sort=order, axis=alt.Axis(labelAngle=-30)),
        xOffset=alt.XOffset("form:N", sort=list(FORMS.values())),
        tooltip=["x:N", "form:N", *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("share", "low", "high"))],
    )
    scale = alt.Scale(domain=[0, 1])
    share = alt.Y("share:Q", title="correct turns", axis=alt.Axis(format="%"), scale=scale)
    known = base.transform_filter("isValid(datum.low)")
    chart = (
        alt.layer(
            base.mark_bar().encode(y=share, color=palette("form", "in the numerator")),
            base.transform_filter("datum.share === 0")
            .mark_text(text="0", dy=-6, fontSize=9)
            .encode(y=alt.Y("share:Q", title="correct turns", scale=scale), color=palette("form", "in the numerator")),
            known.mark_rule(color="#333333").encode(y=alt.Y("low:Q", title="correct turns", scale=scale), y2="high:Q"),
            data=ROWS,
        )
        .properties(width=alt.Step(22), height=PANEL_HEIGHT)
        .facet(facet=alt.Facet("panel:N", title=None), columns=4)
    )
    metrics = ("turn_correctness", "target_turn_correctness", "ci95")
    notes = ["Whiskers: 95 % interval over trajectories.", *table.notes]
    return [figure(kind, table.title, table.facts, metrics, rows, styled(chart), notes)]
