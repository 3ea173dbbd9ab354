"""One template per outcome, two profiles: ``paper`` as published, ``full`` with everything that helps to repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ptxbench import arch as architectures
from ptxbench.agent.feedback.digest import Digest, digest_diagnostics, digest_findings
from ptxbench.agent.feedback.hiding import without_paths
from ptxbench.agent.prompt import FENCE_LABEL
from ptxbench.agent.templating import environment
from ptxbench.schema import Candidate, Evaluation, KernelBuild, Language, Outcome, Profile

FeedbackProfile = Literal["paper", "full"]

CHARACTERS_PER_TOKEN = 4
"""A cautious average for English and C++; budgets need no tokenizer."""

TOKEN_BUDGET: Mapping[str, int] = {"compile_error": 3000, "sanitizer_error": 2000, "policy_violation": 1000, "no_code": 200}
"""Most tokens of one feedback text by outcome; ``DEFAULT_BUDGET`` for the others."""
DEFAULT_BUDGET = 1500


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
) -> str:
    """Return the text for an evaluated turn (``turn`` counts from 0, of ``turns``)."""
    outcome = "undecided" if evaluation.outcome is None else evaluation.outcome.value
    budget = _budget(outcome)
    policy = evaluation.policy
    shown = without_paths(evaluation.model_copy(update={"policy": None})).model_copy(update={"policy": policy})
    build = shown.build
    arch = architectures.get(shown.arch)
    findings = shown.sanitizer.findings if shown.sanitizer else ()
    return _render(
        outcome,
        budget,
        evaluation=shown,
        strict=shown.profile is Profile.STRICT,
        failed=_reasons(shown, profile),
        full=profile == "full",
        turn=turn,
        turns=turns,
        best=best,
        is_gpu=arch.is_gpu,
        messages=digest_diagnostics(build.diagnostics, candidate, budget * 3 // 4) if build else Digest((), 0),
        warnings=digest_diagnostics(build.warnings, candidate, budget // 4) if build else Digest((), 0),
        findings=digest_findings(findings, candidate, budget * 3 // 4),
        census=[_census(kernel, arch) for kernel in build.kernels] if build else [],
    )


def no_code_feedback(
    missing: str, *, language: Language, profile: FeedbackProfile, turn: int, turns: int, best: Best | None = None
) -> str:
    """Return the text for a reply without code. ``missing`` is the extraction's reason, ``cut_off`` or ``refusal``."""
    outcome = Outcome.NO_CODE.value
    return _render(
        outcome,
        _budget(outcome),
        full=profile == "full",
        turn=turn,
        turns=turns,
        best=best,
        missing=missing,
        label=FENCE_LABEL[language],
    )


def _reasons(evaluation: Evaluation, profile: FeedbackProfile) -> tuple[str, ...]:
    """Return why it failed; ``paper`` feedback of a ``paper`` run says nothing of strict's rules (``decide`` names them so)."""
    reasons = evaluation.correct.reasons
    if profile == "full" or evaluation.profile is not Profile.PAPER:
        return reasons
    return tuple(reason for reason in reasons if not reason.startswith((f"{Profile.STRICT}: ", f"{Profile.STRICT} policy: ")))


def _budget(outcome: str) -> int:
    return TOKEN_BUDGET.get(outcome, DEFAULT_BUDGET) * CHARACTERS_PER_TOKEN


def _render(outcome: str, budget: int, **facts: Any) -> str:
    text = environment().get_template(f"feedback/{outcome}.md.j2").render(**facts)
    lines: list[str] = []
    for line in text.strip("\n").split("\n"):
        line = line.rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    return _cut("\n".join(lines), budget) + "\n"


def _cut(text: str, budget: int) -> str:
    """Return the text within the budget: its first and last lines are worth most."""
    if len(text) <= budget:
        return text
    tail = budget // 4
    head = budget - tail - 60
    return f"{text[:head]}\n… {len(text) - head - tail} characters left out …\n{text[-tail:]}"


def _census(kernel: KernelBuild, arch: architectures.Architecture) -> str:
    seen = arch.qualifying(kernel.opcodes)
    if not seen:
        return "none"
    common = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
    text = ", ".join(f"{opcode} ×{count}" for opcode, count in common[:6])
    return text + (f" and {len(common) - 6} more kinds" if len(common) > 6 else "")
