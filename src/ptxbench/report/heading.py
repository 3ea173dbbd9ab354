"""What stands above and below tables and figures: all that rows have in common, and what figures do not establish."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from ptxbench.metrics.definitions import MetricDefinition
from ptxbench.report.cells import HIDDEN, shown


def heading_of(facts: Mapping[str, str], *, besides: Sequence[str] = ()) -> str:
    """Return facts as one line, without hashes but for those named in ``besides``."""
    return shown(" · ".join(f"{name} {value}" for name, value in facts.items() if name not in HIDDEN or name in besides))


def telling(several: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the hashes that keep several tables of one kind apart, which their headings must name."""
    return tuple(name for name in HIDDEN if len({facts.get(name) for facts in several}) > 1)


def caveat(metric: MetricDefinition) -> str:
    """Return a metric's footnote: what nobody may conclude from it."""
    line = metric.does_not_establish
    return f"Not established by “{metric.name}”: {line[:1].lower()}{line[1:]}"


def wrapped(text: str, columns: int = 150) -> list[str]:
    """Return a text as lines for a picture, in which nothing wraps by itself."""
    return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False) or [""]
