"""Caps on what a run may use, and the count that is held against them. No request begins once a cap is reached."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ptxbench.agent.models.message import Usage
from ptxbench.schema import Record

FOR_THIS_CALL = "for this call"
"""Stands in what is said of a cap that the next call begins anew, and of no other."""


class Caps(Record):
    """Limits of a run, or of a whole sweep; None: no limit. What earlier calls used counts, except for ``turns_now``."""

    cost_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    total_tokens: Annotated[int, Field(ge=1)] | None = None
    """Input and output together."""
    turns_now: Annotated[int, Field(ge=1)] | None = None
    """Requests that this call may begin."""


class Spending:
    """Counts what was used. One count may serve many runs at once."""

    def __init__(self, caps: Caps | None = None) -> None:
        self.caps = caps or Caps()
        self.cost_usd = 0.0
        self.tokens = 0
        self.requests = 0
        """Requests that this call has begun."""
        self._unpriced = 0
        self._uncounted = 0

    def refuses(self) -> str | None:
        """Return which cap forbids another request, None when none does."""
        caps = self.caps
        if caps.turns_now is not None and self.requests >= caps.turns_now:
            turns = "1 turn" if caps.turns_now == 1 else f"{caps.turns_now} turns"
            return f"the cap of {turns} {FOR_THIS_CALL} is reached"
        if caps.total_tokens is not None:
            if self._uncounted:
                return "the token cap cannot be kept: the endpoint does not say how many tokens its replies took"
            if self.tokens >= caps.total_tokens:
                tokens = "1 token" if caps.total_tokens == 1 else f"{caps.total_tokens} tokens"
                return f"the cap of {tokens} is reached ({self.tokens} used)"
        if caps.cost_usd is not None:
            if self._unpriced:
                return "the cost cap cannot be kept: what a reply cost is unknown (name the model's price with --prices)"
            if self.cost_usd >= caps.cost_usd:
                return f"the cap of {caps.cost_usd:g} USD is reached ({self.cost_usd:.4f} spent)"
        return None

    def begin(self) -> None:
        """Count a request that begins."""
        self.requests += 1

    def add(self, usage: Usage) -> None:
        """Count what a reply used. A part that the provider does not name makes the whole unknown."""
        self.tokens += (usage.input or 0) + (usage.output or 0)
        self._uncounted += usage.input is None or usage.output is None
        self.cost_usd += usage.cost_usd or 0.0
        self._unpriced += usage.cost_usd is None
