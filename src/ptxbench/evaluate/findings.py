"""What the judge reports of a candidate that ran: facts per stage, from which ``verdict`` makes an outcome."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ptxbench.schema import Correctness, Counters, Flag, Latency, Profile, Proof, ReferenceVersion, RunFailure, Sanitizer
from ptxbench.schema.base import Record

BOTH = (Profile.PAPER, Profile.STRICT)
STRICT_ONLY = (Profile.STRICT,)
PAPER_ONLY = (Profile.PAPER,)


class StageFailure(Record):
    """In which stage the candidate's process failed, and how."""

    stage: Literal["load", "compare", "time"]
    failure: RunFailure


class BrokenRule(Record):
    """A rule that a candidate broke. ``evidence`` marks interference with the measurement rather than a wrong value."""

    text: str
    profiles: tuple[Profile, ...]
    evidence: bool = False


def without_repeats(*rules: BrokenRule) -> tuple[BrokenRule, ...]:
    """Return the rules, those that say the same once."""
    return tuple({rule.text: rule for rule in rules}.values())


class Findings(Record):
    """Everything that was found in the candidate's process and its outputs.

    ``compared`` says that every input set of the profile was compared or that the candidate was found wrong before;
    ``reference_failure`` that the task's own reference could not be computed, which says nothing about the candidate.
    """

    compared: bool = False
    failure: StageFailure | None = None
    broken: tuple[BrokenRule, ...] = ()
    reference_failure: str | None = None
    correctness: Correctness | None = None
    latency: Latency | None = None
    sanitizer: Sanitizer | None = None
    checks: tuple[Sanitizer, ...] = ()
    """Memory checkers on request: no verdict follows from them."""
    proof: Proof | None = None
    counters: Counters | None = None
    """On request: no verdict follows from them."""
    debug: RunFailure | None = None
    """What is known of a failure beyond ``failure``: where an illegal access happens, what a hung kernel waits for."""
    reference_us: float | None = None
    """The reference's latency, where that alone was asked for."""
    reference_version: ReferenceVersion | None = None
    flags: tuple[Flag, ...] = ()
    seconds: dict[str, float] = Field(default_factory=dict)
    reference: str | None = None
