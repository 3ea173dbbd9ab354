"""``Evaluation``: everything that is known about one candidate on one task, one record per stage."""

from __future__ import annotations

from ptxbench.schema.base import PROTOCOL_VERSION, SCHEMA_VERSION, Record
from ptxbench.schema.build import Build
from ptxbench.schema.correctness import Correctness
from ptxbench.schema.counters import Counters
from ptxbench.schema.failure import RunFailure
from ptxbench.schema.latency import Latency
from ptxbench.schema.outcome import Blame, Outcome, Profile
from ptxbench.schema.policy import PolicyVerdict
from ptxbench.schema.proof import Proof
from ptxbench.schema.sanitizer import Sanitizer


class Device(Record):
    """Where a candidate ran: ``id`` is the device table's name (``h100``, ``h200``, ``b200``, ``cpu``)."""

    name: str
    id: str | None
    driver: str | None


class CorrectVerdict(Record):
    """Correctness in both profiles; None where it could not be decided. ``reasons`` has a line per failed rule."""

    paper: bool | None
    strict: bool | None
    reasons: tuple[str, ...]


class Flag(Record):
    """Something that was seen and does not decide the outcome."""

    code: str
    text: str


class Hashes(Record):
    """What this evaluation came from."""

    source: str
    task: str
    toolchain: str | None
    reference: str | None


class Evaluation(Record):
    """The result of an evaluation. Stages that did not run are None; ``undecided`` says why an outcome is missing."""

    schema_version: int = SCHEMA_VERSION
    protocol_version: str = PROTOCOL_VERSION
    profile: Profile
    backend: str
    simulated: bool = False
    task: str
    workload: str
    axes: dict[str, int]
    arch: str
    device: Device | None
    outcome: Outcome | None
    blame: Blame | None
    undecided: str | None
    correct: CorrectVerdict
    policy: PolicyVerdict | None
    build: Build | None
    sanitizer: Sanitizer | None
    checks: tuple[Sanitizer, ...] = ()
    """Memory checkers on request, each with the workload that it ran; they decide nothing."""
    correctness: Correctness | None
    latency: Latency | None
    proof: Proof | None
    counters: Counters | None = None
    """Hardware counters on request, of a correct candidate; they decide nothing."""
    debug: RunFailure | None
    flags: tuple[Flag, ...]
    hashes: Hashes
    seed: int
    seconds: dict[str, float | None]
