"""The one place that writes an ``Outcome``: pure functions from stage records to a verdict."""

from __future__ import annotations

from collections.abc import Mapping

from ptxbench.evaluate.findings import Findings, StageFailure
from ptxbench.schema import Blame, Build, CorrectVerdict, Outcome, PolicyVerdict, Profile, Sanitizer
from ptxbench.schema.base import Record

FAILURE_OUTCOMES = {
    "timeout": Outcome.TIMEOUT,
    "forged_reply": Outcome.TAMPERED,
    "wrong_shape": Outcome.WRONG_SHAPE,
    "wrong_dtype": Outcome.WRONG_DTYPE,
}
"""Outcomes of kinds of ``RunFailure``; every other kind is a ``runtime_error``, or a ``load_error`` while loading."""


class Verdict(Record):
    """Outcome, blame and correctness in both profiles. ``outcome`` None goes with ``undecided``, which says why."""

    outcome: Outcome | None
    blame: Blame | None
    undecided: str | None
    correct: CorrectVerdict


def no_code(reason: str) -> Verdict:
    """Return the verdict of a reply that holds no code: it counts, and it is the candidate's."""
    return Verdict(
        outcome=Outcome.NO_CODE,
        blame=Blame.CANDIDATE,
        undecided=None,
        correct=CorrectVerdict(paper=False, strict=False, reasons=(reason,)),
    )


def decide(
    profile: Profile,
    *,
    policy: Mapping[Profile, PolicyVerdict],
    build: Build | None,
    sanitizer: Sanitizer | None = None,
    findings: Findings | None = None,
    undecided: str | None = None,
    infrastructure: str | None = None,
) -> Verdict:
    """Return the verdict of one evaluation.

    The first outcome in the enum's order that applies wins. ``findings`` are those of the stages that ran, None when none
    did: then ``undecided`` says why, or ``infrastructure`` what of ours failed.
    """
    refused = {one: verdict for one, verdict in policy.items() if not verdict.ok}
    reasons = [_policy_reason(one, verdict) for one, verdict in refused.items()]
    if profile in refused:
        other = {one: False if one in refused else None for one in Profile}
        return _verdict(Outcome.POLICY_VIOLATION, other, reasons)
    if build is not None and not build.ok:
        return _verdict(Outcome.COMPILE_ERROR, dict.fromkeys(Profile, False), [*reasons, _build_reason(build)])
    if infrastructure is not None:
        return _open(infrastructure, Blame.INFRASTRUCTURE, refused, reasons)
    if findings is not None and findings.reference_failure is not None:
        return _open(findings.reference_failure, Blame.REFERENCE, refused, reasons)
    failed = _failure_outcome(findings.failure) if findings is not None and findings.failure is not None else None
    if failed is not Outcome.LOAD_ERROR and sanitizer is not None and sanitizer.status == "findings":
        texts = [finding.text for finding in sanitizer.findings[:3]]
        return _verdict(Outcome.SANITIZER_ERROR, dict.fromkeys(Profile, False), [*reasons, *texts])
    if failed is Outcome.TAMPERED and findings is not None and _wrong_values(findings, profile):
        failed = Outcome.WRONG_VALUE
    if findings is not None and findings.failure is not None and failed is not None:
        text = f"{findings.failure.stage}: {findings.failure.failure.text}"
        return _verdict(failed, dict.fromkeys(Profile, False), [*reasons, text])
    if findings is None or not findings.compared:
        return _open(undecided or "the compare stage was not run", None, refused, reasons)
    broken = [rule for rule in findings.broken if profile in rule.profiles]
    # Paper's rules alone say nothing about strict: a run that looked only at them leaves it open.
    correct: dict[Profile, bool | None] = dict.fromkeys(Profile, True)
    if profile is Profile.PAPER:
        correct[Profile.STRICT] = None
    for rule in findings.broken:
        correct |= dict.fromkeys(rule.profiles, False)
    correct |= dict.fromkeys(refused, False)
    reasons += [_rule_reason(rule.profiles, rule.text) for rule in findings.broken]
    if not broken:
        return _verdict(Outcome.CORRECT, correct, reasons)
    wrong = any(not rule.evidence for rule in broken)
    return _verdict(Outcome.WRONG_VALUE if wrong else Outcome.TAMPERED, correct, reasons)


def _wrong_values(findings: Findings, profile: Profile) -> bool:
    """Whether outputs were wrong by the profile's rules, before or beside evidence of interference."""
    return any(profile in rule.profiles and not rule.evidence for rule in findings.broken)


def _failure_outcome(failed: StageFailure) -> Outcome:
    outcome = FAILURE_OUTCOMES.get(failed.failure.kind, Outcome.RUNTIME_ERROR)
    if failed.stage == "load" and outcome is not Outcome.TAMPERED:
        return Outcome.LOAD_ERROR
    return outcome


def _verdict(outcome: Outcome, correct: Mapping[Profile, bool | None], reasons: list[str]) -> Verdict:
    return Verdict(
        outcome=outcome,
        blame=None if outcome is Outcome.CORRECT else Blame.CANDIDATE,
        undecided=None,
        correct=CorrectVerdict(paper=correct[Profile.PAPER], strict=correct[Profile.STRICT], reasons=tuple(reasons)),
    )


def _open(why: str, blame: Blame | None, refused: Mapping[Profile, PolicyVerdict], reasons: list[str]) -> Verdict:
    paper, strict = (False if one in refused else None for one in (Profile.PAPER, Profile.STRICT))
    correct = CorrectVerdict(paper=paper, strict=strict, reasons=tuple(reasons))
    return Verdict(outcome=None, blame=blame, undecided=why, correct=correct)


def _policy_reason(profile: Profile, verdict: PolicyVerdict) -> str:
    first = verdict.violations[0]
    place = f"{first.file}:{first.line}" if first.file else "the binary"
    more = f" and {len(verdict.violations) - 1} more" if len(verdict.violations) > 1 else ""
    return f"{profile} policy: {first.rule} at {place}{more}"


def _build_reason(build: Build) -> str:
    errors = [one for one in build.diagnostics if one.severity == "error"]
    return f"build: {errors[0].text}" if errors else "build: the compiler gave no library"


def _rule_reason(profiles: tuple[Profile, ...], text: str) -> str:
    return text if len(profiles) == len(Profile) else f"{profiles[0]}: {text}"
