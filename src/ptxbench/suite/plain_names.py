"""What names of other people's records may look like: they become file names, keys of reports and ``NAME@UUID``."""

from __future__ import annotations

LONGEST = 200


def name_problem(kind: str, name: str) -> str | None:
    """Return what is wrong with a definition's name, an ``op_type`` or a UUID; None when it is fit to be a file's name."""
    if not name or name in (".", "..") or len(name.encode("utf-8", "replace")) > LONGEST:
        return f"the {kind} {name[:40]!r} is empty, dots or longer than {LONGEST} bytes"
    odd = next((character for character in name if character in "/\\@" or not character.isprintable()), None)
    return None if odd is None else f"the {kind} {name!r} holds {odd!r}, which names of tasks may not"
