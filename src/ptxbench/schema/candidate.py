"""``Candidate``: the thing that travels through the house: sources, entry point, language, target."""

from __future__ import annotations

from typing import Self

from pydantic import field_validator, model_validator

from ptxbench.core.canonical import content_hash
from ptxbench.schema.base import Record
from ptxbench.schema.outcome import Language
from ptxbench.schema.solution import check_relative


class Source(Record):
    """One source file of a candidate: a path relative to the candidate's folder, and its text."""

    path: str
    content: str

    @field_validator("path")
    @classmethod
    def _inside(cls, path: str) -> str:
        return check_relative(path)


class Candidate(Record):
    """A kernel as a model or an engineer wrote it. ``entry_point`` is ``file::symbol``."""

    sources: tuple[Source, ...]
    entry_point: str
    language: Language
    arch: str

    @model_validator(mode="after")
    def _check(self) -> Self:
        paths = [source.path for source in self.sources]
        if len(set(paths)) != len(paths):
            raise ValueError("source paths must be unique")
        if self.entry_file not in paths:
            raise ValueError(f"entry file of {self.entry_point!r} is not among the sources")
        return self

    @property
    def entry_file(self) -> str:
        """Path of the source that is compiled (the others are included by it)."""
        return self.entry_point.split("::")[0]

    @property
    def symbol(self) -> str:
        """Name of the exported function."""
        return self.entry_point.split("::")[-1]

    @property
    def hash(self) -> str:
        """Content hash over all sources, the entry point, the language and the architecture."""
        return content_hash(self)
