"""The opening of a trajectory: what its first request sends, in one place for those who ask and those who only show it."""

from __future__ import annotations

from ptxbench.agent.config import RunConfig
from ptxbench.agent.engine.places import PlannedTask
from ptxbench.agent.models.message import Message
from ptxbench.agent.prompt import system_message, user_message
from ptxbench.schema import Baseline


def opening_messages(
    config: RunConfig, planned: PlannedTask, *, variant: str, device: str | None, baseline: Baseline | None = None
) -> list[Message]:
    """Return the system message and the task.

    ``device``: the device table's name of where candidates run, None for nowhere. ``baseline``: the reference's latency there.
    """
    known = planned.knowledge
    system = system_message(
        planned.task,
        language=planned.language,
        turns=config.turns,
        profile=config.profile,
        pack=known.rendering(variant, device) if known is not None else None,
        guidance=known.guidance if known is not None else None,
    )
    return [system, user_message(planned.task, profile=config.profile, detail=config.feedback, device=device, baseline=baseline)]
