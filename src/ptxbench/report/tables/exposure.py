"""Models beside when their architecture's PTX was documented (the paper's Table 2)."""

from __future__ import annotations

from ptxbench.report.published import exposure_table, find_model
from ptxbench.report.sources import Sources
from ptxbench.report.table import Column, Line, Table, Value


def exposure(sources: Sources) -> list[Table]:
    """Return a row for each of the runs' models and each architecture; every model that is known of where there is no run."""
    names = sorted(set(sources.frame.cells.get_column("model"))) or None
    rows = []
    for one in exposure_table(names):
        facts = find_model(one.model)
        score = facts.score[0] if facts and facts.score else None
        values: dict[str, Value] = {
            "model": one.model,
            "released": one.released.date.isoformat() if one.released else None,
            "cutoff": one.knowledge_cutoff.month if one.knowledge_cutoff else None,
            "arch": one.arch,
            "documented": one.ptx_documented.date.isoformat(),
            "exposure": one.text,
            "score": f"{score.percent:g} % {score.benchmark} ({score.kind})" if score else None,
        }
        rows.append(Line(values=values))
    titles = {
        "model": "model", "released": "released", "cutoff": "knowledge cutoff", "arch": "arch", "documented": "PTX documented",
        "exposure": "exposure at most", "score": "score as its vendor reports it",
    }  # fmt: skip
    return [
        Table(
            kind="exposure",
            title="Models and the documentation of PTX",
            facts={},
            columns=tuple(Column(key=key, title=title) for key, title in titles.items()),
            rows=tuple(rows),
            notes=(
                "Exposure bounds what a model could have read; it does not establish what it learnt.",
                "Scores of vendors come from unlike scaffolds and settings (sources: docs/published-results.md).",
            ),
        )
    ]
