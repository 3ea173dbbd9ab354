"""How a search goes: outcomes, correct kernels and reasoning tokens over turns (the paper's Figures 7 and 9)."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from ptxbench.metrics.by_turn import kernels_by_turn, outcomes_by_turn, reasoning_by_turn
from ptxbench.metrics.frame import OUTCOMES
from ptxbench.report.figure import Figure, figure
from ptxbench.report.figures.drawing import OUTCOME_COLORS, PANEL_HEIGHT, PANEL_WIDTH, ROWS, palette, styled
from ptxbench.report.groups import Group, comparable
from ptxbench.report.sources import Sources
from ptxbench.report.tables.at_limits import notes_of


def outcomes(sources: Sources) -> list[Figure]:
    """Return stacked shares of outcomes at each turn, a panel for each model and workload."""
    return [drawn for group in _groups(sources) for drawn in _outcomes(group)]


def kernels(sources: Sources) -> list[Figure]:
    """Return the numbers of correct and qualified kernels at each turn."""
    return [drawn for group in _groups(sources) for drawn in _kernels(group)]


def reasoning(sources: Sources) -> list[Figure]:
    """Return mean reasoning tokens at each turn with quartiles; nothing where no provider named a count."""
    return [drawn for group in _groups(sources) for drawn in _reasoning(group)]


def _groups(sources: Sources) -> list[Group]:
    return comparable(sources.frame, ("checkpoint",))


def _outcomes(group: Group) -> list[Figure]:
    cells = _names(group)
    order = {name: rank for rank, name in enumerate(OUTCOMES)}
    rows = [
        cells[row["cell"]] | {"turn": row["turn"], "outcome": row["outcome"], "share": row["share"], "rank": order[row["outcome"]]}
        for row in outcomes_by_turn(group.frame).rows(named=True)
    ]
    if not rows:
        return []
    seen = [name for name in OUTCOMES if any(row["outcome"] == name for row in rows)]
    scale = alt.Scale(domain=seen, range=[OUTCOME_COLORS[name] for name in seen])
    chart = (
        alt.Chart(ROWS)
        .mark_bar()
        .encode(
            x=_turn_axis(),
            y=alt.Y("share:Q", title="share of turns", stack="zero", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("outcome:N", title="outcome", sort=seen, scale=scale),
            order=alt.Order("rank:Q", sort="descending"),
            tooltip=["turn:O", "outcome:N", alt.Tooltip("share:Q", format=".3f")],
        )
    )
    return [figure("outcomes", "Outcomes by turn", group.facts, ("share",), rows, _panels(chart), list(notes_of(group.frame)))]


def _kernels(group: Group) -> list[Figure]:
    cells = _names(group)
    counted = {"correct": "correct", "qualified": "correct, target instruction"}
    proven = _proven(group)
    rows = [
        cells[row["cell"]] | {"turn": row["turn"], "kind": title, "kernels": row[name]}
        for row in kernels_by_turn(group.frame).rows(named=True)
        for name, title in counted.items()
        if name == "correct" or row["cell"] in proven
    ]
    if not rows:
        return []
    chart = (
        alt.Chart(ROWS)
        .mark_bar()
        .encode(
            x=_turn_axis(),
            xOffset=alt.XOffset("kind:N", sort=list(counted.values())),
            y=alt.Y("kernels:Q", title="kernels", axis=alt.Axis(tickMinStep=1)),
            color=palette("kind", "kernels"),
            tooltip=["turn:O", "kind:N", "kernels:Q"],
        )
    )
    metrics = ("correct_by_turn",)
    return [figure("kernels", "Correct kernels by turn", group.facts, metrics, rows, _panels(chart), list(notes_of(group.frame)))]


def _reasoning(group: Group) -> list[Figure]:
    cells = _names(group)
    rows = [
        cells[row["cell"]] | {name: row[name] for name in ("turn", "mean", "median", "low", "high", "known", "n")}
        for row in reasoning_by_turn(group.frame).rows(named=True)
        if row["known"]
    ]
    if not rows:
        return []
    base = alt.Chart(ROWS)
    x = alt.X("turn:Q", title="turn", axis=alt.Axis(tickMinStep=1, format="d"))
    color = palette("model", "model")
    chart = (
        alt.layer(
            base.mark_area(opacity=0.18).encode(x=x, y=alt.Y("low:Q", title="reasoning tokens"), y2="high:Q", color=color),
            base.mark_line(point=True).encode(x=x, y=alt.Y("median:Q", title="reasoning tokens"), color=color),
        )
        .properties(width=PANEL_WIDTH, height=PANEL_HEIGHT)
        .facet(facet=alt.Facet("task:N", title=None), columns=5)
    )
    notes = ["Line: median; band: between quartiles.", *notes_of(group.frame)]
    return [figure("reasoning", "Reasoning tokens by turn", group.facts, ("reasoning_tokens",), rows, styled(chart), notes)]


def _proven(group: Group) -> set[int]:
    """Return the cells whose zero of qualified turns is no want of proof."""
    counted = group.frame.turns.group_by("cell").agg(pl.col("unproven").any(), pl.col("qualified").any())
    known = counted.filter(pl.col("qualified") | ~pl.col("unproven")).join(
        group.frame.cells.filter("target"), on="cell", how="semi"
    )
    return set(known.get_column("cell"))


def _names(group: Group) -> dict[int, dict[str, Any]]:
    return {cell["cell"]: {"model": cell["model_label"], "task": cell["task_label"]} for cell in group.cells}


def _turn_axis() -> Any:
    return alt.X("turn:O", title="turn", axis=alt.Axis(labelAngle=0))


def _panels(chart: Any) -> Any:
    sized = chart.properties(width=PANEL_WIDTH, height=PANEL_HEIGHT)
    return styled(sized.facet(row=alt.Row("model:N", title=None), column=alt.Column("task:N", title=None)))
