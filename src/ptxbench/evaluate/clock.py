"""Hold what a candidate's process claims about its own time against what the judge sees from outside.

The judge sees two clocks that no candidate can turn: the wall time between question and answer, and the processor time that the
kernel books on the process meanwhile. Both, less what asking costs, bound the true duration of a call from above, and disturbances
rarely raise both; the lesser one is what was *seen*. What asking costs is measured before any code of the candidate is loaded,
so that no candidate can make it look dear.

A candidate may lie in some calls and be honest in others. So no claim is compared with its own call: the claimed latency as a
whole is compared with the quickest call that was seen, and no call can be quicker than the work that it does. Results that are
kept or prepared make known inputs quick; they show on inputs that were drawn at random for this one evaluation.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from ptxbench.evaluate.findings import STRICT_ONLY, BrokenRule
from ptxbench.evaluate.sandbox.child import Answer
from ptxbench.schema import Flag

SUSPICIOUS, SUSPICIOUS_US = 0.25, 20.0
"""Time seen in the quickest call beyond the claim, as a part of it and beyond that, from which on the clocks disagree: a flag."""
IMPOSSIBLE, IMPOSSIBLE_US = 4.0, 200.0
"""The same from which on no disturbance explains it (in each of several attempts): evidence of interference."""
COLD = 2.0
"""A batch walks through more memory than single calls do, and may be this much slower before that is a flag."""
KEPT, KEPT_US = 1.0, 50.0
"""Time seen in every call on inputs of this evaluation alone beyond the claim, from which on results may be being kept: a flag.
Beyond the bounds above it is evidence, too."""
DISAGREES = "clock_disagrees"
"""The flag of a latency that is not to be trusted."""


@dataclass
class ClockCheck:
    """Collects answers: to single calls (the samples), to batches over several slots, to calls on inputs never seen before.

    Args:
        asking: answers to requests that called nothing, from before the candidate was loaded.
        cores: how many cores the process may use; its processor time is spread over them.

    """

    asking: Sequence[Answer]
    cores: int = 1
    single_us: list[float] = field(default_factory=list)
    unseen_us: list[float] = field(default_factory=list)
    between_us: list[float] = field(default_factory=list)
    batch_us: list[float] = field(default_factory=list)
    unclaimed_us: list[float] = field(default_factory=list)

    def call(self, answer: Answer, *, unseen: bool = False) -> None:
        """Take the answer to one call; ``unseen`` says that nobody could know its inputs before."""
        (self.unseen_us if unseen else self.single_us).append(self._seen_us(answer))
        if answer.idle_cpu_ns is not None:
            self.between_us.append(answer.idle_cpu_ns / 1e3)

    def batch(self, answer: Answer) -> None:
        """Take the answer to calls on several slots, where the cost of asking is spread: kept per call."""
        calls = len(answer.claimed_ns)
        self.batch_us.append(self._seen_us(answer) / calls)
        self.unclaimed_us.append(max(0.0, self._seen_us(answer) - sum(answer.claimed_ns) / 1e3) / calls)

    def _seen_us(self, answer: Answer) -> float:
        """Return how long a request took at most, by the clock that was disturbed less."""
        seen = answer.wall_ns - min((one.wall_ns for one in self.asking), default=0)
        known = [one.cpu_ns for one in self.asking if one.cpu_ns is not None]
        if answer.cpu_ns is not None and known:
            seen = min(seen, answer.cpu_ns // self.cores - min(known))
        return max(0.0, seen / 1e3)

    def excess_us(self, claimed_us: float) -> float:
        """Return how much longer than claimed the quickest call took, or a batch beyond its own claims, whichever is more."""
        quickest = min([*self.single_us, *self.unseen_us], default=0.0) - claimed_us
        return max(0.0, quickest, statistics.median(self.unclaimed_us) if self.unclaimed_us else 0.0)

    def is_settled(self, claimed_us: float) -> bool:
        """Whether the clocks agree, so that further batches could show nothing new."""
        return claimed_us > 0 and self.excess_us(claimed_us) <= SUSPICIOUS * claimed_us + SUSPICIOUS_US

    def seems_to_keep(self, claimed_us: float) -> bool:
        """Whether every single call on unseen inputs was much slower than claimed."""
        return min(self.unseen_us, default=0.0) - claimed_us > KEPT * claimed_us + KEPT_US

    def judge(self, claimed_us: float) -> tuple[list[BrokenRule], list[Flag]]:
        """Return the evidence of interference, and the flags, for a claimed latency."""
        excess = self.excess_us(claimed_us)
        unseen = min(self.unseen_us, default=0.0)
        impossible_us = IMPOSSIBLE * claimed_us + IMPOSSIBLE_US
        broken, flags = [], []
        text = f"of each call the judge's clock saw {excess:.1f} us more than the {claimed_us:.1f} us claimed"
        if claimed_us <= 0 or excess > impossible_us:
            broken.append(BrokenRule(text=text, profiles=STRICT_ONLY, evidence=True))
        if not self.is_settled(claimed_us):
            flags.append(Flag(code=DISAGREES, text=text))
        elif min(self.batch_us, default=0.0) > COLD * claimed_us + SUSPICIOUS_US:
            text = f"{min(self.batch_us):.1f} us a call in batches, {claimed_us:.1f} us alone"
            flags.append(Flag(code=DISAGREES, text=text))
        if self.seems_to_keep(claimed_us):
            text = f"calls on new inputs take {unseen:.1f} us, claimed are {claimed_us:.1f} us"
            flags.append(Flag(code=DISAGREES, text=text))
            if unseen - claimed_us > impossible_us:
                broken.append(BrokenRule(text=f"{text}: results are kept", profiles=STRICT_ONLY, evidence=True))
        between = statistics.median(self.between_us) if self.between_us else 0.0
        if between > SUSPICIOUS * claimed_us + KEPT_US:
            flags.append(Flag(code="works_between_calls", text=f"the process used {between:.1f} us of the processor between calls"))
        return broken, flags
