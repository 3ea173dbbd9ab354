"""Which imported symbols and needed libraries are refused, by name."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from ptxbench.toolchain.policy.rules import table


@cache
def driver_entries() -> frozenset[str]:
    """Return the driver functions that a candidate may import or look up."""
    text = files("ptxbench.toolchain.policy").joinpath("data", "driver_entries.inc").read_text(encoding="utf-8")
    return frozenset(re.findall(r'^"(\w+)",$', text, re.MULTILINE))


@cache
def _patterns() -> tuple[tuple[tuple[str, re.Pattern[str]], ...], re.Pattern[str]]:
    data = table("symbols")
    refused = tuple((entry["rule"], _any(entry["patterns"])) for entry in data["refused"])
    allowed = [pattern for group in data["allowed"].values() for pattern in group]
    return refused, _any([*allowed, *driver_entries()])


def _any(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


@lru_cache(maxsize=1 << 16)
def imported(name: str) -> str | None:
    """Return the rule that an undefined symbol breaks, or None when it is on the allow-list."""
    if name in driver_entries():
        return None
    refused, allowed = _patterns()
    for rule, pattern in refused:
        if pattern.fullmatch(name):
            return rule
    if allowed.fullmatch(name):
        return None
    return "driver_entry" if re.fullmatch(r"cu[A-Z][a-z]\w*", name) else "unknown_import"


@lru_cache(maxsize=1 << 16)
def called(name: str) -> str | None:
    """Return the rule that a call of ``name`` breaks, as far as the name alone tells (for sources that did not compile)."""
    refused, _ = _patterns()
    if name in driver_entries():
        return None
    return next((rule for rule, pattern in refused if rule not in _COMMON_WORDS and pattern.fullmatch(name)), None)


_COMMON_WORDS = frozenset({"process_control"})
"""Rules whose names are also ordinary names of variables and methods (``pipe``, ``send``, ``connect``)."""


@cache
def _named(section: str) -> re.Pattern[str]:
    return _any(table("symbols")[section]["patterns"])


def needed(library: str) -> bool:
    """Return whether a candidate may need this library."""
    return _named("needed").fullmatch(library) is not None


def overridden(name: str) -> bool:
    """Return whether a candidate that defines this name, visibly, puts itself in the place of something of ours."""
    return _named("overridden").fullmatch(name) is not None


@cache
def _reserved() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((entry["rule"], _any(entry["patterns"])) for entry in table("symbols")["reserved"])


@lru_cache(maxsize=1 << 16)
def reserved(name: str) -> str | None:
    """Return the rule that a candidate breaks by saying this name, which only the compiler and the linker may use."""
    return next((rule for rule, pattern in _reserved() if pattern.fullmatch(name)), None)
