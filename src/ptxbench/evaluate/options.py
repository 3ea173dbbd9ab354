"""What an evaluation is asked for, and the seam behind which every evaluator stands."""

from __future__ import annotations

from typing import Protocol

from pydantic import Field

from ptxbench.schema import Candidate, Checker, Evaluation, Profile, ProofMethod, Task
from ptxbench.schema.base import Record


class Checks(Record):
    """Memory checkers on request (protocol section 4)."""

    tools: tuple[Checker, ...]
    task: Task | None = None
    """The workload they run, as a rule a small one: racecheck is slow. None for the one that is evaluated."""


class EvaluateOptions(Record):
    """How to evaluate."""

    profile: Profile = Profile.STRICT
    """Whose rules decide outcome and speedup; ``paper`` runs only what it needs."""
    seed: int = 0
    """What all input sets are drawn from."""
    stages: tuple[str, ...] | None = None
    """Stages to run after the build (``sanitize``, ``compare``, ``time``, ``prove``), None for all that the backend has."""
    proof: ProofMethod = "cupti"
    """How executed instructions are counted (protocol section 6)."""
    prove_by_mutation: bool = False
    """Whether a kernel whose matrix instructions executed also runs with all of them giving zero, and must then be wrong."""
    checks: Checks | None = None
    """Memory checkers to run beside the stages, whatever those are; only a GPU's backend has them."""
    counters: bool = False
    """Whether a correct candidate is called once more for hardware counters; only a GPU's backend has them."""
    core_dump: str | None = None
    """File to keep the GPU core dump of a hang in, for cuda-gdb (``target cudacore``); only a GPU's backend makes one."""
    run_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Limit of one run of the candidate in seconds, in place of the task's."""

    def wants(self, stage: str) -> bool:
        """Whether a stage is asked for."""
        return self.stages is None or stage in self.stages


class Evaluator(Protocol):
    """Something that turns a candidate and a task into an ``Evaluation``.

    A candidate's failure is part of the record. What raises is an ``InfrastructureError``: a missing tool, a full disk.
    """

    backend: str

    async def evaluate(self, candidate: Candidate, task: Task, options: EvaluateOptions) -> Evaluation:
        """Evaluate one candidate on one task."""
        ...

    async def close(self) -> None:
        """Give back every process and file that the evaluator holds."""
        ...
