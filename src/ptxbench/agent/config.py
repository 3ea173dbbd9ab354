"""``RunConfig``: everything that a run is asked to do."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ptxbench.agent.feedback import FeedbackProfile
from ptxbench.agent.models.message import Sampling
from ptxbench.agent.prices import Price
from ptxbench.schema import Language, Profile, Record

HistoryPolicy = Literal["full", "latest", "single"]

OWN_PACK = "auto"
"""Stands for the pack that is for a task's architecture and language, where there is one."""

MOST = 10_000
"""Of anything that is counted in a plan: more is a slip of the keyboard."""
Count = Annotated[int, Field(ge=1, le=MOST)]


class RunConfig(Record):
    """What to run: tasks x variants x trajectories x turns with one model under one set of rules."""

    tasks: tuple[str, ...]
    """Selectors, ``NAME`` or ``NAME@UUID``."""
    model: str
    """``PROVIDER/NAME`` as ``load_model`` takes it."""
    arch: str | dict[str, str] | None = None
    """One architecture for all tasks, or one per selector; a task without one gets its own default."""
    language: Language | None = None
    """None: CUDA for GPU architectures, C++ for ``cpu``."""
    trajectories: Count = 4
    """Independent conversations per task and prompt variant."""
    turns: Count = 8
    """Replies per trajectory; there is no early stop without ``target_speedup``."""
    target_speedup: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """A trajectory ends at its first trusted speedup of at least this; the run is then comparable with no other (protocol 7)."""
    profile: Profile = Profile.STRICT
    """The protocol profile that decides outcomes."""
    feedback: FeedbackProfile = "full"
    history: HistoryPolicy = "full"
    variants: tuple[str, ...] | None = None
    """Prompt variants of each task; None: the first that its pack has for it (``base``), ``("all",)``: every one."""
    pack: str | None = OWN_PACK
    """Knowledge pack that the prompts carry; ``auto``: each task's own, None: none."""
    arm: str | None = None
    """Which of the pack's arms; None: ``contracts``, the whole pack."""
    guidance: str | None = None
    """The pack's expert-edited fragment that the prompt carries as well."""
    profile_feedback: bool = False
    """Whether a correct kernel is profiled and the model told where its time goes; only with ``feedback`` full, only on a GPU."""
    seed: int = 0
    """Seed of the judge's inputs."""
    concurrency: Count = 8
    """How many requests to the model are in flight at once; trajectories that wait for an evaluation take no place."""
    sampling: Sampling = Sampling()
    """``sampling.seed``, when given, is moved on by trajectory and turn, so that equal prompts do not give equal replies."""
    evaluation_attempts: Count = 3
    """How often a candidate is evaluated when the infrastructure or the reference fails."""
    evaluation_wait_s: Annotated[float, Field(ge=0)] = 5.0
    """Wait before the second try; it doubles with each further one."""
    endpoint: str | None = None
    """Where the model was asked when the run began: an address without user, password and query."""
    price: Price | None = None
    """What a token costs where the provider does not name a reply's cost; None: unknown."""
    plan: str | None = None
    """The sweep that this run is a cell of."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.profile_feedback and self.feedback != "full":
            raise ValueError("profile_feedback: paper feedback tells nothing of it")
        for name in ("tasks", "variants"):
            values: tuple[str, ...] | None = getattr(self, name)
            if values is None:
                continue
            if not values:
                raise ValueError(f"{name}: at least one is needed")
            if len(set(values)) != len(values):
                raise ValueError(f"{name}: named twice")
        return self

    def arch_of(self, selector: str) -> str | None:
        """Return the architecture asked for a task, None for the task's default."""
        return self.arch.get(selector) if isinstance(self.arch, dict) else self.arch
