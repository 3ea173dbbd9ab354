"""Which included headers are refused, and the marker headers that make an include visible."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from ptxbench.toolchain.policy.rules import table


@dataclass(frozen=True)
class Refusal:
    """Why a header is refused, and whether the published rule (``paper``) refuses it too."""

    rule: str
    paper: bool


def refused_headers() -> Path:
    """Return the folder of marker headers, to be put first in the include path (``-I``).

    A marker includes the real header where there is one, so that a candidate which only strict refuses still compiles.
    """
    return Path(str(files("ptxbench.toolchain.policy") / "refused"))


@cache
def _entries() -> tuple[tuple[tuple[str, ...], tuple[re.Pattern[str], ...], Refusal], ...]:
    return tuple(
        (tuple(entry["files"]), tuple(re.compile(text) for text in entry["spelled"]), Refusal(entry["rule"], entry["paper"]))
        for entry in table("headers")["header"]
    )


def opened(path: str) -> Refusal | None:
    """Judge a header by the path that the preprocessor opened."""
    return _opened(posixpath.normpath(path))


@cache
def _opened(path: str) -> Refusal | None:
    for names, _, refusal in _entries():
        if any(path == name or path.endswith("/" + name) for name in names):
            return refusal
    return None


def spelled(name: str) -> Refusal | None:
    """Judge a header by its name in the candidate's own include (without delimiters)."""
    name = posixpath.normpath(name)
    for names, patterns, refusal in _entries():
        if any(name == known or name.endswith("/" + known) for known in names) or any(pattern.match(name) for pattern in patterns):
            return refusal
    return None
