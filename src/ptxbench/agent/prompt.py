"""The first two messages of every conversation: what to do and what for."""

from __future__ import annotations

import json
from typing import Any

from ptxbench import arch as architectures
from ptxbench.agent.feedback.profile import FeedbackProfile
from ptxbench.agent.goal import roofline
from ptxbench.agent.guidance import Guidance
from ptxbench.agent.languages import FENCE_LABEL, NOT_JUDGED
from ptxbench.agent.models.message import Message
from ptxbench.agent.templating import environment
from ptxbench.core.errors import UsageError
from ptxbench.packs import Kind, Rendering
from ptxbench.schema import Baseline, Language, Profile, ScalarInput, Task


def default_language(arch: str) -> Language:
    """Return what a candidate for an architecture is written in unless something else is asked for."""
    return Language.CUDA if architectures.get(arch).is_gpu else Language.CPP


def check_language(language: Language, arch: str) -> None:
    """Raise ``UsageError`` when candidates of a language cannot target an architecture, or no evaluator runs them yet."""
    gpu = architectures.get(arch).is_gpu
    if gpu != (language in (Language.CUDA, Language.TRITON)):
        fitting = "cuda" if gpu else "cpp or python"
        raise UsageError(f"{language} candidates cannot target {arch}", next_step=f"use --language {fitting}")
    if language in NOT_JUDGED:
        raise UsageError(
            f"{language} candidates cannot be evaluated yet: prompt, extraction and records know the language, the judge does not",
            next_step="use --language cuda",
        )


def system_message(
    task: Task,
    *,
    language: Language,
    turns: int,
    profile: Profile,
    pack: Rendering | None = None,
    guidance: Guidance | None = None,
) -> Message:
    """Return role, rules, the knowledge pack where there is one, calling convention, architecture and expert guidance."""
    text = (
        environment()
        .get_template("system.md.j2")
        .render(
            arch=task.arch,
            is_gpu=architectures.get(task.arch).is_gpu,
            language=language.value,
            label=FENCE_LABEL[language],
            turns=turns,
            profile=profile.value,
            pack_text=pack.text.strip() if pack is not None else None,
            pack_has_headers=language is Language.CUDA
            and pack is not None
            and any(one.kind is Kind.WRAPPERS for one in pack.sections),
            guidance_text=guidance.text if guidance is not None else None,
        )
    )
    return Message(role="system", content=text)


def user_message(
    task: Task,
    *,
    profile: Profile,
    detail: FeedbackProfile = "paper",
    device: str | None = None,
    baseline: Baseline | None = None,
) -> Message:
    """Return the definition (without its tags), the concrete workload and the rules of correctness.

    ``detail`` is the run's feedback profile: ``full`` adds the least time that ``device`` (an id of the device table) allows, and
    the baseline's latency where an evaluator has measured it on that device.
    """
    definition = {key: value for key, value in task.definition.model_dump(mode="json").items() if key != "tags"}
    full = detail == "full"
    text = (
        environment()
        .get_template("user.md.j2")
        .render(
            definition=json.dumps(definition, indent=2, ensure_ascii=False),
            axes=task.axes,
            arguments=_arguments(task),
            tolerance=task.tolerance,
            library=task.reference.library,
            profile=profile.value,
            roofline=roofline(task, device) if full else None,
            baseline=baseline if full and baseline is not None and baseline.device == device else None,
        )
    )
    return Message(role="user", content=text)


def _arguments(task: Task) -> list[dict[str, Any]]:
    rows = []
    for role, specs in (("input", task.definition.inputs), ("output", task.definition.outputs)):
        for name, spec in specs.items():
            sizes = task.definition.shape(name, task.workload.axes)
            given = task.workload.inputs.get(name)
            value = f", {given.value} here" if isinstance(given, ScalarInput) else ""
            shape = f"scalar{value}" if sizes is None else "[" + ", ".join(map(str, sizes)) + "]"
            rows.append({"name": name, "role": role, "dtype": spec.dtype, "shape": shape})
    return rows
