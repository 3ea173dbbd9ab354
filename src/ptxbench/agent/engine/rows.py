"""From a reply and its evaluation to the ``Turn`` that every metric reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ptxbench.agent.engine.ledger import EvaluationStep, ReplyStep
from ptxbench.agent.engine.places import Place
from ptxbench.agent.models.message import Reply, Sampling
from ptxbench.evaluate.verdict import no_code
from ptxbench.schema import CellKey, Evaluation, Turn, TurnHashes, TurnProof


@dataclass(frozen=True)
class Origin:
    """Where a turn comes from. ``suite``, ``task``, ``pack`` (its text) and ``guidance`` are hashes."""

    key: CellKey
    place: Place
    asked: ReplyStep
    reply: Reply
    sampling: Sampling
    suite: str
    task: str
    pack: str | None = None
    guidance: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the fields of a row that follow from the request and its reply."""
        return {
            "key": self.key,
            "variant": self.place.variant,
            "trajectory": self.place.trajectory,
            "turn": self.asked.turn,
            "tokens": self.reply.usage.tokens,
            "cost_usd": self.reply.usage.cost_usd,
            "sampling": self.sampling.model_dump(mode="json", exclude_none=True),
            "served_model": self.reply.served_model,
        }

    def hashes(self, **more: str | None) -> TurnHashes:
        """Return the row's hashes: the request's own, and those of its evaluation."""
        request = {"prompt": self.asked.prompt, "reply": self.asked.reply, "task": self.task, "suite": self.suite}
        shown = {"pack": self.pack, "guidance": self.guidance}
        return TurnHashes.model_validate({"source": None, "evaluation": None, **request, **shown, **more})


def evaluated_turn(origin: Origin, judged: EvaluationStep, evaluation: Evaluation) -> Turn:
    """Return the row of a turn whose candidate was evaluated."""
    latency, proof = evaluation.latency, evaluation.proof
    return Turn(
        **origin.facts(),
        outcome=evaluation.outcome,
        undecided=evaluation.undecided,
        blame=evaluation.blame,
        correct=evaluation.correct,
        speedup=latency.speedup if latency else None,
        paired_speedup=latency.paired_speedup if latency else None,
        candidate_us=latency.candidate_us if latency else None,
        reference_us=latency.reference_us if latency else None,
        proof=None
        if proof is None
        else TurnProof(status=proof.status, compute=proof.compute, data_movement=proof.data_movement, work_share=proof.work_share),
        flags=tuple(flag.code for flag in evaluation.flags),
        hashes=origin.hashes(
            source=judged.source,
            evaluation=judged.evaluation,
            toolchain=evaluation.hashes.toolchain,
            reference=evaluation.hashes.reference,
        ),
        seconds={"model": origin.asked.seconds} | evaluation.seconds,
    )


def no_code_turn(origin: Origin, missing: str) -> Turn:
    """Return the row of a reply that holds no code: it counts, and it is the candidate's."""
    verdict = no_code(missing)
    return Turn(
        **origin.facts(),
        outcome=verdict.outcome,
        undecided=verdict.undecided,
        blame=verdict.blame,
        correct=verdict.correct,
        speedup=None,
        candidate_us=None,
        reference_us=None,
        proof=None,
        hashes=origin.hashes(),
        seconds={"model": origin.asked.seconds},
    )
