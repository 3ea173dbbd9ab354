"""Fast_p curves: mean over prompt variants, band from least to greatest, a mark at the best speedup (the paper's main plots)."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.curves import Hits, fast_p_curves
from ptxbench.report.figure import Figure, figure
from ptxbench.report.figures.drawing import COLORS, PANEL_HEIGHT, PANEL_WIDTH, ROWS, styled
from ptxbench.report.groups import Group, comparable
from ptxbench.report.reference import Published, place_of
from ptxbench.report.sources import Sources
from ptxbench.report.tables.at_limits import notes_of, notes_on_curves, turns_that_could_raise
from ptxbench.report.tables.side_by_side import BY_LANGUAGE, is_compared

PANELS: dict[Hits, str] = {"fast_p_inst": "Fast_p^Inst", "fast_p": "Fast_p"}
BAND = ("mean", "min", "max")


def fast_p(sources: Sources) -> list[Figure]:
    """Return the curves of models, a panel for each workload."""
    drawn = [_of_group("fast_p", "Fast_p curves", group, "model") for group in comparable(sources.frame, ("checkpoint",))]
    return [figure for figure in drawn if figure]


def languages(sources: Sources) -> list[Figure]:
    """Return the curves of languages, a panel for each workload and a figure for each model or checkpoint of several."""
    found = []
    for group in comparable(sources.frame, BY_LANGUAGE):
        for own in _by_model(group):
            if is_compared(own, ["language"]):
                found.append(_of_group("languages", f"Fast_p curves by language: {own.facts['model']}", own, "language"))
    return [figure for figure in found if figure]


def _by_model(group: Group) -> list[Group]:
    """Return a group for each model and checkpoint."""
    names = group.frame.cells.select("model", "checkpoint").unique().sort("model", "checkpoint").rows()
    return [
        Group(
            group.frame.only(pl.col("model") == model, pl.col("checkpoint").eq_missing(pl.lit(checkpoint, pl.String()))),
            group.facts | {"model": model + (f" [{checkpoint}]" if checkpoint else "")},
        )
        for model, checkpoint in names
    ]


def _of_group(kind: str, title: str, group: Group, series: str) -> Figure | None:
    cells = {cell["cell"]: cell for cell in group.cells}
    curves = [row for hits in PANELS for row in _curves(group, cells, series, hits)]
    if not curves:
        return None
    panels = {row["panel"] for row in curves}
    beside = Published(group)
    marks = [row for row in (*_marks(group, cells, series), *_published(beside, cells)) if row["panel"] in panels]
    rows = [*_extended(curves, marks), *_placed(marks)]
    sources = sorted({row["source"] for row in marks if row["mark"] == "published"})
    notes = [
        "Line: mean over prompt variants; band: their least and greatest; vertical: best speedup; dashed grey: published.",
        *notes_of(group.frame),
        *_bounds(group, panels),
        *notes_on_curves(group.frame),
        *(f"Published: {source}" for source in sources),
        *beside.notes("best_speedup", bool(sources)),
    ]
    metrics = (*(hits for hits, panel in PANELS.items() if panel in panels), "best_speedup")
    return figure(kind, title, group.facts, metrics, rows, _chart(rows, series), notes)


def _curves(group: Group, cells: dict[int, dict[str, Any]], series: str, hits: Hits) -> list[dict[str, Any]]:
    """Return a panel's curves; none where every one is zero for want of a proof, which is no zero."""
    rows = fast_p_curves(group.frame, hits).rows(named=True)
    unproven = hits == "fast_p_inst" and bool(group.frame.turns.get_column("unproven").any())
    if unproven and not any(row["mean"] for row in rows):
        return []
    return [_place(cells[row["cell"]], series, PANELS[hits], "curve") | {key: row[key] for key in ("p", *BAND)} for row in rows]


def _bounds(group: Group, panels: set[str]) -> list[str]:
    """Return which curves could be higher: they count no undecided and, with target instructions, no unproven turn."""
    undecided, unproven = (any(counts) for counts in zip(*turns_that_could_raise(group.frame).values(), strict=True))
    low = [name for hits, name in PANELS.items() if name in panels and (undecided or (unproven and hits == "fast_p_inst"))]
    return [f"Lower bounds: {' and '.join(low)}, which undecided turns or unknown proofs could raise."] if low else []


def _extended(curves: list[dict[str, Any]], marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return curves that go on to the right end of their panel, as the last value of a curve does."""
    ends = {row["task"]: 0.0 for row in curves}
    for row in (*curves, *marks):
        ends[row["task"]] = max(ends[row["task"]], row["p"])
    last = {(row["panel"], row["task"], row["series"]): row for row in curves}
    return [*curves, *(row | {"p": ends[row["task"]]} for row in last.values())]


def _place(cell: dict[str, Any], series: str, panel: str, mark: str) -> dict[str, Any]:
    """Return where a mark belongs. Several runs of one language are several curves, like those of one model."""
    again = f" ({cell['run']})" if cell["model_label"].endswith(f"({cell['run']})") else ""
    name = cell["model_label"] if series == "model" else cell[series] + again
    return {"mark": mark, "panel": panel, "task": cell["task_label"], "series": name}


def _marks(group: Group, cells: dict[int, dict[str, Any]], series: str) -> list[dict[str, Any]]:
    """Return the best speedups of all turns."""
    last = 1 + int(group.frame.turns.get_column("turn").max() or 0)  # type: ignore[arg-type]
    best = {PANELS["fast_p_inst"]: "target_best_speedup", PANELS["fast_p"]: "best_speedup"}
    return [
        _place(cells[row["cell"]], series, panel, "best") | {"p": row[name], "label": f"{row[name]:.3f}"}
        for row in by_limit(group.frame, (last,)).rows(named=True)
        for panel, name in best.items()
        if row[name] is not None
    ]


def _published(beside: Published, cells: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return published best speedups, which are unrestricted."""
    wanted = dict.fromkeys((cell["task_label"], cell["task"], cell["language"]) for cell in cells.values())
    return [
        {
            "mark": "published",
            "panel": PANELS["fast_p"],
            "task": label,
            "series": f"{one.model}, {language}",
            "p": one.value,
            "label": f"{one.model} {one.value:.3f}",
            "source": place_of(one),
        }
        for label, task, language in wanted
        for one in beside.of("best_speedup", task, language)
        if one.value is not None
    ]


def _placed(marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return marks with a height and a side for their labels, so that those of one panel do not lie on each other."""
    most: dict[str, float] = {}
    for row in marks:
        most[row["task"]] = max(most.get(row["task"], 0.0), row["p"])
    heights: dict[tuple[str, str], int] = {}
    placed = []
    for row in sorted(marks, key=lambda row: -row["p"]):
        panel = row["panel"], row["task"]
        if row["mark"] == "best":
            heights[panel] = heights.get(panel, 0) + 1
            row = row | {"height": 1.03 - 0.08 * heights[panel], "side": "left" if row["p"] > most[row["task"]] / 2 else "right"}
        placed.append(row)
    return placed


def _chart(rows: list[dict[str, Any]], title: str) -> Any:
    series = sorted({row["series"] for row in rows if row["mark"] != "published"})
    scale = alt.Scale(domain=series, range=[COLORS[index % len(COLORS)] for index in range(len(series))])
    color = alt.Color("series:N", title=title, scale=scale, legend=alt.Legend(symbolOpacity=1))
    x = alt.X("p:Q", title="p, speedup over baseline", scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=5))
    share = alt.Scale(domain=[0, 1])
    y = alt.Y("mean:Q", title="share of turns", axis=alt.Axis(format="%"), scale=share)
    low = alt.Y("min:Q", title="share of turns", scale=share)
    tip = [alt.Tooltip("series:N"), alt.Tooltip("p:Q", format=".3f"), alt.Tooltip("mean:Q", format=".3f")]
    curves, best, others = (alt.Chart().transform_filter(f"datum.mark === '{mark}'") for mark in ("curve", "best", "published"))
    labels = [
        best.transform_filter(f"datum.side === '{side}'")
        .mark_text(align="right" if side == "left" else "left", dx=-3 if side == "left" else 3, fontSize=9)
        .encode(x=x, y=alt.Y("height:Q", title="share of turns", scale=share), text="label:N", color=color)
        for side in ("left", "right")
    ]
    layers = [
        others.mark_rule(strokeDash=[3, 3], color="#888888").encode(x=x, tooltip=[alt.Tooltip("label:N"), alt.Tooltip("source:N")]),
        curves.mark_area(interpolate="step-after", opacity=0.18).encode(x=x, y=low, y2="max:Q", color=color),
        curves.mark_line(interpolate="step-after", strokeWidth=1.8).encode(x=x, y=y, color=color, tooltip=tip),
        best.mark_rule(strokeWidth=1).encode(x=x, color=color),
        *labels,
    ]
    panels = [panel for panel in PANELS.values() if any(row["panel"] == panel for row in rows)]
    faceted = (
        alt.layer(*layers, data=ROWS)
        .properties(width=PANEL_WIDTH, height=PANEL_HEIGHT)
        .facet(row=alt.Row("panel:N", title=None, sort=panels), column=alt.Column("task:N", title=None))
        .resolve_scale(x="independent")
    )
    return styled(faceted)
