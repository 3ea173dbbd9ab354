"""The verdict: which outcome wins, who is to blame, and what each profile says."""

from __future__ import annotations

import pytest

from ptxbench.evaluate.findings import BOTH, PAPER_ONLY, STRICT_ONLY, BrokenRule, Findings, StageFailure
from ptxbench.evaluate.verdict import Verdict, decide, no_code
from ptxbench.schema import (
    Blame,
    Build,
    Diagnostic,
    Outcome,
    PolicyVerdict,
    Profile,
    RunFailure,
    Sanitizer,
    SanitizerFinding,
    ToolchainVersions,
    Violation,
)  # fmt: skip

TOOLS = ToolchainVersions(nvcc=None, ptxas=None, host_compiler="g++", nvdisasm=None, tvm_ffi=None)
VALUE = BrokenRule(text="value", profiles=BOTH)
NORM = BrokenRule(text="norm", profiles=STRICT_ONLY)
CLOCK = BrokenRule(text="clock", profiles=STRICT_ONLY, evidence=True)


def build(ok: bool = True) -> Build:
    error = Diagnostic(severity="error", file="k.cpp", line=3, column=1, code=None, text="expected ;")
    return Build(
        ok=ok, cached=False, seconds=1.0, arch="cpu", header="full", diagnostics=() if ok else (error,), warnings=(), kernels=(),
        artifacts={}, toolchain=TOOLS, key="sha256:0",
    )  # fmt: skip


def policy(*refused: Profile) -> dict[Profile, PolicyVerdict]:
    violation = Violation(rule="vendor_library", file="k.cu", line=3, text="…", profiles=tuple(refused))
    return {
        profile: PolicyVerdict(profile=profile, ok=profile not in refused, violations=(violation,) if profile in refused else ())
        for profile in Profile
    }


def failed(stage: str, kind: str) -> Findings:
    return Findings(failure=StageFailure(stage=stage, failure=RunFailure(kind=kind, text=f"{kind} happened")))  # type: ignore[arg-type]


def sanitizer(status: str) -> Sanitizer:
    finding = SanitizerFinding(
        kind="invalid_global_write",
        kernel="k",
        file=None,
        line=None,
        address=None,
        bytes=4,
        block=None,
        thread=None,
        text="bad write",
    )
    return Sanitizer(tool="memcheck", status=status, findings=(finding,) if status == "findings" else ())  # type: ignore[arg-type]


def strict(findings: Findings | None, **rest: object) -> Verdict:
    return decide(Profile.STRICT, **{"policy": policy(), "build": build(), "findings": findings} | rest)  # type: ignore[arg-type]


def test_everything_right_is_correct_and_nobodys_fault() -> None:
    verdict = strict(Findings(compared=True))
    assert (verdict.outcome, verdict.blame, verdict.undecided) == (Outcome.CORRECT, None, None)
    assert (verdict.correct.paper, verdict.correct.strict) == (True, True)


@pytest.mark.parametrize(
    ("stage", "kind", "outcome"),
    [
        ("load", "load", Outcome.LOAD_ERROR),
        ("load", "timeout", Outcome.LOAD_ERROR),
        ("load", "signal", Outcome.LOAD_ERROR),
        ("load", "forged_reply", Outcome.TAMPERED),
        ("compare", "signal", Outcome.RUNTIME_ERROR),
        ("compare", "exception", Outcome.RUNTIME_ERROR),
        ("compare", "a kind that a candidate made up", Outcome.RUNTIME_ERROR),
        ("compare", "timeout", Outcome.TIMEOUT),
        ("compare", "wrong_shape", Outcome.WRONG_SHAPE),
        ("compare", "wrong_dtype", Outcome.WRONG_DTYPE),
        ("compare", "forged_reply", Outcome.TAMPERED),
        ("time", "signal", Outcome.RUNTIME_ERROR),
        ("time", "timeout", Outcome.TIMEOUT),
    ],
)
def test_failure_of_the_process_is_the_candidates_and_wrong_in_both_profiles(stage: str, kind: str, outcome: Outcome) -> None:
    verdict = strict(failed(stage, kind))
    assert (verdict.outcome, verdict.blame) == (outcome, Blame.CANDIDATE)
    assert (verdict.correct.paper, verdict.correct.strict) == (False, False)


def test_refused_candidate_says_nothing_about_the_other_profile() -> None:
    verdict = decide(Profile.STRICT, policy=policy(Profile.STRICT), build=build(ok=False))
    assert verdict.outcome is Outcome.POLICY_VIOLATION
    assert (verdict.correct.paper, verdict.correct.strict) == (None, False)
    assert verdict.correct.reasons == ("strict policy: vendor_library at k.cu:3",)
    both = decide(Profile.PAPER, policy=policy(*Profile), build=build())
    assert (both.correct.paper, both.correct.strict) == (False, False)


def test_refusal_by_the_other_profile_only_counts_there() -> None:
    verdict = decide(Profile.PAPER, policy=policy(Profile.STRICT), build=build(), findings=Findings(compared=True))
    assert verdict.outcome is Outcome.CORRECT
    assert (verdict.correct.paper, verdict.correct.strict) == (True, False)


def test_compile_error_names_the_first_error() -> None:
    verdict = decide(Profile.STRICT, policy=policy(), build=build(ok=False))
    assert (verdict.outcome, verdict.correct.reasons) == (Outcome.COMPILE_ERROR, ("build: expected ;",))


def test_crash_outranks_a_clean_sanitizer_and_findings_outrank_a_crash() -> None:
    crash = failed("compare", "signal")
    assert strict(crash, sanitizer=sanitizer("clean")).outcome is Outcome.RUNTIME_ERROR
    assert strict(crash, sanitizer=sanitizer("unknown")).outcome is Outcome.RUNTIME_ERROR
    assert strict(crash, sanitizer=sanitizer("findings")).outcome is Outcome.SANITIZER_ERROR
    assert strict(failed("load", "load"), sanitizer=sanitizer("findings")).outcome is Outcome.LOAD_ERROR


def test_unfinished_sanitizer_is_never_the_outcome() -> None:
    assert strict(Findings(compared=True), sanitizer=sanitizer("unknown")).outcome is Outcome.CORRECT


def test_rules_count_in_their_profiles_and_values_before_interference() -> None:
    both = strict(Findings(compared=True, broken=(VALUE, CLOCK)))
    assert (both.outcome, both.correct.paper, both.correct.strict) == (Outcome.WRONG_VALUE, False, False)
    norm = strict(Findings(compared=True, broken=(NORM,)))
    assert (norm.outcome, norm.correct.paper, norm.correct.strict) == (Outcome.WRONG_VALUE, True, False)
    clock = strict(Findings(compared=True, broken=(CLOCK,)))
    assert (clock.outcome, clock.correct.paper, clock.correct.strict) == (Outcome.TAMPERED, True, False)
    assert clock.correct.reasons == ("strict: clock",)
    nan = strict(Findings(compared=True, broken=(BrokenRule(text="nan", profiles=PAPER_ONLY),)))
    assert (nan.outcome, nan.correct.paper, nan.correct.strict) == (Outcome.CORRECT, False, True)


def test_paper_run_leaves_strict_open_unless_a_strict_rule_is_broken() -> None:
    right = decide(Profile.PAPER, policy=policy(), build=build(), findings=Findings(compared=True))
    assert (right.outcome, right.correct.paper, right.correct.strict) == (Outcome.CORRECT, True, None)
    norm = decide(Profile.PAPER, policy=policy(), build=build(), findings=Findings(compared=True, broken=(NORM,)))
    assert (norm.outcome, norm.correct.paper, norm.correct.strict) == (Outcome.CORRECT, True, False)


def test_faults_that_are_not_the_candidates_leave_the_outcome_open() -> None:
    reference = strict(Findings(reference_failure="the reference failed"))
    assert (reference.outcome, reference.blame, reference.undecided) == (None, Blame.REFERENCE, "the reference failed")
    ours = strict(None, infrastructure="the judge died")
    assert (ours.outcome, ours.blame, ours.undecided) == (None, Blame.INFRASTRUCTURE, "the judge died")
    static = strict(None, undecided="no GPU")
    assert (static.outcome, static.blame, static.undecided) == (None, None, "no GPU")
    for verdict in (reference, ours, static):
        assert (verdict.correct.paper, verdict.correct.strict) == (None, None)


def test_no_code_counts_against_the_candidate() -> None:
    verdict = no_code("the reply was cut off")
    assert (verdict.outcome, verdict.blame) == (Outcome.NO_CODE, Blame.CANDIDATE)
    assert (verdict.correct.paper, verdict.correct.strict, verdict.correct.reasons) == (False, False, ("the reply was cut off",))


def test_wrong_values_come_before_a_forged_reply() -> None:
    """The first outcome of the enum's order wins: interference does not hide that the values were wrong."""
    forged = StageFailure(stage="time", failure=RunFailure(kind="forged_reply", text="forged"))
    assert strict(Findings(compared=True, failure=forged)).outcome is Outcome.TAMPERED
    assert strict(Findings(compared=True, failure=forged, broken=(VALUE,))).outcome is Outcome.WRONG_VALUE
    assert strict(Findings(compared=True, failure=forged, broken=(CLOCK,))).outcome is Outcome.TAMPERED
