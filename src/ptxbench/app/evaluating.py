"""Evaluate a kernel file on a task, and turn the result into an exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from ptxbench import arch as architectures
from ptxbench.app.suites import open_suite
from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions, choose
from ptxbench.schema import Blame, Evaluation, Language, Outcome, Profile
from ptxbench.toolchain import Builder, read_candidate


def evaluate_file(
    path: Path,
    *,
    selector: str,
    arch: str | None,
    backend: str | None,
    language: Language | None,
    profile: Profile,
    seed: int,
    suite_paths: Sequence[Path],
    settings: Settings,
) -> Evaluation:
    """Evaluate the kernel in ``path`` on the task that ``selector`` names."""
    if arch is not None:
        architectures.get(arch)
    task = open_suite(suite_paths).task(selector, arch=arch)
    candidate = read_candidate(path, arch=task.arch, language=language)

    async def evaluate() -> Evaluation:
        evaluator = choose(task, backend, settings, Builder(settings))
        try:
            return await evaluator.evaluate(candidate, task, EvaluateOptions(profile=profile, seed=seed))
        finally:
            await evaluator.close()

    return asyncio.run(evaluate())


def exit_code(evaluation: Evaluation, *, require_proof: bool = False) -> int:
    """Return the exit code of the contract: 0 holds, 1 candidate failed, 3 infrastructure, 4 undecided."""
    if evaluation.blame in (Blame.INFRASTRUCTURE, Blame.REFERENCE):
        return 3
    if evaluation.outcome is not None and evaluation.outcome is not Outcome.CORRECT:
        return 1
    proven = evaluation.proof.status if evaluation.proof else "unknown"
    if require_proof and proven in ("absent", "not_executed"):
        return 1
    if evaluation.outcome is None or (require_proof and proven != "qualified"):
        return 4
    return 0
