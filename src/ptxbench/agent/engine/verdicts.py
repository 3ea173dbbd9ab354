"""One candidate's evaluation, from the evaluator to the journal; tried again until the verdict is the candidate's."""

from __future__ import annotations

import asyncio

from ptxbench.agent.engine.events import Evaluating
from ptxbench.agent.engine.ledger import EvaluationStep
from ptxbench.agent.engine.places import Place
from ptxbench.agent.engine.stage import Stage, Stopped, to_the_end
from ptxbench.core.errors import InfrastructureError, NoGpu, StorageError, ToolMissing
from ptxbench.evaluate import EvaluateOptions, Evaluator
from ptxbench.schema import Blame, Candidate, Evaluation, Task


async def judge(
    stage: Stage, place: Place, turn: int, evaluator: Evaluator, task: Task, candidate: Candidate
) -> tuple[EvaluationStep, Evaluation]:
    """Return a candidate's evaluation when it is in the journal, from there if it was before.

    Raises ``Stopped`` when the infrastructure or the reference keeps failing, ``RunMismatch`` when the evaluation was made with
    another toolchain than the run's, ``StorageError`` when the journal holds the evaluation of another candidate.
    """
    done = stage.ledger.past(place).evaluations.get(turn)
    if done is None:
        evaluation = await _evaluate(stage, place, turn, evaluator, task, candidate)
        stage.versions.check_toolchain(place.arch, evaluation.hashes.toolchain)
        return await to_the_end(_keep(stage, place, turn, candidate, evaluation)), evaluation
    if done.source != candidate.hash:
        raise StorageError(
            f"the journal's evaluation of turn {turn} of {place.trajectory} is of another source than its reply",
            next_step="the journal was edited: restore it, or choose another --out",
        )
    return done, stage.ledger.evaluation(done.evaluation)


async def _keep(stage: Stage, place: Place, turn: int, candidate: Candidate, evaluation: Evaluation) -> EvaluationStep:
    ledger = stage.ledger
    source, stored = await ledger.in_thread(ledger.put_records, candidate, evaluation)
    step = EvaluationStep(place=place, turn=turn, source=source, evaluation=stored)
    await ledger.record(step)
    return step


async def _evaluate(stage: Stage, place: Place, turn: int, evaluator: Evaluator, task: Task, candidate: Candidate) -> Evaluation:
    """Evaluate until the verdict is the candidate's. Faults of the reference or of infrastructure are no verdict."""
    config = stage.config
    options = EvaluateOptions(profile=config.profile, seed=config.seed, counters=config.profile_feedback)
    policy = stage.retry()
    failures = 0
    while True:
        stage.progress(Evaluating(place, turn))
        fault: InfrastructureError
        try:
            evaluation = await evaluator.evaluate(candidate, task, options)
        except StorageError:
            raise
        except InfrastructureError as error:
            fault = error
        else:
            if evaluation.blame not in (Blame.REFERENCE, Blame.INFRASTRUCTURE):
                return evaluation
            fault = InfrastructureError(f"blame of the {evaluation.blame}: {_what_happened(evaluation)}")
        failures += 1
        final = failures >= policy.attempts or isinstance(fault, ToolMissing | NoGpu)
        await stage.incident(place, turn, fault, final=final)
        if final:
            raise Stopped(fault.message)
        await asyncio.sleep(policy.wait_s(failures))


def _what_happened(evaluation: Evaluation) -> str:
    if evaluation.debug is not None:
        return f"{evaluation.debug.kind}: {evaluation.debug.text}"
    return evaluation.undecided or "; ".join(evaluation.correct.reasons) or "no reason given"
