"""Evaluate a kernel file on a task, and turn the result into an exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from ptxbench import arch as architectures
from ptxbench.app.suites import open_suite
from ptxbench.core.errors import UsageError
from ptxbench.core.interruption import run_interruptible
from ptxbench.core.settings import Settings
from ptxbench.evaluate import Checks, EvaluateOptions, choose
from ptxbench.schema import Blame, Checker, Evaluation, Language, Outcome, Profile, ProofMethod
from ptxbench.schema.proof import ProofStatus
from ptxbench.suite import Suite
from ptxbench.suite.work import lightest
from ptxbench.toolchain import Builder, read_candidate

STAGES = ("build", "sanitize", "compare", "time", "prove", "debug")
"""Stages that may be asked for; a build is made in any case."""
CHECKERS: tuple[Checker, ...] = get_args(Checker)
_LACKING: dict[ProofStatus, str] = {
    "absent": "no target instructions are in the binary",
    "not_executed": "target instructions are in the binary, and those that the proof asks for did not execute",
    "unknown": "which instructions executed was not counted (ptxbench doctor says whether this machine can)",
}
"""Why a proof does not hold."""


def evaluate_file(
    path: Path,
    *,
    selector: str,
    arch: str | None,
    backend: str | None,
    language: Language | None,
    profile: Profile,
    proof: ProofMethod,
    prove_by_mutation: bool,
    checkers: Sequence[str] | None,
    check_workload: str | None,
    seed: int,
    stages: Sequence[str] | None,
    core_dump: Path | None,
    suite_paths: Sequence[Path],
    settings: Settings,
    warn: Callable[[str], None],
) -> Evaluation:
    """Evaluate the kernel in ``path`` on the task that ``selector`` names.

    ``checkers`` run on the task's lightest workload, or on the one whose UUID ``check_workload`` is.

    Raises ``UsageError`` for an unknown stage or checker, for a proof by mutation where nothing is proven, and for checkers where
    no GPU is to be used; ``NoGpu`` for checkers where there is none.
    """
    unknown = [stage for stage in stages or () if stage not in STAGES]
    if unknown:
        raise UsageError(f"unknown stage {unknown[0]!r}", next_step=f"known: {', '.join(STAGES)}")
    asked = _known(checkers, check_workload, backend)
    if arch is not None:
        architectures.get(arch)
    if prove_by_mutation and stages is not None and not {"compare", "prove"} <= set(stages):
        raise UsageError("a proof by mutation needs the stages compare and prove", next_step="add them, or leave --stages out")
    suite = open_suite(suite_paths, warn)
    task = suite.task(selector, arch=arch)
    if prove_by_mutation and not architectures.get(task.arch).is_gpu:
        raise UsageError(f"{task.name} is a CPU task: it has no matrix instructions", next_step="leave --prove-by-mutation out")
    if asked and not architectures.get(task.arch).is_gpu:
        raise UsageError(f"{task.name} is a CPU task: memory checkers are for GPUs", next_step="leave --check out")
    if core_dump is not None and (backend == "static" or not architectures.get(task.arch).is_gpu):
        raise UsageError("a GPU core dump is of a kernel that hangs on a GPU", next_step="leave --core-dump out")
    candidate = read_candidate(path, arch=task.arch, language=language)
    options = EvaluateOptions(
        profile=profile,
        seed=seed,
        proof=proof,
        prove_by_mutation=prove_by_mutation,
        checks=_checks(suite, selector, task.arch, asked, check_workload) if asked else None,
        stages=None if stages is None else tuple(stages),
        core_dump=None if core_dump is None else str(core_dump.absolute()),
    )

    async def evaluate() -> Evaluation:
        evaluator = choose(task, backend, settings, Builder(settings))
        try:
            return await evaluator.evaluate(candidate, task, options)
        finally:
            await evaluator.close()

    return run_interruptible(evaluate())


def _known(checkers: Sequence[str] | None, workload: str | None, backend: str | None) -> tuple[Checker, ...]:
    """Return the checkers that are asked for, each once."""
    if checkers is None:
        if workload is not None:
            raise UsageError("--check-workload says what --check runs", next_step=f"add --check with any of {', '.join(CHECKERS)}")
        return ()
    unknown = [name for name in checkers if name not in CHECKERS]
    if unknown:
        raise UsageError(f"unknown checker {unknown[0]!r}", next_step=f"known: {', '.join(CHECKERS)}")
    if backend == "static":
        raise UsageError("the static backend runs nothing, and so no checker", next_step="leave --check or --backend out")
    return tuple(tool for tool in CHECKERS if tool in checkers)


def _checks(suite: Suite, selector: str, arch: str, tools: tuple[Checker, ...], workload: str | None) -> Checks:
    """Return the checkers with the workload that they run."""
    uuid = workload or lightest(suite.get(selector)).workload.uuid
    return Checks(tools=tools, task=suite.task(f"{selector.partition('@')[0]}@{uuid}", arch=arch))


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


def lacking_proof(evaluation: Evaluation) -> str | None:
    """Return, for people, that a required proof alone decides the exit code and why; None where it does not."""
    code = exit_code(evaluation, require_proof=True)
    if code == exit_code(evaluation):
        return None
    if not architectures.get(evaluation.arch).is_gpu:
        why = f"{evaluation.task} is a CPU task, whose kernels have no target instructions"
    else:
        why = _LACKING[evaluation.proof.status if evaluation.proof else "unknown"]
    return f"the required proof is missing, hence exit code {code}: {why}"
