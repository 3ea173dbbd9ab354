"""Published headline figures (``headlines.toml``): reference lines beside one's own results, never a part of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ptxbench.schema import Record

Metric = Literal[
    "best_speedup",
    "turn_correctness",
    "target_turn_correctness",
    "correct_turns",
    "target_trajectories",
    "token_ratio",
    "throughput_ratio",
]
"""``correct_turns`` and ``target_trajectories`` (with a correct turn and executed target instructions) are counts out of ``of``;
the others are fractions and ratios. Speedups are over the paper's baselines: cuBLAS 13.1.0, cuDNN 9.20.0."""

COUNTS = frozenset({"correct_turns", "target_trajectories"})

Value = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class HeadlineSource(Record):
    """Who says a figure."""

    id: Literal["paper", "repository"]
    title: str


class Headline(Record):
    """One published figure. What its source does not name is None."""

    metric: Metric
    value: Value | None
    """None: no kernel was correct."""
    of: Annotated[int, Field(ge=1)] | None = None
    model: str | None = None
    arch: Literal["sm_90a", "sm_100a"] | None = None
    task: str | None = None
    language: Literal["cuda", "triton"] | None = None
    arm: str | None = None
    """The knowledge pack's arm, as packs here call it."""
    trajectories: int | None = None
    source: HeadlineSource
    where: str
    """Place in the source."""
    note: str | None = None

    @model_validator(mode="after")
    def _counts_have_a_whole(self) -> Self:
        if (self.metric in COUNTS) != (self.of is not None):
            raise ValueError(f"{self.metric}: a count, and nothing else, is out of something")
        if self.of is not None and (self.value is None or self.value > self.of):
            raise ValueError(f"{self.metric}: {self.value} out of {self.of}")
        return self

    @property
    def subject(self) -> tuple[str | None, ...]:
        """What the figure is about: figures of two sources with the same subject can be held against each other."""
        return (self.metric, self.model, self.arch, self.task, self.language, self.arm)


class _Written(Record):
    """A figure as the file has it."""

    source: Literal["paper", "repository"]
    where: str
    metric: Metric
    value: Value | Literal["none"]
    model: str | None = None
    arch: Literal["sm_90a", "sm_100a"] | None = None
    task: str | None = None
    language: Literal["cuda", "triton"] | None = None
    arm: str | None = None
    note: str | None = None


class _Group(Record):
    """Figures of one table, by architecture, task and model."""

    source: Literal["paper", "repository"]
    where: str
    metric: Metric
    trajectories: int
    of: int | None = None
    values: dict[Literal["sm_90a", "sm_100a"], dict[str, dict[str, Value | Literal["none"]]]]


class _File(Record):
    source: tuple[HeadlineSource, ...]
    figure: tuple[_Written, ...]
    group: tuple[_Group, ...]


@cache
def headlines() -> tuple[Headline, ...]:
    """Return every published figure, in the order of the file: the paper's text first."""
    text = files("ptxbench.report.published").joinpath("headlines.toml").read_text(encoding="utf-8")
    return tuple(_read(_File.model_validate(tomllib.loads(text))))


def reference_lines(metric: Metric, *, arch: str, task: str, language: str = "cuda") -> list[Headline]:
    """Return the figures that may stand as lines beside one's own of a metric, architecture, task and language."""
    return [one for one in headlines() if (one.metric, one.arch, one.task, one.language) == (metric, arch, task, language)]


def disagreements(digits: int = 3) -> list[tuple[Headline, Headline]]:
    """Return the paper's figures with the repository's of the same subject, where they differ in that many decimals."""
    repository = {one.subject: one for one in headlines() if one.source.id == "repository"}
    paper = [one for one in headlines() if one.source.id == "paper" and one.subject in repository]
    return [(one, other) for one in paper if _rounded(one, digits) != _rounded(other := repository[one.subject], digits)]


def _rounded(headline: Headline, digits: int) -> float | None:
    return None if headline.value is None else round(headline.value, digits)


def _read(file: _File) -> Iterator[Headline]:
    sources: Mapping[str, HeadlineSource] = {source.id: source for source in file.source}
    for figure in file.figure:
        written = figure.model_dump(exclude={"source", "value"})
        yield Headline(**written, value=_value(figure.value), source=sources[figure.source])
    for group in file.group:
        for arch, tasks in group.values.items():
            for task, by_model in tasks.items():
                for model, value in by_model.items():
                    yield Headline(
                        metric=group.metric,
                        value=_value(value),
                        of=group.of,
                        model=model,
                        arch=arch,
                        task=task,
                        language="cuda",
                        trajectories=group.trajectories,
                        source=sources[group.source],
                        where=group.where,
                    )


def _value(written: float | Literal["none"]) -> float | None:
    return None if written == "none" else written
