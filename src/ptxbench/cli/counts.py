"""Numbers of things, for people."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """Return a count with the word for one of what is counted, which takes an s for more and for none."""
    return f"{count} {what}{'' if count == 1 else 's'}"
