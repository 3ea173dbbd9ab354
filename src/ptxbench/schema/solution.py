"""``Solution``: a kernel as FlashInfer-Trace exchanges it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal, Self

from pydantic import field_validator, model_validator

from ptxbench.schema.base import TraceRecord


def check_relative(path: str) -> str:
    """Return the path when it is relative and stays inside its folder; raise ``ValueError`` otherwise."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\\" in path or "\0" in path:
        raise ValueError(f"source path must be relative and stay inside its folder: {path!r}")
    return path


class SourceFile(TraceRecord):
    """One source file: a relative path and its text."""

    path: str
    content: str

    @field_validator("path")
    @classmethod
    def _inside(cls, path: str) -> str:
        return check_relative(path)


class SolutionSpec(TraceRecord):
    """How a solution is built and called. ``entry_point`` is ``file::symbol``."""

    language: Literal["python", "triton", "cpp", "cuda", "tilelang"]
    target_hardware: tuple[str, ...]
    entry_point: str
    dependencies: tuple[str, ...] | None = None
    destination_passing_style: bool = True
    binding: Literal["tvm-ffi", "torch"] | None = None

    @field_validator("entry_point")
    @classmethod
    def _two_parts(cls, value: str) -> str:
        if value.count("::") != 1 or not all(value.split("::")):
            raise ValueError(f"entry_point must be file::symbol: {value!r}")
        return value


class Solution(TraceRecord):
    """A solution to a definition: its sources and how to call them."""

    name: str
    definition: str
    author: str
    spec: SolutionSpec
    sources: tuple[SourceFile, ...]
    description: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        paths = [source.path for source in self.sources]
        if not paths:
            raise ValueError("a solution needs at least one source")
        if len(set(paths)) != len(paths):
            raise ValueError("source paths must be unique")
        if self.spec.entry_point.split("::")[0] not in paths:
            raise ValueError(f"entry file of {self.spec.entry_point!r} is not among the sources")
        return self
