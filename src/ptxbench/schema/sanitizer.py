"""Findings of the memory checkers."""

from __future__ import annotations

from typing import Literal

from ptxbench.schema.base import Record


class SanitizerFinding(Record):
    """One finding of a compute-sanitizer tool."""

    kind: str
    kernel: str | None
    file: str | None
    line: int | None
    address: str | None
    bytes: int | None
    block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    text: str


class Sanitizer(Record):
    """One tool's run. ``unknown`` means that it could not finish, which is never the candidate's outcome.

    ``why`` says what stopped it then, and is None otherwise.
    """

    tool: Literal["memcheck", "racecheck", "synccheck", "initcheck"]
    status: Literal["clean", "findings", "unknown"]
    findings: tuple[SanitizerFinding, ...]
    why: str | None = None
