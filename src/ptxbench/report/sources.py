"""What tables and figures are made of."""

from __future__ import annotations

from dataclasses import dataclass

from ptxbench.metrics.frame import TurnFrame
from ptxbench.report.evidence import Evidence


@dataclass(frozen=True)
class Sources:
    """Turns of runs, and evidence files of benchmarks."""

    frame: TurnFrame
    evidence: tuple[Evidence, ...] = ()
