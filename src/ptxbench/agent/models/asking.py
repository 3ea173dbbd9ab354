"""One request to a model, made again within the bounds of a policy: the same for every way to reach a provider."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ptxbench.agent.models.message import ContextOverflow, Reply
from ptxbench.agent.retry import RetryPolicy
from ptxbench.core.errors import ModelError

NEXT_STEP = "check the endpoint, then run again to resume"
"""What to do where nothing better is known."""


@dataclass(frozen=True)
class Failure:
    """A request that brought no answer. ``text`` is for people and holds no credentials."""

    text: str
    retry: bool
    overflow: bool = False
    asked_s: float | None = None
    tries: int | None = None
    """How often to try at most, where that is less often than the policy would."""
    next_step: str = NEXT_STEP


async def persist(
    name: str, ask: Callable[[], Awaitable[Reply | Failure]], retry: RetryPolicy, notice: Callable[[str], None]
) -> Reply:
    """Ask once, and again within the retry policy; ``notice`` is told of each wait.

    Raises ``ModelError`` or ``ContextOverflow``.
    """
    failures = 0
    started = time.monotonic()
    while True:
        answer = await ask()
        if isinstance(answer, Reply):
            return answer
        failures += 1
        if answer.overflow:
            raise ContextOverflow(f"{name}: {answer.text}")
        wait_s = retry.wait_s(failures, answer.asked_s)
        elapsed_s = time.monotonic() - started
        late = retry.refuses(wait_s, elapsed_s)
        if not answer.retry or late or failures >= min(retry.attempts, answer.tries or retry.attempts):
            tries = f"{failures} tries" if failures > 1 else ""
            tries += f"{' in' if tries else 'after'} {elapsed_s:.0f} s" if answer.retry and late else ""
            raise ModelError(f"{name}: {answer.text}{f' ({tries})' if tries else ''}", next_step=answer.next_step)
        notice(f"{name}: {answer.text}; next try in {wait_s:.0f} s")
        await asyncio.sleep(wait_s)
