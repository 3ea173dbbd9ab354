"""Hold what a candidate's process claims about its own time against the judge's clock.

A call's claim cannot be checked alone: asking costs about as much as a small kernel takes. What can be checked is the least
that the judge ever waited beyond claim and asking: noise only adds to it, a lie adds its full size to every single one.

Results that are kept and handed out again give themselves away in a similar manner: calls on inputs that the candidate had
never seen take longer, all of them, than calls on inputs that it had.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

from ptxbench.evaluate.findings import STRICT_ONLY, BrokenRule
from ptxbench.evaluate.sandbox.child import Answer
from ptxbench.schema import Flag

SUSPICIOUS, SUSPICIOUS_US = 0.25, 20.0
"""Unclaimed time a call, as a part of the claim and beyond it, from which on the clocks disagree: a flag."""
IMPOSSIBLE, IMPOSSIBLE_US = 1.0, 50.0
"""The same from which on no scheduler explains it: evidence of interference."""
COLD = 2.0
"""A batch walks through more memory than single calls do, and may be this much slower before that is a flag."""

KEPT = 2.0
"""How many times longer every call on new inputs may take than calls on old ones before results are being kept."""


@dataclass
class ClockCheck:
    """Collects answers: to pings (what asking costs), to single calls (the samples), to batches over several slots."""

    asking_us: list[float] = field(default_factory=list)
    single_us: list[float] = field(default_factory=list)
    batch_us: list[float] = field(default_factory=list)
    batch_claims_us: list[float] = field(default_factory=list)
    novel_us: list[float] = field(default_factory=list)
    repeated_us: list[float] = field(default_factory=list)

    def ping(self, answer: Answer) -> None:
        """Take the answer to a request that called nothing."""
        self.asking_us.append(answer.wall_ns / 1e3)

    def call(self, answer: Answer, *, novel: bool) -> None:
        """Take the answer to one timed call; ``novel`` says that its inputs were new to the candidate."""
        self.single_us.append((answer.wall_ns - sum(answer.claimed_ns)) / 1e3 - self._asking)
        (self.novel_us if novel else self.repeated_us).append(sum(answer.claimed_ns) / 1e3)

    def batch(self, answer: Answer) -> None:
        """Take the answer to calls on several slots: unclaimed time is kept per call."""
        unclaimed = (answer.wall_ns - sum(answer.claimed_ns)) / 1e3 - self._asking
        self.batch_us.append(unclaimed / len(answer.claimed_ns))
        self.batch_claims_us.append(statistics.median(answer.claimed_ns) / 1e3)

    @property
    def _asking(self) -> float:
        return min(self.asking_us, default=0.0)

    @property
    def unclaimed_us(self) -> float:
        """The least unclaimed time a call, of single calls or of batches, whichever shows more."""
        return max(min(self.single_us, default=0.0), min(self.batch_us, default=0.0))

    def is_settled(self, claimed_us: float) -> bool:
        """Whether the clocks agree, so that further batches could show nothing new."""
        return claimed_us > 0 and self.unclaimed_us <= SUSPICIOUS * claimed_us + SUSPICIOUS_US

    def judge(self, claimed_us: float) -> tuple[list[BrokenRule], list[Flag]]:
        """Return the evidence of interference, and the flags, for a claimed latency."""
        text = f"of each call the judge's clock saw {self.unclaimed_us:.1f} us more than the {claimed_us:.1f} us claimed"
        broken, flags = [], []
        if claimed_us <= 0 or self.unclaimed_us > IMPOSSIBLE * claimed_us + IMPOSSIBLE_US:
            broken.append(BrokenRule(text=text, profiles=STRICT_ONLY, evidence=True))
        if not self.is_settled(claimed_us):
            flags.append(Flag(code="clock_disagrees", text=text))
        elif min(self.batch_claims_us, default=0.0) > COLD * claimed_us + SUSPICIOUS_US:
            text = f"{min(self.batch_claims_us):.1f} us a call in batches, {claimed_us:.1f} us alone"
            flags.append(Flag(code="clock_disagrees", text=text))
        if self.novel_us and self.repeated_us:
            new, old = min(self.novel_us), statistics.median(self.repeated_us)
            if new > KEPT * old + IMPOSSIBLE_US:
                text = f"calls on new inputs take {new:.1f} us, on inputs seen before {old:.1f} us: results are kept"
                broken.append(BrokenRule(text=text, profiles=STRICT_ONLY, evidence=True))
        return broken, flags
