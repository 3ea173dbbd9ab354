"""``PLAN.toml``: a sweep over models, tasks, architectures, languages, packs and arms, cell by cell under one set of rules."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, ValidationError, field_validator, model_validator

from ptxbench.agent.config import OWN_PACK, Count, HistoryPolicy, RunConfig
from ptxbench.agent.feedback import FeedbackProfile
from ptxbench.agent.models.message import Sampling
from ptxbench.agent.models.secrets import check_variable
from ptxbench.agent.spending import Caps
from ptxbench.core.errors import UsageError
from ptxbench.schema import Language, Profile, Record

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

NONE = "none"
"""Stands in ``packs`` for cells without a pack, and in ``guidance`` for cells without any, beside those with one."""


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) != len(values):
        raise ValueError("something is named twice")
    return values


Names = Annotated[tuple[str, ...], AfterValidator(_each_once)]
SomeNames = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_each_once)]


class ModelChoice(Record):
    """One model of a sweep, with what is its own."""

    name: str
    """As ``--model`` takes it."""
    base_url: str | None = None
    """Address of its endpoint."""
    key_variable: str | None = None
    """Environment variable that holds its key, where it is another than the usual one."""
    sampling: Sampling | None = None
    """In place of the plan's, as a whole."""

    @field_validator("key_variable")
    @classmethod
    def _is_a_name(cls, name: str | None) -> str | None:
        if name is not None:
            try:
                check_variable(name)
            except UsageError as error:
                raise ValueError(error.message) from None
        return name


class Sweep(Record):
    """What the cells are: one for every combination."""

    models: Annotated[tuple[str | ModelChoice, ...], Field(min_length=1)]
    tasks: SomeNames
    """``NAME`` or ``NAME@UUID``."""
    archs: Names = ()
    """Empty: each task's own default."""
    languages: Annotated[tuple[Language, ...], AfterValidator(_each_once)] = ()
    """Empty: by the architecture."""
    variants: Names = ()
    """Prompt variants of cells with a pack: they belong to one cell, and its figures pool them. Empty: the first that the pack has
    for the task, ``["all"]``: every one."""
    packs: Names = ()
    """Empty: each task's own."""
    arms: Names = ()
    """Empty: the whole pack."""
    guidance: Names = ()
    """Fragments of the packs, one a cell."""

    @model_validator(mode="after")
    def _models_differ(self) -> Self:
        _each_once(tuple(choice.name for choice in self.choices))
        return self

    @property
    def choices(self) -> tuple[ModelChoice, ...]:
        """The models, each in its long form."""
        return tuple(item if isinstance(item, ModelChoice) else ModelChoice(name=item) for item in self.models)


class Rules(Record):
    """What all cells have in common; the names are the command's options."""

    trajectories: Count = 4
    turns: Count = 8
    protocol: Profile = Profile.STRICT
    feedback: FeedbackProfile = "full"
    history: HistoryPolicy = "full"
    profile_feedback: bool = False
    seed: Annotated[int, Field(ge=0)] = 0
    concurrency: Count = 8
    """Over the whole sweep."""
    target_speedup: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


class RunPlan(Record):
    """A plan file."""

    sweep: Sweep
    rules: Rules = Rules()
    sampling: Sampling = Sampling()
    caps: Caps = Caps()
    """Over the whole sweep."""

    def cells(self, name: str) -> Iterator[Cell]:
        """Yield the cells in order. ``name`` is the plan's, for their records."""
        sweep, rules = self.sweep, self.rules
        axes = product(sweep.choices, sweep.tasks, sweep.archs or (None,), sweep.languages or (None,))
        for (choice, task, arch, language), (pack, arm, guidance) in product(axes, self._knowledge()):
            config = RunConfig(
                tasks=(task,),
                model=choice.name,
                arch=arch,
                language=language,
                trajectories=rules.trajectories,
                turns=rules.turns,
                target_speedup=rules.target_speedup,
                profile=rules.protocol,
                feedback=rules.feedback,
                history=rules.history,
                profile_feedback=rules.profile_feedback,
                variants=(sweep.variants or None) if pack is not None else None,
                pack=pack,
                arm=arm,
                guidance=guidance,
                seed=rules.seed,
                concurrency=rules.concurrency,
                sampling=choice.sampling or self.sampling,
                plan=name,
            )
            yield Cell(config, choice)

    def _knowledge(self) -> list[tuple[str | None, str | None, str | None]]:
        """Return packs with their arms and guidance; a cell without a pack has neither."""
        sweep = self.sweep
        found: list[tuple[str | None, str | None, str | None]] = []
        for pack in sweep.packs or (OWN_PACK,):
            if pack == NONE:
                found.append((None, None, None))
                continue
            fragments = (None if name == NONE else name for name in sweep.guidance or (NONE,))
            found += [(pack, arm, guidance) for guidance in fragments for arm in sweep.arms or (None,)]
        return found


@dataclass(frozen=True)
class Cell:
    """One run of a plan, and how its model is reached."""

    config: RunConfig
    choice: ModelChoice


def read_plan(path: Path) -> RunPlan:
    """Return a plan file's plan. Raises ``UsageError`` that names every key that cannot be used."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the plan {path}: {error.strerror}", next_step="name a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}", next_step=_SEE) from None
    try:
        # By way of JSON, for types as TOML has them: no number out of a text, no count out of a truth.
        return RunPlan.model_validate_json(json.dumps(data, default=str), strict=True)
    except ValidationError as error:
        faults = dict.fromkeys(
            _fault(one["loc"], one["type"], one["msg"]) for one in error.errors(include_url=False) if not _follows(one)
        )
        raise UsageError(f"{path}: {'; '.join(faults)}", next_step=_SEE) from None


_SEE = "see docs/running.md and examples/plans/ for the form"


_TABLES: dict[str, type[BaseModel]] = {"sweep": Sweep, "rules": Rules, "sampling": Sampling, "caps": Caps}
"""A plan's tables by the names that they have there."""

_SPELLED = {"profile": "protocol", "max_cost": "cost_usd", "max_total_tokens": "total_tokens", "max_turns_now": "turns_now"}
"""What an option or a record calls a key that has another name here."""

_KEYS = frozenset({"api_key", "apikey", "key"})
"""Where people put the key itself."""


def _follows(error: ErrorDetails) -> bool:
    """Return whether an error only repeats another: a table is no name, and a list whose items are wrong is not empty."""
    given = error["input"]
    if error["type"] == "too_short":
        return bool(given)
    return error["loc"][-1:] == ("str" if isinstance(given, dict) else "ModelChoice",)


def _fault(where: tuple[int | str, ...], kind: str, message: str) -> str:
    place = ".".join(str(part) for part in where if part not in ("str", "ModelChoice"))
    if kind == "extra_forbidden":
        return f"{place}: {_unknown(where)}"
    if where[-1:] == ("str",) and where[:2] == ("sweep", "models"):
        return f"{place}: a model is its name or a table with one"
    if kind == "missing":
        return f"{place}: is missing"
    if kind == "too_short":
        return f"{place}: at least one is needed"
    return f"{place or 'plan'}: {message.removeprefix('Value error, ')}"


def _unknown(where: tuple[int | str, ...]) -> str:
    """Return what is wrong with a key that is not known where it stands, and what it may have been meant to be."""
    key, known = str(where[-1]), _keys_beside(where)
    if key in _KEYS:
        return "a plan holds no key; key_variable beside a model's name says which environment variable does"
    meant = _SPELLED.get(key, key)
    table = next((name for name, record in _TABLES.items() if meant in record.model_fields), None)
    if table is not None and meant not in known:
        return f"unknown key here ({meant} stands under [{table}])"
    close = [meant] if meant in known else get_close_matches(key, known, n=1, cutoff=0.5)
    return "unknown key" + (f" (did you mean {close[0]}?)" if close else "")


def _keys_beside(where: tuple[int | str, ...]) -> list[str]:
    """Return the keys that are known where an unknown one stands."""
    record: type[BaseModel] = RunPlan
    inner = _TABLES | {"ModelChoice": ModelChoice}
    for part in where[:-1]:
        record = inner.get(str(part), record)
    return list(record.model_fields)
