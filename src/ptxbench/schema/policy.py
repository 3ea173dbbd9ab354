"""``PolicyVerdict``: whether a candidate keeps the rules of the protocol's section 1."""

from __future__ import annotations

from ptxbench.schema.base import Record
from ptxbench.schema.outcome import Profile


class Violation(Record):
    """One place that breaks a rule: which rule, where, the source line, and the profiles that refuse it."""

    rule: str
    file: str | None
    line: int | None
    text: str
    profiles: tuple[Profile, ...]


class PolicyVerdict(Record):
    """The verdict of one profile. ``violations`` are refused by it; ``flags`` were seen and are refused by the other one only."""

    profile: Profile
    ok: bool
    violations: tuple[Violation, ...]
    flags: tuple[Violation, ...] = ()
