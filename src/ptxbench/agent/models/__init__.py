"""Models: who is asked. ``load_model("replay/FILE" | "openai/NAME" | "inspect/PROVIDER/NAME")`` finds one by name."""

from __future__ import annotations

from pathlib import Path

from ptxbench.agent.models.message import ContextOverflow, GenerateConfig, Message, Model, Reply, Sampling, Usage
from ptxbench.core.errors import UsageError

__all__ = ["ContextOverflow", "GenerateConfig", "Message", "Model", "Reply", "Sampling", "Usage", "load_model"]


def load_model(name: str, *, base_url: str | None = None, key_variable: str | None = None) -> Model:
    """Return the model of that name.

    ``replay/FILE`` plays a recording; ``openai/NAME`` asks an OpenAI-compatible endpoint (``base_url``, else
    ``PTXBENCH_MODEL_URL``, else ``OPENAI_BASE_URL``); ``inspect/PROVIDER/NAME`` asks a provider that Inspect reaches (``base_url``,
    else the provider's own variable). ``key_variable`` names the environment variable that holds an ``openai/`` endpoint's key.
    Raises ``UsageError`` for anything else.
    """
    provider, _, rest = name.partition("/")
    if key_variable is not None and provider != "openai":
        raise UsageError(f"{name} takes no key_variable: that is for openai/ models", next_step="leave it out")
    if rest and provider == "replay":
        if base_url is not None:
            raise UsageError(f"{name} is a recording and has no address", next_step="leave --base-url out")
        from ptxbench.agent.models.replay import ReplayModel

        return ReplayModel(Path(rest))
    if rest and provider == "openai":
        from ptxbench.agent.models.openai_compatible import OpenAICompatibleModel

        return OpenAICompatibleModel.from_environment(rest, base_url=base_url, key_variable=key_variable)
    if provider == "inspect" and "/" in rest.strip("/"):
        from ptxbench.agent.models.inspect_model import InspectModel

        return InspectModel.named(rest, base_url=base_url)
    raise UsageError(f"unknown model {name!r}", next_step=_meant(name))


def _meant(name: str) -> str:
    """Return what a name that is none may have been meant to be, and the forms that there are."""
    from ptxbench.agent.models.provider_hints import KNOWN

    provider, slash, rest = name.partition("/")
    guess = None
    if rest and provider in KNOWN:
        guess = f"inspect/{name}"
    elif name and not slash and name not in ("openai", "inspect", "replay"):
        guess = f"openai/{name}"
    forms = "openai/NAME (any OpenAI-compatible endpoint), inspect/PROVIDER/NAME or replay/FILE"
    return f"use {forms}" if guess is None else f"did you mean {guess}? Use {forms}"
