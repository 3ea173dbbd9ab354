"""What is reached within a number of tokens, as curves (the paper's Figure 14)."""

from __future__ import annotations

from typing import Any

import altair as alt

from ptxbench.metrics.budgets import at_budgets, budget_steps
from ptxbench.report.figure import Figure, figure
from ptxbench.report.figures.drawing import PANEL_HEIGHT, PANEL_WIDTH, ROWS, palette, styled
from ptxbench.report.groups import Group, comparable
from ptxbench.report.sources import Sources
from ptxbench.report.tables.at_limits import notes_of

PANELS = {
    "median_target_best_speedup": "median best speedup, target instruction",
    "median_best_speedup": "median best speedup",
    "success": "share of trajectories with a correct turn",
}


def budgets(sources: Sources) -> list[Figure]:
    """Return curves over tokens of a trajectory, one for each model and harness; nothing where tokens are unknown."""
    return [drawn for group in comparable(sources.frame, ("harness", "checkpoint")) for drawn in _of_group(group)]


def _of_group(group: Group) -> list[Figure]:
    cells = {cell["cell"]: cell for cell in group.cells}
    harnesses = len({cell["harness"] for cell in cells.values()}) > 1
    rows: list[dict[str, Any]] = []
    for row in at_budgets(group.frame, [0, *budget_steps(group.frame)]).rows(named=True):
        cell = cells[row["cell"]]
        series = f"{cell['model_label']}, {cell['harness']}" if harnesses else cell["model_label"]
        for name, panel in PANELS.items():
            if row[name] is not None:
                rows.append(
                    {"task": cell["task_label"], "series": series, "budget": row["budget"], "panel": panel, "value": row[name]}
                )
    if not any(row["budget"] for row in rows):
        return []
    chart = (
        alt.Chart(ROWS)
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=alt.X("budget:Q", title="tokens of a trajectory", axis=alt.Axis(format="~s")),
            y=alt.Y("value:Q", title=None),
            color=palette("series", "model"),
            tooltip=["series:N", "budget:Q", alt.Tooltip("value:Q", format=".3f")],
        )
        .properties(width=PANEL_WIDTH, height=PANEL_HEIGHT)
        .facet(row=alt.Row("panel:N", title=None, sort=list(PANELS.values())), column=alt.Column("task:N", title=None))
        .resolve_scale(y="independent")
    )
    metrics = ("median_target_best_speedup", "median_best_speedup", "success")
    return [figure("budgets", "Within a budget of tokens", group.facts, metrics, rows, styled(chart), list(notes_of(group.frame)))]
