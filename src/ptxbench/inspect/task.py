"""``ptxbench/primary``: one sample per task and prompt variant, one epoch per trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from ptxbench.agent.config import OWN_PACK, RunConfig
from ptxbench.agent.engine.places import PlannedTask, plan
from ptxbench.agent.plan import NONE
from ptxbench.agent.spending import Caps
from ptxbench.app.suites import open_suite
from ptxbench.inspect.scores import trajectory_scores
from ptxbench.inspect.solver import Where, trajectory
from ptxbench.inspect.wording import told

HEADLINE = "gemm_n7168_k5120,mha_with_lse_d128,mha_bwd_d128"
"""What runs unless other tasks are named: one of each published family."""


@task
def primary(
    tasks: str | list[str] = HEADLINE,
    trajectories: int = 4,
    turns: int = 8,
    profile: str = "strict",
    feedback: str = "full",
    history: str = "full",
    profile_feedback: bool = False,
    variants: str | list[str] | None = None,
    pack: str = OWN_PACK,
    arm: str | None = None,
    guidance: str | None = None,
    arch: str | None = None,
    language: str | None = None,
    seed: int = 0,
    target_speedup: float | None = None,
    backend: str | None = None,
    suite: str | list[str] | None = None,
    out: str | None = None,
    accept_changes: bool = False,
    max_cost: float | None = None,
    max_total_tokens: int | None = None,
) -> Task:
    """Measure a model: it writes a kernel per turn and repairs it from feedback.

    Args:
        tasks: NAME or NAME@UUID, several with commas between.
        trajectories: Independent conversations per task and variant: the epochs.
        turns: Replies per trajectory.
        profile: The protocol profile that decides outcomes, ``paper`` or ``strict``.
        feedback: What the model is told, ``paper`` or ``full``.
        history: How much of the conversation is sent: ``full``, ``latest`` or ``single``.
        profile_feedback: Profile correct kernels with Nsight Compute and tell the model where their time goes.
        variants: Prompt variants of the pack, several with commas between, or ``all``; the first when left out.
        pack: Knowledge pack that the prompt carries, or ``none``; ``auto``: the one for the task's architecture.
        arm: How much of the pack: ``parameters``, ``wrappers``, ``representative`` or ``contracts``, the whole.
        guidance: The pack's expert-edited fragment that the prompt carries as well.
        arch: ``sm_90a``, ``sm_100a`` or ``cpu``; each task's first when left out.
        language: ``cuda``, ``cpp`` or ``python``; by the architecture when left out.
        seed: Seed of the judge's inputs.
        target_speedup: End a trajectory at its first trusted speedup of at least this; the run is then comparable with no other.
        backend: ``gpu``, ``cpu`` or ``static``; by task and machine when left out.
        suite: More suite folders.
        out: The run directory, resumed when it exists; below ``runs``, named by model, task and settings, when left out.
        accept_changes: Go on in a directory that other versions of code, suite or model made, and record that.
        max_cost: Begin no request once the run has cost this many US dollars; a reply whose cost is unknown holds at once.
        max_total_tokens: Begin no request once the run has taken this many tokens, input and output.
    """
    settings: dict[str, Any] = {
        "tasks": _list(tasks),
        "trajectories": trajectories,
        "turns": turns,
        "profile": profile,
        "feedback": feedback,
        "history": history,
        "profile_feedback": profile_feedback,
        "variants": None if variants is None else _list(variants),
        "pack": None if pack == NONE else pack,
        "arm": arm,
        "guidance": guidance,
        "arch": arch,
        "language": language,
        "seed": seed,
        "target_speedup": target_speedup,
    }
    with told():
        caps = Caps(cost_usd=max_cost, total_tokens=max_total_tokens)
        where = Where(out=out, suite=tuple(_list(suite or [])), backend=backend, accept_changes=accept_changes, caps=caps)
        config = RunConfig.model_validate({**settings, "model": "inspect"}, strict=False)
        planned = plan(config, open_suite([Path(folder) for folder in where.suite]))
    return Task(
        dataset=MemoryDataset([_sample(item, variant) for item in planned for variant in item.variants], name="ptxbench"),
        solver=trajectory(config=settings, where=where.model_dump(mode="json")),
        scorer=trajectory_scores(),
        epochs=trajectories,
        # A fault of a provider or of this machine costs its own trajectory; the others go on, and the log says so at the end.
        continue_on_fail=True,
        metadata={"tasks": {item.task.name: item.task_hash for item in planned}},
    )


def _list(names: str | list[str]) -> list[str]:
    parts = names.split(",") if isinstance(names, str) else [str(name) for name in names]
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _sample(item: PlannedTask, variant: str) -> Sample:
    work = item.task
    sizes = ", ".join(f"{name}={size}" for name, size in work.axes.items())
    return Sample(
        id=f"{work.name}@{work.workload.uuid}/{work.arch}/{variant}",
        # A heading for the viewer: the solver puts the conversation as it was asked in its place.
        input=f"{work.name} [{sizes}] for {work.arch} in {item.language}, prompt variant {variant}",
        metadata={
            "task": work.name,
            "workload": work.workload.uuid,
            "axes": dict(work.axes),
            "arch": work.arch,
            "language": item.language.value,
            "variant": variant,
            "pack": item.knowledge.pack if item.knowledge is not None else None,
            "arm": item.knowledge.arm.value if item.knowledge is not None else None,
            "task_hash": item.task_hash,
        },
    )
