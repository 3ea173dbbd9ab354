"""The compare stage: fresh inputs and poison, one call, then both profiles' rules on every output, set by set."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxbench.evaluate.arena import Arena, Runner
from ptxbench.evaluate.findings import BOTH, PAPER_ONLY, STRICT_ONLY, BrokenRule
from ptxbench.evaluate.judge.held import PUBLISHED_DRAWS, Held, InputSet
from ptxbench.evaluate.mismatch.pattern import Mismatch, find_pattern
from ptxbench.evaluate.mismatch.rule import Comparison
from ptxbench.evaluate.rules import HostRules, Rules
from ptxbench.evaluate.sandbox.claims import Answer
from ptxbench.evaluate.sandbox.staging import POISON
from ptxbench.schema import (
    Correctness,
    InputSetCheck,
    MismatchPattern,
    OutputCheck,
    Profile,
    RunFailure,
    Task,
    WorstElement,
)  # fmt: skip

LATE = BrokenRule(text="an output changed after the call had returned", profiles=STRICT_ONLY, evidence=True)


@dataclass(frozen=True)
class JudgedOutput:
    """One output of one call under both profiles, with a line for each rule it breaks."""

    name: str
    comparison: Comparison
    atol: float
    paper: bool
    strict: bool
    reasons: tuple[BrokenRule, ...]


@dataclass
class Compared:
    """What the stage found. ``complete`` says that every set was compared, or that both profiles were already broken."""

    correctness: Correctness | None = None
    broken: list[BrokenRule] = field(default_factory=list)
    failure: RunFailure | None = None
    complete: bool = False
    call_s: float = 0.0
    """The shortest call, by the judge's clock: what timing plans with."""


HOST = HostRules()


def judge_output(task: Task, name: str, got: Any, against: InputSet, published: InputSet, rules: Rules = HOST) -> JudgedOutput:
    """Apply both rules to one output, where it lies.

    On a set that is not the published one, ``atol`` grows with the RMS of the expected output there over the published one: a
    fixed one would accuse honest kernels of the rounding of larger sums.
    """
    rule, expected = task.tolerance, against.expected[name]
    atol = rule.atol
    if against.kind != "published":
        usual = rules.root_mean_square(published.expected[name])
        atol *= max(1.0, rules.root_mean_square(expected) / usual) if usual else 1.0
    seen = rules.compare(got, expected, against.oracle[name] if against.oracle else None, atol=atol, rtol=rule.rtol, poison=POISON)
    bound = rule.frobenius.get(name)
    norm_ok = bound is None or seen.frobenius is None or seen.frobenius <= bound
    reasons = []
    if seen.paper_wrong or seen.strict_wrong:
        if seen.paper_wrong and seen.strict_wrong:
            profiles = BOTH if against.kind == "published" else STRICT_ONLY
        else:
            profiles = PAPER_ONLY if seen.paper_wrong else STRICT_ONLY
        count = max(seen.paper_wrong, seen.strict_wrong)
        text = f"{name}: {count} of {seen.elements} elements outside {atol:.3g} + {rule.rtol:.3g} * |expected|"
        if not (profiles == PAPER_ONLY and against.kind != "published"):
            reasons.append(BrokenRule(text=f"{text} ({against.kind} inputs)", profiles=profiles))
    if not norm_ok:
        assert bound is not None and seen.frobenius is not None
        text = f"{name}: relative Frobenius error {seen.frobenius:.3g}, bound {bound:.3g} ({against.kind} inputs)"
        reasons.append(BrokenRule(text=text, profiles=STRICT_ONLY))
    return JudgedOutput(
        name=name,
        comparison=seen,
        atol=atol,
        paper=not seen.paper_wrong,
        strict=not seen.strict_wrong and norm_ok,
        reasons=tuple(reasons),
    )


def inspect_memory(arena: Arena, slot: int, against: InputSet) -> list[BrokenRule]:
    """Return what a call did to memory that is not its outputs: guard bands (both profiles) and inputs (strict)."""
    broken = [
        BrokenRule(text=f"memory: {count} bytes beside {name} were overwritten", profiles=BOTH)
        for name, count in arena.changed_guard_bytes(slot).items()
    ]
    changed = arena.changed_inputs(slot, against.inputs)
    if changed:
        broken.append(BrokenRule(text=f"inputs were modified: {', '.join(changed)}", profiles=STRICT_ONLY))
    return broken


class Comparing:
    """Runs the stage for one candidate and adds up what the sets show."""

    def __init__(self, held: Held, profile: Profile, announce: Callable[[str], None]) -> None:
        self._held = held
        self._task = held.task
        self._profile = profile
        self._announce = announce
        self._sets: list[InputSetCheck] = []
        self._outputs: dict[str, OutputCheck] = {}
        self._inputs_modified = False
        self._guard_bytes = 0

    def run(self, arena: Arena, runner: Runner, run_s: float) -> Compared:
        """Compare set after set; stop at a crash, or when both profiles are broken."""
        result = Compared(call_s=math.inf)
        for against in self._planned():
            self._announce("compare")
            arena.write(0, against.inputs)
            answer = runner.call([0], run_s)
            if isinstance(answer, RunFailure):
                result.failure = answer
                break
            first_seen = arena.glimpse(0)
            result.call_s = min(result.call_s, answer.wall_ns / 1e9)
            broken = self._judge(arena, against, answer, first_seen)
            known = {rule.text for rule in result.broken}
            result.broken += [rule for rule in broken if rule.text not in known]
            if {profile for rule in result.broken for profile in rule.profiles} == set(BOTH):
                break
        result.complete = result.failure is None
        if self._sets:
            result.correctness = Correctness(
                sets=tuple(self._sets),
                outputs=tuple(self._outputs.values()),
                inputs_modified=self._inputs_modified,
                timed_outputs_checked=0,
                guard_bytes_changed=self._guard_bytes,
            )
        return result

    def _planned(self) -> list[InputSet]:
        sets = [self._held.published(number) for number in range(PUBLISHED_DRAWS)]
        extra = self._held.strict() if self._profile is Profile.STRICT else None
        return sets if extra is None else [*sets, extra]

    def _judge(self, arena: Arena, against: InputSet, answer: Answer, first_seen: bytes) -> list[BrokenRule]:
        """Judge one call by what the judge itself reads, and note it."""
        outputs = arena.outputs(0)
        memory = inspect_memory(arena, 0, against)
        self._inputs_modified |= any(rule.profiles == STRICT_ONLY for rule in memory)
        self._guard_bytes += sum(arena.changed_guard_bytes(0).values())
        published = self._held.published(0)
        rules = self._held.rules
        judged = [judge_output(self._task, name, outputs[name], against, published, rules) for name in outputs]
        for one in judged:
            self._note(one, outputs[one.name], against)
        self._sets.append(_set_check(judged, against))
        broken = [rule for one in judged for rule in one.reasons]
        if broken and any(one.comparison.unwritten for one in judged):
            profiles = BOTH if against.kind == "published" else STRICT_ONLY
            if answer.returned is not None:
                text = f"run returned {answer.returned}; results belong into the output arguments"
                broken.append(BrokenRule(text=text, profiles=profiles))
            if answer.pending is not None:
                broken.append(BrokenRule(text=f"the call left an error behind: {answer.pending}", profiles=profiles))
        if arena.glimpse(0) != first_seen or not arena.same_outputs(0, outputs):
            broken.append(LATE)
        return broken + memory

    def _note(self, judged: JudgedOutput, got: Any, against: InputSet) -> None:
        """Add one call's output to the record of that output over all sets; its first mismatch is described."""
        seen, before = judged.comparison, self._outputs.get(judged.name)
        pattern = before.pattern if before else None
        if pattern is None and seen.strict_wrong:
            pattern = self._pattern(judged, got, against)
        is_worst = before is None or seen.max_abs >= (before.max_abs or 0.0) or not (before.mismatches or not seen.strict_wrong)
        worst = _worst(seen, got, against.expected[judged.name]) if is_worst and seen.worst is not None else None
        self._outputs[judged.name] = OutputCheck(
            name=judged.name,
            max_abs=_largest(before.max_abs if before else None, seen.max_abs),
            max_rel=_largest(before.max_rel if before else None, seen.max_rel),
            mismatches=(before.mismatches if before else 0) + seen.strict_wrong,
            worst=worst or (before.worst if before else None),
            pattern=pattern,
            unwritten=(before.unwritten if before else 0) + seen.unwritten,
            frobenius=_largest(before.frobenius if before else None, seen.frobenius),
        )

    def _pattern(self, judged: JudgedOutput, got: Any, against: InputSet) -> MismatchPattern | None:
        host = self._held.rules.host
        return find_pattern(
            Mismatch(
                got=host(got),
                expected=host(against.expected[judged.name]),
                wrong=host(judged.comparison.wrong),
                unwritten=judged.comparison.unwritten,
                poison=POISON,
                axes=self._task.definition.outputs[judged.name].shape or (),
                atol=judged.atol,
                rtol=self._task.tolerance.rtol,
            )
        )


def _set_check(judged: list[JudgedOutput], against: InputSet) -> InputSetCheck:
    seen = [one.comparison for one in judged]
    norms = [one.frobenius for one in seen if one.frobenius is not None]
    return InputSetCheck(
        name=against.kind,
        seed=against.seed,
        max_abs=max((one.max_abs for one in seen), default=None),
        max_rel=max((one.max_rel for one in seen), default=None),
        mismatches=sum(one.strict_wrong for one in seen),
        elements=sum(one.elements for one in seen),
        paper=all(one.paper for one in judged),
        strict=all(one.strict for one in judged),
        frobenius=_finite(max(norms)) if norms else None,
    )


def _worst(seen: Comparison, got: Any, expected: Any) -> WorstElement:
    assert seen.worst is not None
    index = np.unravel_index(seen.worst, tuple(got.shape)) if got.ndim else ()
    value, wanted = float(got.reshape(-1)[seen.worst]), float(expected.reshape(-1)[seen.worst])
    return WorstElement(
        index=tuple(int(one) for one in index),
        expected=_finite(wanted),
        got=_finite(value),
        got_text=None if math.isfinite(value) else str(value),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _largest(before: float | None, now: float | None) -> float | None:
    known = [value for value in (before, now) if value is not None and math.isfinite(value)]
    return max(known) if known else None
