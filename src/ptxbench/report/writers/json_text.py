"""Tables and figures as JSON: the records themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ptxbench.report.figure import Figure
from ptxbench.report.table import Table


def as_json(tables: Sequence[Table], figures: Sequence[Figure]) -> str:
    """Return ``{"tables": […], "figures": […]}``; columns have their metrics, each with what it does not establish."""
    content = {
        "tables": [table.model_dump(mode="json") for table in tables],
        "figures": [one.model_dump(mode="json") for one in figures],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
