"""Mutated builds: a candidate's own source and flags, and device code in which one thing is different."""

from __future__ import annotations

import sys
from importlib.resources import files
from typing import Literal

Mutation = Literal["zero_mma"]
"""What is different: ``zero_mma``, that every matrix instruction of the target gives zero (``zero_mma.py``)."""

REPORT = ".zeroed.json"
"""Suffix of the report that the rewriting leaves beside the PTX: how many instructions it rewrote, by PTX opcode."""


def environment(mutation: Mutation | None) -> dict[str, str]:
    """Return what makes ``nvcc_ptxas.sh`` rewrite the PTX before ptxas gets it."""
    if mutation is None:
        return {}
    script = files("ptxbench.toolchain") / f"{mutation}.py"
    return {"PTXBENCH_MUTATION": str(script), "PTXBENCH_PYTHON": sys.executable}
