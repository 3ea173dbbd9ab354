"""``Turn``: one row of the table that all metrics read."""

from __future__ import annotations

import math

from pydantic import Field, JsonValue

from ptxbench.schema.base import PROTOCOL_VERSION, SCHEMA_VERSION, Record
from ptxbench.schema.evaluation import CorrectVerdict
from ptxbench.schema.outcome import Blame, ImportedOutcome, Outcome
from ptxbench.schema.proof import ProofStatus

DISTRUSTED_FLAGS = frozenset({"under_roofline", "clock_disagrees", "late_work"})
"""Flags of a latency that cannot be: the turn stays correct and counts as if it had not been timed (protocol section 5)."""


class CellKey(Record):
    """What makes turns comparable: rows of a report pool turns with equal keys and never across them."""

    model: str
    checkpoint: str | None = None
    arch: str
    device: str | None
    task: str
    workload: str
    language: str
    pack: str | None = None
    arm: str | None = None
    condition: str | None = None
    harness: str = "mini"
    protocol: str
    run: str


class TurnProof(Record):
    """The proof in short.

    Tables made elsewhere may tag a kernel by what stands in its source. That is a claim and no proof: its ``status`` is
    ``unknown``, and no figure that asks for executed instructions counts it.
    """

    status: ProofStatus
    compute: bool | None
    data_movement: bool | None
    work_share: float | None
    source_tag: str | None = None
    """The tag as the table writes it; None where it has none."""
    source_target: bool | None = None
    """Whether the table says that the kernel is correct and its tag names the target; None where it says nothing."""


class TokenCount(Record):
    """Tokens of one turn by kind; None where the provider did not say."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None


class TurnHashes(Record):
    """Content hashes of what made this turn; None where there is none, and all of a turn that was imported."""

    prompt: str | None
    reply: str | None
    source: str | None
    evaluation: str | None
    task: str | None
    suite: str | None = None
    pack: str | None = None
    """The pack's text in the prompt."""
    guidance: str | None = None
    """The expert-edited fragment in the prompt."""
    toolchain: str | None = None
    reference: str | None = None


class Turn(Record):
    """One model call and its evaluation. ``turn`` counts from 0. ``outcome`` None goes with ``undecided``.

    ``seconds`` is by stage: ``model`` for the request with all its retries, the others as the evaluation names them.
    """

    schema_version: int = SCHEMA_VERSION
    protocol_version: str = PROTOCOL_VERSION
    key: CellKey
    variant: str | None = None
    trajectory: str
    turn: int
    outcome: Outcome | ImportedOutcome | None
    undecided: str | None
    blame: Blame | None
    correct: CorrectVerdict
    speedup: float | None
    paired_speedup: float | None = None
    """Median of the trials' own ratios (see ``Latency``); the published definition of a speedup is ``speedup``."""
    candidate_us: float | None
    reference_us: float | None
    proof: TurnProof | None
    flags: tuple[str, ...] = ()
    hashes: TurnHashes
    tokens: TokenCount
    cost_usd: float | None
    """None when it is unknown: neither the provider nor a table of prices says it."""
    seconds: dict[str, float | None]
    sampling: dict[str, JsonValue] = Field(default_factory=dict)
    """What the request asked for, its own seed included; what is not here was left to the provider."""
    served_model: str | None = None
    """The model's name as the endpoint gives it, often with a version."""

    @property
    def trusted_speedup(self) -> float | None:
        """The speedup of a correct turn whose latency can be: finite, above zero, without a flag that refutes it; else None."""
        if self.outcome is not Outcome.CORRECT or self.speedup is None or DISTRUSTED_FLAGS.intersection(self.flags):
            return None
        return self.speedup if math.isfinite(self.speedup) and self.speedup > 0.0 else None
