"""What to do about an ``inspect/PROVIDER/NAME`` that refuses or cannot be used: which variable, which address, which provider."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from difflib import get_close_matches

from ptxbench.agent.models.address import EXAMPLE, has_version

CHAT_COMPLETIONS = "openai-api"
"""Inspect's provider for any server with chat completions: ``openai-api/SERVICE/NAME``."""

KNOWN = (
    *("anthropic", "azureai", "bedrock", "cloudflare", "deepseek", "fireworks", "google", "grok", "groq", "hf", "mistral"),
    *("ollama", "openai", CHAT_COMPLETIONS, "openrouter", "perplexity", "sambanova", "sglang", "together", "vllm"),
)
"""Names of providers in Inspect 0.3.285, to guess from what was meant: there may be more, and Inspect decides."""

ANY_SERVER = f"for any server with chat completions use inspect/{CHAT_COMPLETIONS}/SERVICE/NAME"
SERVICE = "SERVICE is a word of your choice, and SERVICE_BASE_URL and SERVICE_API_KEY are to be set"

_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_INSTALL = re.compile(r"pip install [\w.\[\]-]+")


def doubt(name: str, status: int | None, *, key_variables: Sequence[str], address: str | None) -> str | None:
    """Return the question that a refusal raises about how a model was named, None where it raises none.

    ``name`` is Inspect's, ``PROVIDER/NAME``; ``key_variables`` are those that its provider reads a key from; ``address`` is where
    it asks, None where the provider decides.
    """
    provider, _, model = name.partition("/")
    if status in (401, 403):
        held = [variable for variable in key_variables if os.environ.get(variable)]
        if held:
            return f"does {held[0]} hold the right key?"
        return f"is {' or '.join(key_variables[:2])} set?" if key_variables else f"are the credentials of {provider} set?"
    if status != 404:
        return None
    if provider == "openai" and (address or os.environ.get("OPENAI_BASE_URL")):
        # Most models are asked by the Responses API there, which other servers do not have.
        return f"is this OpenAI's own server? If not, {ANY_SERVER}"
    if address is not None and not has_version(address):
        where = f"{_service(name)}_BASE_URL or --base-url" if provider == CHAT_COMPLETIONS else "--base-url"
        return f"is the address right (does it end in /v1?): {where}"
    return f"is {model.partition('/')[2] if provider == CHAT_COMPLETIONS else model} the name of a model there?"


def remedy(name: str, said: str) -> str:
    """Return what to do about a model that Inspect cannot make, given its words."""
    provider = name.partition("/")[0]
    if provider == CHAT_COMPLETIONS and name.count("/") < 2:
        return f"{ANY_SERVER}: {SERVICE}"
    if command := _INSTALL.search(said):
        return command[0]
    if provider == CHAT_COMPLETIONS:
        service = _service(name)
        unset = [one for one in (f"{service}_BASE_URL", f"{service}_API_KEY") if not os.environ.get(one)]
        if unset:
            examples = {f"{service}_BASE_URL": f" (such as {EXAMPLE})", f"{service}_API_KEY": " (any word where no key is wanted)"}
            return f"set {' and '.join(one + examples[one] for one in unset)}"
    if variables := list(dict.fromkeys(_VARIABLE.findall(said))):
        return f"set {' or '.join(variables[:2])}"
    if provider not in KNOWN:
        close = " or ".join(f"inspect/{one}/…" for one in get_close_matches(provider, KNOWN, n=2))
        return f"did you mean {close}? If not, {ANY_SERVER}" if close else ANY_SERVER
    return "see Inspect's page on that provider: its package, and the variable that holds its key"


def _service(name: str) -> str:
    """Return what the variables of an ``openai-api/SERVICE/NAME`` begin with."""
    return name.split("/")[1].upper().replace("-", "_")
