"""Outputs of timed calls: checked like any others, since a candidate may work well only where it knows that nobody looks."""

from __future__ import annotations

from typing import Any

from ptxbench.evaluate.arena import Arena
from ptxbench.evaluate.compare import LATE, inspect_memory, judge_output
from ptxbench.evaluate.findings import STRICT_ONLY, BrokenRule
from ptxbench.evaluate.judge.held import Held, InputSet
from ptxbench.schema import Profile


class TimedOutputs:
    """Checks what timed calls left in their slots, and collects the rules that they broke."""

    def __init__(self, held: Held, profile: Profile) -> None:
        self._held = held
        self._profile = profile
        self._verified: dict[int, dict[str, Any]] = {}
        self.broken: list[BrokenRule] = []
        self.checked = 0

    def check(self, arena: Arena, slot: int, against: InputSet, first_seen: bytes, *, once: bool = False) -> bool:
        """Check a slot's outputs; once verified, the same bits need no second look, unless the set is used ``once``.

        ``first_seen`` is the glimpse after the answer.

        Returns whether timing goes on, which it does unless a rule of the run's profile is broken (the other profile's are noted).
        """
        broken = []
        verified = self._verified.get(against.seed)
        if verified is None or not arena.same_outputs(slot, verified):
            outputs = arena.outputs(slot)
            for name, got in outputs.items():
                judged = judge_output(self._held.task, name, got, against, against, self._held.rules)
                broken += [
                    BrokenRule(text=f"while timing, inputs of seed {against.seed}: {rule.text}", profiles=STRICT_ONLY)
                    for rule in judged.reasons
                    if not judged.strict
                ]
            if not broken and not once:
                self._verified[against.seed] = outputs
        broken += inspect_memory(arena, slot, against)
        if arena.glimpse(slot) != first_seen:
            broken.append(LATE)
        self.checked += 1
        self.broken += [rule for rule in broken if rule not in self.broken]
        return not any(self._profile in rule.profiles for rule in broken)
