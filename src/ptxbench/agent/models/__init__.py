"""Models: who is asked. ``load_model("replay/FILE" | "openai/NAME")`` finds one by name."""

from __future__ import annotations

from pathlib import Path

from ptxbench.agent.models.message import ContextOverflow, GenerateConfig, Message, Model, Reply, Sampling, Usage
from ptxbench.core.errors import UsageError

__all__ = ["ContextOverflow", "GenerateConfig", "Message", "Model", "Reply", "Sampling", "Usage", "load_model"]


def load_model(name: str, *, base_url: str | None = None) -> Model:
    """Return the model of that name.

    ``replay/FILE`` plays a recording; ``openai/NAME`` asks an OpenAI-compatible endpoint (``base_url``, else
    ``PTXBENCH_MODEL_URL``, else ``OPENAI_BASE_URL``). Raises ``UsageError`` for anything else.
    """
    provider, _, rest = name.partition("/")
    if rest and provider == "replay":
        from ptxbench.agent.models.replay import ReplayModel

        return ReplayModel(Path(rest))
    if rest and provider == "openai":
        from ptxbench.agent.models.openai_compatible import OpenAICompatibleModel

        return OpenAICompatibleModel.from_environment(rest, base_url=base_url)
    raise UsageError(f"unknown model {name!r}", next_step="use replay/FILE or openai/NAME")
