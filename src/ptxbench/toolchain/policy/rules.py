"""The rules by name, and how a breach of one is recorded."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from ptxbench.schema import Profile, Violation

TEXT_LIMIT = 240
"""Longest text of a violation, in characters: one source line can be a megabyte."""

MOST_BREACHES = 100
"""Breaches of one rule that are recorded: every line of a large source may hold one."""


@cache
def table(name: str) -> dict[str, Any]:
    """Return one of the policy's tables (``data/<name>.toml``)."""
    return tomllib.loads(files("ptxbench.toolchain.policy").joinpath("data", f"{name}.toml").read_text(encoding="utf-8"))


def rules() -> dict[str, str]:
    """Return every rule's name and, in one line, what it refuses."""
    return {name: str(text) for name, text in table("rules").items()}


def bounded(breaches: Iterable[Violation]) -> tuple[Violation, ...]:
    """Return the breaches, each once, and of one rule no more than a record needs to show."""
    shown: Counter[tuple[str, int]] = Counter()
    kept: dict[Violation, None] = {}
    for one in breaches:
        kind = one.rule, len(one.profiles)
        if shown[kind] < MOST_BREACHES and one not in kept:
            shown[kind] += 1
            kept[one] = None
    return tuple(kept)


def breach(rule: str, file: str | None, line: int | None, text: str, *, paper: bool = False) -> Violation:
    """Record that ``rule`` is broken at a place. The strict profile refuses every breach, ``paper`` only where it says so."""
    if rule not in rules():
        raise KeyError(rule)
    shown = "".join(one if one.isprintable() or one == "\t" else "\ufffd" for one in text.strip()[: 2 * TEXT_LIMIT])
    if len(shown) > TEXT_LIMIT:
        shown = shown[: TEXT_LIMIT - 1] + "…"
    profiles = (Profile.PAPER, Profile.STRICT) if paper else (Profile.STRICT,)
    return Violation(rule=rule, file=file, line=line, text=shown, profiles=profiles)
