"""Facts about models that published results name (``models.toml``): release, cutoff, reported scores, each with its source."""

from __future__ import annotations

import tomllib
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ptxbench.schema import Record

SourceKind = Literal["vendor", "quoted", "paper", "repository", "third_party"]
"""Whose word a fact is: the vendor's page, somebody who quotes it, the benchmark's paper or repository, or none of these."""


class Known(Record):
    """A fact's source."""

    kind: SourceKind
    source: str


class Day(Known):
    """A day."""

    date: date


class Cutoff(Known):
    """The month up to which a model's training data reach, ``YYYY-MM``."""

    month: Annotated[str, Field(pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$")]


class Score(Known):
    """A score as its vendor reports it: other scaffolds and settings than anyone else's, so no controlled comparison."""

    benchmark: str
    percent: Annotated[float, Field(ge=0, le=100)]


class ModelFacts(Record):
    """What is known of one model. None, and no score, is unknown."""

    name: str
    """As published results call it."""
    also: tuple[str, ...] = ()
    """Other names, as endpoints call it."""
    base: str | None = None
    """The model that it was trained from, whose knowledge it has."""
    released: Day | None = None
    """The first day on which it was to be had; of a checkpoint that the paper trained, the day that its repository gives."""
    knowledge_cutoff: Cutoff | None = None
    score: tuple[Score, ...] = ()


class PtxDocumentation(Day):
    """The day on which an architecture's PTX documentation became public."""

    arch: str


class ModelFile(Record):
    """The file: each model and each architecture once."""

    model: tuple[ModelFacts, ...]
    ptx_documentation: tuple[PtxDocumentation, ...]

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [name.lower() for one in self.model for name in {one.name.lower(), *one.also}]
        archs = [one.arch for one in self.ptx_documentation]
        if len(set(names)) != len(names) or len(set(archs)) != len(archs):
            raise ValueError("a model or an architecture is named twice")
        strangers = {one.base for one in self.model if one.base} - {one.name for one in self.model}
        if strangers:
            raise ValueError(f"nothing is said of the base model {sorted(strangers)[0]}")
        return self


@cache
def model_file() -> ModelFile:
    """Return the bundled facts."""
    text = files("ptxbench.report.published").joinpath("models.toml").read_text(encoding="utf-8")
    return ModelFile.model_validate(tomllib.loads(text))


def models() -> tuple[ModelFacts, ...]:
    """Return every model of the file, in its order."""
    return model_file().model


def find_model(name: str) -> ModelFacts | None:
    """Return what is known of a model by its published name or by that of an endpoint (``PROVIDER/NAME``); None: nothing."""
    wanted = {name.lower(), name.rpartition("/")[2].lower()}
    return next((one for one in models() if wanted & {other.lower() for other in (one.name, *one.also)}), None)
