"""How to add an optional part: one answer for every message that needs it."""

from __future__ import annotations

from pathlib import Path

CLONE = Path(__file__).resolve().parents[3]
"""Where the project's files lie when this runs from a clone."""


def how_to_install(extra: str) -> str:
    """Return how to add an extra: into the clone that this runs from, or into wherever the package was installed."""
    if (CLONE / "pyproject.toml").is_file():
        return f"in the clone: .venv/bin/pip install -e '.[{extra}]'"
    return f"pip install 'ptxbench[{extra}]'"
