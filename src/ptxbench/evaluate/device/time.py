"""The time stage on a GPU (protocol section 5): device spans of single calls with a cold L2, several input sets in turn.

The spans are the child's claims. What the judge holds against them: its own clock around each trial, the outputs of the last
call on each input set, the roofline, and what the child saw outside of its calls.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from ptxbench.evaluate.clock import DISAGREES
from ptxbench.evaluate.device.drift import drift_text, paired_speedup
from ptxbench.evaluate.device.lent import LentMemory
from ptxbench.evaluate.device.plan import TRIALS, Plan, plan
from ptxbench.evaluate.device.reference import ReferenceClock
from ptxbench.evaluate.device.telemetry import ClockWatch, Telemetry, clocks
from ptxbench.evaluate.device.trial import Trial, mostly_late, run_trial
from ptxbench.evaluate.device.unseen import ROUNDS, call_unseen, judge_unseen
from ptxbench.evaluate.findings import STRICT_ONLY, BrokenRule
from ptxbench.evaluate.judge.held import Held, InputSet
from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.claims import TimeMethod
from ptxbench.evaluate.time import Timed
from ptxbench.evaluate.timed_outputs import TimedOutputs
from ptxbench.schema import Clocks, Flag, Latency, Profile, ReferenceVersion

UNSEEN_PART, UNSEEN_US = 0.25, 500.0
"""Time that the judge sees for each call beyond the claim, as a part of it and beyond that, from which on the clocks disagree: what
asking, poisoning, flushing, synchronising and starting the call cost is in it."""
IMPOSSIBLE_PART, IMPOSSIBLE_US = 4.0, 4000.0
"""The same from which on nothing of ours explains it: evidence of interference."""

LATE_WORK = "late_work"
SLOWED = 0.15
"""How much slower the reference may be beside a candidate's process than without it: more is a flag, and no evidence, since a
neighbour's load does the same. A device at its power limit alone moves it by some per cent."""


class GpuTiming:
    """Runs the stage for one candidate."""

    def __init__(
        self,
        held: Held,
        clock: ReferenceClock,
        telemetry: Telemetry,
        announce: Callable[[str], None],
        *,
        profile: Profile,
        version: ReferenceVersion,
        roofline_us: float | None,
    ) -> None:
        self._held = held
        self._clock = clock
        self._telemetry = telemetry
        self._announce = announce
        self._profile = profile
        self._outputs = TimedOutputs(held, profile)
        self._version = version
        self._roofline_us = roofline_us
        self._result = Timed()
        self._sets = 0
        self.launches: dict[str, int] = {}
        """How often one call launches each kernel (mangled name), as the child saw it; empty without CUPTI."""

    def run(self, memory: LentMemory, child: Child, run_s: float, call_s: float) -> Timed:
        """Time the candidate. ``call_s`` is what a call took while comparing."""
        try:
            self._run(memory, child, run_s, call_s)
        finally:
            self._result.broken += self._outputs.broken
            self._result.outputs_checked = self._outputs.checked
        return self._result

    def _run(self, memory: LentMemory, child: Child, run_s: float, call_s: float) -> None:
        slots = range(len(memory.layout.slots))
        self._sets = len(slots)
        sets = [self._held.timed(number) for number in slots]
        before = self._telemetry.read()
        method: TimeMethod = self._clock.method
        if method == "events":
            self._flag("latency_by_events", f"latencies are by events, since the judge has no CUPTI: {self._clock.why}")
        chosen = plan(call_s)
        seconds = run_s + 3.0 * chosen.calls * (call_s + 1e-3)
        dear = self._clock.is_dear(self._held)
        reference = [self._reference(sets, method)] if dear else []
        trials: list[Trial] = []

        def beside(calls: Plan) -> list[float]:
            return [] if dear else self._clock.time(self._held, sets, calls, method)

        with ClockWatch(self._telemetry.glance) as watch:
            for _ in range(TRIALS):
                self._announce("time")
                trial = run_trial(memory, child, self._outputs, sets, chosen, method, seconds, beside)
                self._result.failure = trial.failure
                if trial.failure is not None or not trial.right:
                    return
                if trial.why is not None:
                    # No other method in its place: events see less, and a candidate could choose to be measured by them.
                    self._flag("latency_unknown", f"the latency could not be measured: {trial.why}")
                    return
                trials.append(trial)
                reference.append(trial.reference_us or self._reference(sets, method))
        state = clocks(before, self._telemetry.read(), watch.seen)
        claimed_us = statistics.fmean(statistics.median(trial.ns) / 1e3 for trial in trials)
        if self._profile is Profile.STRICT and not self._call_unseen(memory, child, method, seconds, claimed_us):
            return
        self._conclude(trials, method, reference, claimed_us, state)

    def _call_unseen(self, memory: LentMemory, child: Child, method: TimeMethod, seconds: float, claimed_us: float) -> bool:
        """Call the candidate on inputs that were drawn for it alone; return whether timing goes on."""
        self._announce("time")
        unseen = call_unseen(self._held.fresh, self._outputs, memory, child, method, seconds)
        self._result.failure = unseen.failure
        if unseen.failure is not None or not unseen.right:
            return False
        if unseen.late:
            said = f"{unseen.late} of {ROUNDS} requests on new inputs saw activities on the device outside of any call"
            self._flag(LATE_WORK, said)
            if unseen.late == ROUNDS:
                self._accuse(said)
        broken, text = judge_unseen(unseen.samples_us, claimed_us)
        self._result.broken += [broken] if broken else []
        if text is not None:
            self._flag(DISAGREES, text)
        return True

    def confirm(self) -> None:
        """Time the reference once more when the candidate's process is gone: one that slows it down can do so no longer."""
        latency = self._result.latency
        if latency is None or latency.reference_us is None or latency.method == "wall":
            return
        sets = [self._held.timed(number) for number in range(self._sets)]
        alone_us = statistics.median(self._reference(sets, latency.method))
        slowed = latency.reference_us / alone_us - 1.0
        text = f"the reference took {latency.reference_us:.1f} us beside the candidate's process and {alone_us:.1f} us without it"
        if slowed > SLOWED:
            self._flag(DISAGREES, text)

    def _reference(self, sets: Sequence[InputSet], method: TimeMethod) -> list[float]:
        self._announce("reference")
        return self._clock.measure(self._held, sets, method)

    def _conclude(
        self,
        trials: Sequence[Trial],
        method: TimeMethod,
        reference: Sequence[Sequence[float]],
        candidate_us: float,
        state: Clocks | None,
    ) -> None:
        """Make the record, and hold the claims against the judge's clock, the roofline and the reference's own drift."""
        medians = [statistics.median(trial.ns) / 1e3 for trial in trials]
        reference_medians = [statistics.median(samples) for samples in reference]
        reference_us = statistics.fmean(reference_medians)
        self._judge_clock(trials, candidate_us)
        self._judge_spans(trials, candidate_us)
        drifted = drift_text(reference)
        if drifted is not None:
            self._flag("reference_drift", drifted)
        self.launches = dict(trials[-1].launches)
        self._result.latency = Latency(
            candidate_us=candidate_us or None,
            reference_us=reference_us,
            speedup=reference_us / candidate_us if candidate_us > 0 else None,
            paired_speedup=paired_speedup([[ns / 1e3 for ns in trial.ns] for trial in trials], reference),
            method=method,
            trials_us=tuple(medians),
            samples_us=tuple(ns / 1e3 for trial in trials for ns in trial.ns),
            reference_samples_us=tuple(sample for samples in reference for sample in samples),
            reference=self._version,
            clocks=state,
            roofline_us=self._roofline_us,
        )

    def _judge_clock(self, trials: Sequence[Trial], candidate_us: float) -> None:
        seen_us = min(trial.wall_ns / 1e3 / trial.calls for trial in trials)
        excess = seen_us - candidate_us
        text = f"the judge's clock saw {seen_us:.1f} us for each call with what is around it, {candidate_us:.1f} us were claimed"
        if excess > UNSEEN_PART * candidate_us + UNSEEN_US:
            self._flag(DISAGREES, text)
        if excess > IMPOSSIBLE_PART * candidate_us + IMPOSSIBLE_US or any(trial.impossible for trial in trials):
            self._accuse(text)

    def _judge_spans(self, trials: Sequence[Trial], candidate_us: float) -> None:
        empty, late = sum(trial.empty for trial in trials), sum(trial.late for trial in trials)
        if empty:
            self._accuse(f"{empty} timed calls did nothing on the device")
        if late:
            text = f"{late} activities on the device began outside of any call"
            self._flag(LATE_WORK, text)
            if mostly_late(trials):
                self._accuse(text)
        if self._roofline_us is not None and candidate_us < self._roofline_us:
            text = f"{candidate_us:.1f} us are less than the {self._roofline_us:.1f} us that this device needs at its peak rates"
            self._flag("under_roofline", text)

    def _accuse(self, text: str) -> None:
        self._result.broken.append(BrokenRule(text=text, profiles=STRICT_ONLY, evidence=True))

    def _flag(self, code: str, text: str) -> None:
        self._result.flags.append(Flag(code=code, text=text))
