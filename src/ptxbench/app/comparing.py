"""Compare two run directories, or two folders of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ptxbench.app.reporting import runs_in
from ptxbench.metrics.bootstrap import SEED
from ptxbench.report.compare import Comparison, compare
from ptxbench.report.compare_sides import load_side


def compare_runs(first: Path, second: Path, *, across: Sequence[str] = (), force: bool = False, seed: int = SEED) -> Comparison:
    """Return the comparison. Raises ``NotComparable`` and the rest that ``compare`` and ``load_runs`` do."""
    sides = [load_side(runs_in(folder)) for folder in (first, second)]
    return compare(*sides, across=across, force=force, seed=seed)
