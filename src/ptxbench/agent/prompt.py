"""The first two messages of every conversation: what to do and what for."""

from __future__ import annotations

import json
from typing import Any

from ptxbench import arch as architectures
from ptxbench.agent.models.message import Message
from ptxbench.agent.templating import environment
from ptxbench.core.errors import UsageError
from ptxbench.schema import Language, Profile, ScalarInput, Task

VARIANTS = ("plain",)
"""Prompt variants without a pack; a pack brings its own."""

FENCE_LABEL = {Language.CUDA: "cuda", Language.CPP: "cpp", Language.PYTHON: "python", Language.TRITON: "python"}
"""The label that prompts ask for, one of those that ``extract`` takes."""


def default_language(arch: str) -> Language:
    """Return what a candidate for an architecture is written in unless something else is asked for."""
    return Language.CUDA if architectures.get(arch).is_gpu else Language.CPP


def check_language(language: Language, arch: str) -> None:
    """Raise ``UsageError`` when candidates of a language cannot target an architecture."""
    gpu = architectures.get(arch).is_gpu
    if gpu != (language in (Language.CUDA, Language.TRITON)):
        fitting = "cuda or triton" if gpu else "cpp or python"
        raise UsageError(f"{language} candidates cannot target {arch}", next_step=f"use --language {fitting}")


def system_message(
    task: Task, *, language: Language, turns: int, profile: Profile, variant: str = "plain", pack_text: str | None = None
) -> Message:
    """Return role, rules, calling convention, architecture and, when there is one, the knowledge pack."""
    if variant not in VARIANTS:
        raise UsageError(f"unknown prompt variant {variant!r}", next_step=f"known: {', '.join(VARIANTS)}")
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
            pack_text=pack_text,
        )
    )
    return Message(role="system", content=text)


def user_message(task: Task, *, profile: Profile) -> Message:
    """Return the definition (without its tags), the concrete workload and the rules of correctness."""
    definition = {key: value for key, value in task.definition.model_dump(mode="json").items() if key != "tags"}
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
