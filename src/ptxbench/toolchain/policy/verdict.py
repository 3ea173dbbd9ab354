"""From breaches to the verdict of one profile."""

from __future__ import annotations

from collections.abc import Iterable

from ptxbench.schema import PolicyVerdict, Profile, Violation


def verdict(violations: Iterable[Violation], profile: Profile) -> PolicyVerdict:
    """Judge under one profile: what it refuses are ``violations``, what only the other one refuses are ``flags``.

    The same breach seen by several means (both passes, source and binary) is listed once, in order of file and line.
    """
    unique: dict[tuple[str, str | None, int | None], Violation] = {}
    for violation in violations:
        key = (violation.rule, violation.file, violation.line if violation.line is not None else hash(violation.text))
        known = unique.get(key)
        if known is None or len(violation.profiles) > len(known.profiles):
            unique[key] = violation
    ordered = sorted(unique.values(), key=lambda one: (one.file is None, one.file or "", one.line or 0, one.rule))
    refused = tuple(one for one in ordered if profile in one.profiles)
    flags = tuple(one for one in ordered if profile not in one.profiles)
    return PolicyVerdict(profile=profile, ok=not refused, violations=refused, flags=flags)
