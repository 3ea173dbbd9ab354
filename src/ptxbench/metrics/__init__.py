"""Numbers from turns: pure functions, no plotting, no files. ``summarise(turns, planned)`` gives one row per cell."""

from ptxbench.metrics.fast_p import value_at
from ptxbench.metrics.limits import LIMITS
from ptxbench.metrics.rows import AtLimit, Curves, NotReached, Plan, Row
from ptxbench.metrics.summarise import summarise

__all__ = ["LIMITS", "AtLimit", "Curves", "NotReached", "Plan", "Row", "summarise", "value_at"]
