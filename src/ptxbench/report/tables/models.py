"""Models x workloads: one row a model, one column a workload, triplets over turn limits (the paper's Tables 1 and 9)."""

from __future__ import annotations

from ptxbench.report.groups import Group, comparable
from ptxbench.report.reference import Published
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Table, Value
from ptxbench.report.tables.at_limits import FORMS, AtLimits, column, notes_of

METRICS = ("turn_correctness", "best_speedup", "median_speedup")


def models(sources: Sources) -> list[Table]:
    """Return a table of each metric for each group of comparable cells."""
    return [table for group in comparable(sources.frame, ("checkpoint",)) for table in _of_group(group)]


def _of_group(group: Group) -> list[Table]:
    at = AtLimits(group.frame)
    return [_of_metric(group, at, metric) for metric in METRICS]


def _of_metric(group: Group, at: AtLimits, metric: str) -> Table:
    limits = at.limits if metric != "median_speedup" else at.limits[-1:]
    rows: dict[str, dict[str, Value]] = {}
    tasks: dict[str, str] = {}
    for cell in group.cells:
        tasks[cell["task_label"]] = cell["task"]
        row = rows.setdefault(cell["model_label"], {"model": cell["model_label"]})
        row[cell["task_label"]] = at.pair(cell["cell"], metric, limits)
    beside = Published(group)
    published = beside.rows(metric, tasks, group.facts["language"], limits)
    return Table(
        kind="models",
        title=f"Models x workloads: {FORMS[metric][0]}",
        facts=group.facts,
        columns=(Column(key="model", title="model"), *(column(task, metric, task, limits) for task in sorted(tasks))),
        rows=tuple(Line(values=values) for values in rows.values()),
        published=published,
        notes=(*notes_of(group.frame), *beside.notes(metric, bool(published))),
    )
