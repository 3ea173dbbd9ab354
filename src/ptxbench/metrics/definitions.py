"""What each figure is, and what it does not establish, as data: reports and pages show it beside the figure."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from ptxbench.schema import Record


class MetricDefinition(Record):
    """One figure: how it is called, its formula, and one line on what nobody may conclude from it."""

    name: str
    formula: str
    does_not_establish: str


@cache
def definitions() -> dict[str, MetricDefinition]:
    """Return the definitions by figure, in the order in which reports explain them."""
    text = resources.files(__package__).joinpath("definitions.toml").read_text(encoding="utf-8")
    return {name: MetricDefinition.model_validate(table) for name, table in tomllib.loads(text).items()}
