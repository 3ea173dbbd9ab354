"""Correctness records: how outputs compare with the reference, and a mismatch that can be repaired from."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ptxbench.schema.base import Record


class WorstElement(Record):
    """The element with the largest error. Values are None when they are not finite (``got_text`` says what they are)."""

    index: tuple[int, ...]
    expected: float | None
    got: float | None
    got_text: str | None = None


class MismatchPattern(Record):
    """What a wrong output looks like: ``kind`` is a stable name, ``text`` one line for people, ``details`` the numbers."""

    kind: str
    text: str
    details: dict[str, Any] = Field(default_factory=dict)


class OutputCheck(Record):
    """One output over all input sets: largest errors, how many elements fail the element rule, how many were never written."""

    name: str
    max_abs: float | None
    max_rel: float | None
    mismatches: int
    worst: WorstElement | None
    pattern: MismatchPattern | None
    unwritten: int
    frobenius: float | None = None


class InputSetCheck(Record):
    """One input set (all outputs together) under both profiles."""

    name: str
    seed: int
    max_abs: float | None
    max_rel: float | None
    mismatches: int
    elements: int
    paper: bool
    strict: bool
    frobenius: float | None = None


class Correctness(Record):
    """What the compare stage found."""

    sets: tuple[InputSetCheck, ...]
    outputs: tuple[OutputCheck, ...]
    inputs_modified: bool
    timed_outputs_checked: int
    guard_bytes_changed: int = 0
