"""How often something that failed is tried again, and how long to wait before it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class RetryPolicy:
    """Bounds of retries: at most ``attempts`` tries in all, with waits that double from ``first_s`` up to ``longest_s``.

    No wait begins that would end later than ``in_all_s`` after the first try: who is told again and again to come back later (429)
    gives up by the clock as well.
    """

    attempts: int = 8
    first_s: float = 1.0
    longest_s: float = 60.0
    in_all_s: float = 3600.0

    def wait_s(self, failures: int, asked_s: float | None = None) -> float:
        """Return the wait after that many failures: what the server asked for, else exponential with jitter; both bounded."""
        if asked_s is not None and not math.isnan(asked_s):
            return min(max(asked_s, 0.0), self.longest_s)
        step = min(self.first_s * 2.0 ** min(failures - 1, 16), self.longest_s)
        return step * random.uniform(0.5, 1.0)

    def refuses(self, wait_s: float, elapsed_s: float) -> bool:
        """Return whether a wait would end too late; ``elapsed_s`` is the time since the first try began."""
        return elapsed_s + wait_s > self.in_all_s
