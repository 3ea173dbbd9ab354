"""Numbers from turns: pure functions, no plotting, no files.

``summarise(turns, planned)`` gives one record per cell and needs no extra. Everything over many runs (curves, trajectories,
budgets, effort, intervals) reads a ``frame.TurnFrame``, in modules of its own: these need Polars (extra ``report``) and are
imported by name, so that this package stays light. ``docs/metrics.md`` lists them.
"""

from ptxbench.metrics.fast_p import value_at
from ptxbench.metrics.limits import LIMITS
from ptxbench.metrics.rows import AtLimit, Curves, NotReached, Plan, Row
from ptxbench.metrics.summarise import summarise

__all__ = ["LIMITS", "AtLimit", "Curves", "NotReached", "Plan", "Row", "summarise", "value_at"]
