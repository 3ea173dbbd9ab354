"""When a failed request is worth another try, and how long to wait before it."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class RetryPolicy:
    """Bounds of the retries of one request: at most ``attempts`` requests, waits that double up to ``longest_s``."""

    attempts: int = 8
    first_s: float = 1.0
    longest_s: float = 60.0

    def wait_s(self, failures: int, asked_s: float | None = None) -> float:
        """Return the wait after that many failures: what the server asked for, else exponential with jitter; both bounded."""
        if asked_s is not None:
            return min(max(asked_s, 0.0), self.longest_s)
        step = min(self.first_s * 2.0 ** min(failures - 1, 16), self.longest_s)
        return step * random.uniform(0.5, 1.0)


@dataclass(frozen=True)
class Failure:
    """A request that brought no answer. ``text`` is for people and holds no credentials."""

    text: str
    retry: bool
    overflow: bool = False
    asked_s: float | None = None
