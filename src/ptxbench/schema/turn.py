"""``Turn``: one row of the table that all metrics read."""

from __future__ import annotations

from ptxbench.schema.base import PROTOCOL_VERSION, SCHEMA_VERSION, Record
from ptxbench.schema.evaluation import CorrectVerdict
from ptxbench.schema.outcome import Blame, Outcome
from ptxbench.schema.proof import ProofStatus


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
    """The proof in short."""

    status: ProofStatus
    compute: bool | None
    data_movement: bool | None
    work_share: float | None


class TokenCount(Record):
    """Tokens of one turn by kind; None where the provider did not say."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None


class TurnHashes(Record):
    """Content hashes of what made this turn."""

    prompt: str
    reply: str
    source: str | None
    evaluation: str | None
    task: str
    pack: str | None = None
    toolchain: str | None = None
    reference: str | None = None


class Turn(Record):
    """One model call and its evaluation. ``turn`` counts from 0. ``outcome`` None goes with ``undecided``."""

    schema_version: int = SCHEMA_VERSION
    protocol_version: str = PROTOCOL_VERSION
    key: CellKey
    variant: str | None = None
    trajectory: str
    turn: int
    outcome: Outcome | None
    undecided: str | None
    blame: Blame | None
    correct: CorrectVerdict
    speedup: float | None
    candidate_us: float | None
    reference_us: float | None
    proof: TurnProof | None
    flags: tuple[str, ...] = ()
    hashes: TurnHashes
    tokens: TokenCount
    cost_usd: float | None
    seconds: dict[str, float]
