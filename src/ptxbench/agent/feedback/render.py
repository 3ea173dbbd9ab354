"""One template per outcome, two profiles: ``paper`` as published, ``full`` with everything that helps to repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptxbench import arch as architectures
from ptxbench.agent.feedback.breaches import digest_violations
from ptxbench.agent.feedback.counters import digest_counters
from ptxbench.agent.feedback.digest import Digest, digest_diagnostics
from ptxbench.agent.feedback.excerpt import Sources
from ptxbench.agent.feedback.hiding import without_paths
from ptxbench.agent.feedback.memory import digest_findings
from ptxbench.agent.feedback.noted import flags_that_matter
from ptxbench.agent.feedback.profile import FeedbackProfile, budget_characters, cut
from ptxbench.agent.feedback.resources import ResourceReport, executed, report
from ptxbench.agent.feedback.standing import digest_stuck
from ptxbench.agent.languages import FENCE_LABEL
from ptxbench.agent.templating import environment
from ptxbench.schema import Candidate, Evaluation, Language, Outcome, Profile, Task
from ptxbench.schema.turn import DISTRUSTED_FLAGS

SPARED_FIRST: tuple[tuple[str, Any], ...] = (
    ("warnings", Digest()),
    ("resources", ResourceReport()),
    ("flags", ()),
    ("counters", Digest()),
)
"""Sections that a text which is too long does without, in this order, before anything of it is cut."""


@dataclass(frozen=True)
class Best:
    """The fastest correct turn so far (turns count from 0)."""

    turn: int
    speedup: float


def evaluation_feedback(
    evaluation: Evaluation,
    candidate: Candidate,
    *,
    profile: FeedbackProfile,
    turn: int,
    turns: int,
    best: Best | None = None,
    task: Task | None = None,
) -> str:
    """Return the text for an evaluated turn (``turn`` counts from 0, of ``turns``), made from records alone.

    ``best`` is the fastest turn before this one. ``task`` adds what its record alone knows: the size of an argument that an
    access missed, and how much of the work an honest kernel's matrix instructions do.
    """
    outcome = "undecided" if evaluation.outcome is None else evaluation.outcome.value
    budget = budget_characters(outcome)
    full = profile == "full"
    sources = Sources(candidate)
    policy = evaluation.policy
    # A violation quotes the candidate's own line, whose absolute path may be what is wrong with it.
    shown = without_paths(evaluation.model_copy(update={"policy": None}))
    build, proof, debug = shown.build, shown.proof, shown.debug
    arch = architectures.get(shown.arch)
    share = proof.work_share if proof is not None else None
    return _render(
        outcome,
        budget,
        evaluation=shown,
        strict=shown.profile is Profile.STRICT,
        failed=_reasons(shown, profile),
        full=full,
        turn=turn,
        turns=turns,
        best=best,
        is_gpu=arch.is_gpu,
        rules_kept=policy is not None and policy.ok,
        violations=digest_violations(policy.violations, sources, budget * 3 // 4, full=full) if policy else Digest(),
        messages=digest_diagnostics(build.diagnostics, sources, budget * 3 // 4, full=full) if build else Digest(),
        warnings=digest_diagnostics(build.warnings, sources, budget // 4) if build and full else Digest(),
        findings=digest_findings(_findings(shown), sources, budget * 3 // 4, task=task, full=full),
        stuck=digest_stuck(debug.stuck, sources, budget * 2 // 3) if debug and full else Digest(),
        has_stuck=debug is not None and bool(debug.stuck),
        resources=report(build.kernels, arch, shown.device.id if shown.device else None) if build and full else ResourceReport(),
        counters=digest_counters(shown.counters) if full else Digest(),
        flags=flags_that_matter(shown.flags, share_is_told=share is not None) if full else (),
        failing_sets=_sets(shown, right=False),
        passing_sets=_sets(shown, right=True),
        executed=executed(proof, arch) if proof is not None else "",
        share_range=task.work_share if task is not None else None,
        distrusted=bool(DISTRUSTED_FLAGS.intersection(flag.code for flag in shown.flags)),
    )


def no_code_feedback(
    missing: str, *, language: Language, profile: FeedbackProfile, turn: int, turns: int, best: Best | None = None
) -> str:
    """Return the text for a reply without code. ``missing`` is the extraction's reason, ``cut_off`` or ``refusal``."""
    outcome = Outcome.NO_CODE.value
    return _render(
        outcome,
        budget_characters(outcome),
        full=profile == "full",
        turn=turn,
        turns=turns,
        best=best,
        missing=missing,
        label=FENCE_LABEL[language],
    )


def _findings(evaluation: Evaluation) -> tuple[Any, ...]:
    return evaluation.sanitizer.findings if evaluation.sanitizer else ()


def _sets(evaluation: Evaluation, *, right: bool) -> tuple[str, ...]:
    """Return the kinds of inputs that were right, or that were wrong, by the profile's rules; each once."""
    sets = evaluation.correctness.sets if evaluation.correctness else ()
    verdicts: dict[str, bool] = {}
    for one in sets:
        verdict = one.strict if evaluation.profile is Profile.STRICT else one.paper
        verdicts[one.name] = verdicts.get(one.name, True) and verdict
    return tuple(name for name, verdict in verdicts.items() if verdict is right)


def _reasons(evaluation: Evaluation, profile: FeedbackProfile) -> tuple[str, ...]:
    """Return why it failed; ``paper`` feedback of a ``paper`` run says nothing of strict's rules (``decide`` names them so)."""
    reasons = evaluation.correct.reasons
    if profile == "full" or evaluation.profile is not Profile.PAPER:
        return reasons
    return tuple(reason for reason in reasons if not reason.startswith((f"{Profile.STRICT}: ", f"{Profile.STRICT} policy: ")))


def _render(outcome: str, budget: int, **facts: Any) -> str:
    """Return the text of an outcome's template within its budget."""
    template = environment().get_template(f"feedback/{outcome}.md.j2")
    text = _tidy(template.render(**facts))
    for name, nothing in SPARED_FIRST:
        if len(text) > budget and facts.get(name, nothing) != nothing:
            facts[name] = nothing
            text = _tidy(template.render(**facts))
    return cut(text, budget) + "\n"


def _tidy(text: str) -> str:
    """Return the text without trailing blanks and repeated empty lines."""
    lines: list[str] = []
    for line in text.strip("\n").split("\n"):
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines)
