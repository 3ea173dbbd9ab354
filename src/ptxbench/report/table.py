"""``Table``: what a result table says, before anyone decides how it looks."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field

from ptxbench.metrics.definitions import MetricDefinition, definitions
from ptxbench.schema import Record

Format = Literal["text", "count", "percent", "speedup", "ratio", "number"]
"""How a column's values are written. ``percent`` values are shares (0 to 1) in the record, and hundredths on paper."""

UNITS = {"percent": "%", "speedup": "x baseline", "ratio": "x"}
"""Units that go with a format."""

Number = int | float | None


class Pair(Record):
    """A figure in both forms, at each of its column's turn limits (once for a column without limits).

    On paper the first line is ``target`` (executed target instructions are asked for as well), the second, in parentheses,
    ``unrestricted``. ``target`` is None where the figure has no such form, its values are None where the architecture has no
    target instructions.
    """

    target: tuple[Number, ...] | None
    unrestricted: tuple[Number, ...]
    undecided: tuple[int, ...] = ()
    """Turns at each limit that could not be decided: rates then are lower bounds, and None where no turn was decided."""
    unproven: tuple[int, ...] = ()
    """Correct turns at each limit whose proof is unknown: the target rate then is a lower bound."""
    target_ci95: tuple[tuple[float, float] | None, ...] = ()
    """95 % intervals of ``target`` at each limit, by bootstrap over trajectories; empty where the figure has none."""
    ci95: tuple[tuple[float, float] | None, ...] = ()
    """The same of ``unrestricted``."""


Value = str | bool | int | float | Pair | None


class Column(Record):
    """One column: what it is called, its unit, and the metrics that its values are of."""

    key: str
    title: str
    format: Format = "text"
    unit: str | None = None
    limits: tuple[int, ...] = ()
    """Turn limits that its pairs have values at."""
    metrics: dict[str, MetricDefinition] = Field(default_factory=dict)
    """What its values are of, by the names of ``metrics.definitions``; the target form last."""

    @classmethod
    def of(cls, key: str, title: str, format: Format, *metrics: str, unit: str | None = None, limits: tuple[int, ...] = ()) -> Self:
        """Return a column of metrics, with their definitions and what these do not establish."""
        found = {name: definitions()[name] for name in metrics}
        return cls(key=key, title=title, format=format, unit=unit or UNITS.get(format), limits=limits, metrics=found)


class Line(Record):
    """One row: a value for each column's key; a missing one is unknown."""

    values: dict[str, Value]
    source: str | None = None
    """Where a published figure comes from; None for one's own."""


class Table(Record):
    """A table of rows that may stand beside each other (protocol section 9).

    ``published`` are rows of figures that others reported, for comparison by eye: they are in no row of ``rows``.
    """

    kind: str
    title: str
    facts: dict[str, str]
    """What all rows have in common: profile, architecture, device, pack, baseline with its version and the rest of the key."""
    columns: tuple[Column, ...]
    rows: tuple[Line, ...]
    published: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_pairs(self) -> bool:
        """Whether cells have two lines."""
        return any(isinstance(value, Pair) and value.target is not None for line in self.rows for value in line.values.values())
