"""From a reply and its evaluation to the ``Turn`` that every metric reads."""

from __future__ import annotations

from ptxbench.agent.engine.ledger import ReplyStep
from ptxbench.agent.engine.places import Place
from ptxbench.agent.models.message import Usage
from ptxbench.evaluate.verdict import no_code
from ptxbench.schema import CellKey, Evaluation, Turn, TurnHashes, TurnProof


def evaluated_turn(
    key: CellKey,
    place: Place,
    step: ReplyStep,
    usage: Usage,
    evaluation: Evaluation,
    *,
    source: str,
    evaluation_hash: str,
    task_hash: str,
) -> Turn:
    """Return the row of a turn whose candidate was evaluated."""
    latency, proof = evaluation.latency, evaluation.proof
    return Turn(
        key=key,
        variant=place.variant,
        trajectory=place.trajectory,
        turn=step.turn,
        outcome=evaluation.outcome,
        undecided=evaluation.undecided,
        blame=evaluation.blame,
        correct=evaluation.correct,
        speedup=latency.speedup if latency else None,
        candidate_us=latency.candidate_us if latency else None,
        reference_us=latency.reference_us if latency else None,
        proof=None
        if proof is None
        else TurnProof(status=proof.status, compute=proof.compute, data_movement=proof.data_movement, work_share=proof.work_share),
        flags=tuple(flag.code for flag in evaluation.flags),
        hashes=TurnHashes(
            prompt=step.prompt,
            reply=step.reply,
            source=source,
            evaluation=evaluation_hash,
            task=task_hash,
            toolchain=evaluation.hashes.toolchain,
            reference=evaluation.hashes.reference,
        ),
        tokens=usage.tokens,
        cost_usd=usage.cost_usd,
        seconds={"model": step.seconds} | evaluation.seconds,
    )


def no_code_turn(key: CellKey, place: Place, step: ReplyStep, usage: Usage, missing: str, *, task_hash: str) -> Turn:
    """Return the row of a reply that holds no code: it counts, and it is the candidate's."""
    verdict = no_code(missing)
    return Turn(
        key=key,
        variant=place.variant,
        trajectory=place.trajectory,
        turn=step.turn,
        outcome=verdict.outcome,
        undecided=verdict.undecided,
        blame=verdict.blame,
        correct=verdict.correct,
        speedup=None,
        candidate_us=None,
        reference_us=None,
        proof=None,
        hashes=TurnHashes(prompt=step.prompt, reply=step.reply, source=None, evaluation=None, task=task_hash),
        tokens=usage.tokens,
        cost_usd=usage.cost_usd,
        seconds={"model": step.seconds},
    )
