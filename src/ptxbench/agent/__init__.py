"""MiniPTXAgent: asks a model for kernels turn by turn, has them judged, and keeps every step.

``await run(RunConfig(...), suite, evaluator_for, out)`` makes a run directory, or resumes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxbench.agent.config import RunConfig
    from ptxbench.agent.engine.run import RunSummary, run

__all__ = ["RunConfig", "RunSummary", "run"]

_HOMES = {
    "RunConfig": "ptxbench.agent.config",
    "RunSummary": "ptxbench.agent.engine.run",
    "run": "ptxbench.agent.engine.run",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
