"""Put an evaluation together: the same shape whatever backend made its parts."""

from __future__ import annotations

from collections.abc import Mapping

from ptxbench.core.canonical import content_hash
from ptxbench.evaluate.findings import Findings
from ptxbench.evaluate.options import EvaluateOptions
from ptxbench.evaluate.verdict import Verdict
from ptxbench.schema import (
    Build,
    Candidate,
    Device,
    Evaluation,
    Hashes,
    PolicyVerdict,
    Profile,
    Proof,
    RunFailure,
    Task,
    Violation,
)

STAGES = ("build", "sanitize", "compare", "time", "prove")
"""Stages whose seconds every record names, None where a stage did not run."""


def judge_policy(violations: tuple[Violation, ...]) -> dict[Profile, PolicyVerdict]:
    """Return the policy's verdict in both profiles."""
    from ptxbench.toolchain.policy import verdict

    return {profile: verdict(violations, profile) for profile in Profile}


def assemble(
    candidate: Candidate,
    task: Task,
    options: EvaluateOptions,
    *,
    backend: str,
    device: Device | None,
    policy: Mapping[Profile, PolicyVerdict],
    build: Build,
    verdict: Verdict,
    findings: Findings | None = None,
    proof: Proof | None = None,
    seconds: Mapping[str, float | None],
) -> Evaluation:
    """Return the record of one evaluation."""
    return Evaluation(
        profile=options.profile,
        backend=backend,
        task=task.name,
        workload=task.workload.uuid,
        axes=task.axes,
        arch=task.arch,
        device=device,
        outcome=verdict.outcome,
        blame=verdict.blame,
        undecided=verdict.undecided,
        correct=verdict.correct,
        policy=policy[options.profile],
        build=build,
        sanitizer=findings.sanitizer if findings else None,
        checks=findings.checks if findings else (),
        correctness=findings.correctness if findings else None,
        latency=findings.latency if findings else None,
        proof=proof,
        counters=findings.counters if findings else None,
        debug=_debug(findings),
        flags=findings.flags if findings else (),
        hashes=Hashes(
            source=candidate.hash,
            task=task.hash,
            toolchain=_toolchain_hash(build),
            reference=findings.reference if findings else None,
        ),
        seed=options.seed,
        seconds={**dict.fromkeys(STAGES), **seconds, **(findings.seconds if findings else {})},
    )


def _debug(findings: Findings | None) -> RunFailure | None:
    """Return the most that is known of a failure."""
    if findings is None:
        return None
    return findings.debug or (findings.failure.failure if findings.failure else None)


def _toolchain_hash(build: Build) -> str | None:
    """Return the hash of the tools that made a build, None when none took part (refused before any compiler, or Python)."""
    used = build.toolchain
    return content_hash(used) if any(used.model_dump().values()) else None
