"""Exposure: how long the documentation of an architecture's PTX was public before a model's training data end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from ptxbench.report.published.models import Cutoff, Day, ModelFacts, PtxDocumentation, find_model, model_file
from ptxbench.schema import Record


class Exposure(Record):
    """One model on one architecture. Exposure is an upper bound of what could be learnt from, and says nothing of what was."""

    model: str
    arch: str
    ptx_documented: PtxDocumentation
    knowledge_cutoff: Cutoff | None
    """The model's own, else its base model's."""
    released: Day | None
    months: int | None
    """Whole calendar months from the documentation's to the cutoff's: 0 is the same month, less is never; None: cutoff unknown."""
    at_most_months: int | None
    """The same up to the release, which no cutoff comes after; None: release unknown."""

    @property
    def text(self) -> str:
        """The exposure in words."""
        if self.months is not None:
            return "none" if self.months < 0 else "less than a month" if self.months == 0 else f"{self.months} months"
        return "unknown" if self.at_most_months is None else f"unknown, at most {max(self.at_most_months, 0)} months"


def exposure_table(names: Sequence[str] | None = None) -> tuple[Exposure, ...]:
    """Return a line for each model and each architecture whose documentation is dated; ``names`` None: every model known.

    A model of which nothing is known has a line all the same, with what is unknown as None.
    """
    file = model_file()
    chosen = file.model if names is None else [find_model(name) or ModelFacts(name=name) for name in names]
    return tuple(_exposure(model, documented) for model in chosen for documented in file.ptx_documentation)


def _exposure(model: ModelFacts, documented: PtxDocumentation) -> Exposure:
    base = find_model(model.base) if model.base else None
    own = base or model
    cutoff = model.knowledge_cutoff or own.knowledge_cutoff
    released = own.released
    return Exposure(
        model=model.name,
        arch=documented.arch,
        ptx_documented=documented,
        knowledge_cutoff=cutoff,
        released=model.released,
        months=None if cutoff is None else _months(documented.date, date.fromisoformat(f"{cutoff.month}-01")),
        at_most_months=None if released is None else _months(documented.date, released.date),
    )


def _months(start: date, end: date) -> int:
    return (end.year - start.year) * 12 + end.month - start.month
