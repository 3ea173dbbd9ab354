"""Spans of time in words for people."""

from __future__ import annotations


def seconds_text(seconds: float) -> str:
    """Return seconds with two digits that say something and never an exponent: ``0.56 s``, ``4.1 s``, ``62 s``, ``1240 s``."""
    digits = 2 if seconds < 1 else 1 if seconds < 10 else 0
    return f"{seconds:.{digits}f} s"
