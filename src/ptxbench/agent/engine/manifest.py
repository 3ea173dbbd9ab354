"""``run.json``: what a run directory was made with. A directory never mixes versions or settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from ptxbench.agent.engine.mismatch import cells_by_task, mismatch, short
from ptxbench.agent.knowledge import PackUse
from ptxbench.core.atomic import write_atomic
from ptxbench.core.errors import RunMismatch, UsageError
from ptxbench.schema import PROTOCOL_VERSION, SCHEMA_VERSION, Baseline, CellKey, Device, Record

MANIFEST_NAME = "run.json"

FREE_SETTINGS = frozenset({"concurrency", "evaluation_attempts", "evaluation_wait_s", "endpoint", "price", "plan"})
"""Settings that change how fast a run goes, where and for how much, and not what its numbers mean."""


class ManifestCell(Record):
    """One row-to-be of the report: its key, the hash of its task, what its prompts carry beside it, and in which variants."""

    key: CellKey
    task_hash: str
    variants: tuple[str, ...] = ()
    """The prompt variants that are played."""
    knowledge: PackUse | None = None
    baseline: Baseline | None = None
    """Measured when the run began, for the feedback profile ``full``; a run that goes on says the same."""


class Code(Record):
    """The code that made the run: its version, and hashes of what makes prompts and of what judges."""

    version: str
    templates: str
    """Hash of the prompt and feedback templates."""
    agent: str | None = None
    """Hash of the rest that decides what a model is asked and what is taken from its answer."""
    judge: str | None = None
    """Hash of the rooms that decide a verdict."""
    numpy: str | None = None
    """Version of the library that the judge computes with."""


class Environment(Record):
    """Where a run was made; never a path, a host name or a key."""

    python: str
    platform: str
    devices: tuple[Device, ...] = ()
    """Where candidates run: each with its driver."""


class Imported(Record):
    """Where a run's turns come from when they were made elsewhere: a table that knows little of what a run here records."""

    form: Literal["published"]
    """The table's form (see ``ptxbench.agent.imports``)."""
    table: str
    """Its file's name, without where it lies."""
    sha256: str
    """Hash of the whole table."""
    rows: int
    """How many of its rows this run has."""
    baseline: str | None
    """Library and version that its makers say they timed as reference."""


class AcceptedChange(Record):
    """A version that changed while the run was under way, on the user's word: rows before and after it are not alike."""

    field: str
    was: Any
    now: Any
    turns_done: int
    """How many turns were in the journal."""
    at: str


class Manifest(Record):
    """The record of a run directory."""

    schema_version: int = SCHEMA_VERSION
    protocol_version: str = PROTOCOL_VERSION
    run: str
    created: str
    code: Code
    environment: Environment
    model: str
    model_facts: dict[str, Any]
    suite: str
    config: dict[str, Any]
    """The run's configuration; the model's name stands without its path."""
    cells: tuple[ManifestCell, ...]
    toolchains: dict[str, str] = Field(default_factory=dict)
    """Toolchain hash by architecture, known from the first evaluation on."""
    served_models: tuple[str, ...] = ()
    """What the endpoint calls the model that answers; more than one name only where the user accepted that."""
    resumed_in: tuple[Environment, ...] = ()
    """Other environments in which the run went on, in the order of their first time."""
    accepted: tuple[AcceptedChange, ...] = ()
    """Changes of versions that the user accepted, oldest first."""
    imported: Imported | None = None
    """None for a run that was made here."""

    def check_same(self, other: Manifest) -> None:
        """Raise ``RunMismatch`` naming the first field in which the present settings differ from this directory's."""
        for name, mine, theirs in (
            ("schema_version", self.schema_version, other.schema_version),
            ("protocol_version", self.protocol_version, other.protocol_version),
            ("code.version", self.code.version, other.code.version),
            ("model", self.model, other.model),
            ("model_facts", self.model_facts, other.model_facts),
            *(
                (f"config.{key}", self.config.get(key), other.config.get(key))
                for key in sorted(self.config.keys() | other.config.keys())
                if key not in FREE_SETTINGS
            ),
            ("cells", self._cells_by_task(), other._cells_by_task()),
            ("suite", self.suite, other.suite),
            ("code.templates", self.code.templates, other.code.templates),
            ("code.agent", self.code.agent, other.code.agent),
            ("code.judge", self.code.judge, other.code.judge),
            ("code.numpy", self.code.numpy, other.code.numpy),
        ):
            if mine != theirs:
                raise mismatch(name, mine, theirs)

    def accepting(self, other: Manifest, *, turns_done: int) -> Manifest:
        """Return the manifest with the present versions of code, suite and model, each change on record.

        Settings are no versions: where those differ, ``check_same`` still refuses.
        """
        changes = [
            (name, mine, theirs)
            for name, mine, theirs in (
                *((f"code.{name}", getattr(self.code, name), getattr(other.code, name)) for name in Code.model_fields),
                ("model_facts", self.model_facts, other.model_facts),
                ("suite", self.suite, other.suite),
            )
            if mine != theirs
        ]
        now = {cell.key.model_copy(update={"run": ""}): cell for cell in other.cells}
        cells = []
        for cell in self.cells:
            present = now.get(cell.key.model_copy(update={"run": ""}), cell)
            where = f"{cell.key.task}@{cell.key.workload}"
            if present.task_hash != cell.task_hash:
                changes.append((f"task {where}", cell.task_hash, present.task_hash))
            knowledge, shown = cell.knowledge, cell.knowledge
            if knowledge is not None and present.knowledge is not None:
                shown = knowledge.with_texts_of(present.knowledge)
            if shown != knowledge and knowledge is not None and shown is not None:
                changes.append((f"pack {shown.pack} for {where}", knowledge.version, shown.version))
            cells.append(cell.model_copy(update={"task_hash": present.task_hash, "knowledge": shown}))
        if not changes:
            return self
        return self.model_copy(
            update={
                "code": other.code,
                "model_facts": other.model_facts,
                "suite": other.suite,
                "cells": tuple(cells),
                "accepted": (*self.accepted, *(_accepted(*change, turns_done) for change in changes)),
            }
        )

    def _cells_by_task(self) -> dict[str, dict[str, Any]]:
        return cells_by_task([cell.model_dump(mode="json") for cell in self.cells])

    def with_baselines(self, measured: Sequence[Baseline | None]) -> Manifest:
        """Return the manifest with each cell's baseline; one that is on record stays."""
        cells = (
            cell if cell.baseline is not None else cell.model_copy(update={"baseline": baseline})
            for cell, baseline in zip(self.cells, measured, strict=True)
        )
        return self.model_copy(update={"cells": tuple(cells)})

    def with_toolchain(self, arch: str, digest: str, *, accept_after: int | None = None) -> Manifest:
        """Return the manifest with an architecture's toolchain. Raises ``RunMismatch`` when another one is on record.

        ``accept_after``: accept another one, and note that it came after that many turns.
        """
        known = self.toolchains.get(arch)
        changed = known is not None and known != digest
        if changed and accept_after is None:
            raise RunMismatch(
                f"the run directory was made with another toolchain for {arch}: {short(known)}, now {short(digest)}",
                next_step="use the toolchain that the directory was made with, choose another --out, or --accept-changes",
                field="toolchain",
            )
        accepted = (_accepted(f"toolchain {arch}", known, digest, accept_after or 0),) if changed else ()
        return self.model_copy(update={"toolchains": self.toolchains | {arch: digest}, "accepted": (*self.accepted, *accepted)})

    def with_served_model(self, name: str, *, accept_after: int | None = None) -> Manifest:
        """Return the manifest with the name of the model that answered. Raises ``RunMismatch`` when there is another one.

        ``accept_after``: accept another one, and note that it came after that many turns.
        """
        if self.served_models and accept_after is None:
            raise RunMismatch(
                f"the endpoint answers with another model now: {short(name)}, before {short(list(self.served_models))}",
                next_step="ask the model that the directory was made with, choose another --out, or --accept-changes",
                field="served_model",
            )
        known = ", ".join(self.served_models)
        accepted = (_accepted("served_model", known, name, accept_after or 0),) if known else ()
        return self.model_copy(update={"served_models": (*self.served_models, name), "accepted": (*self.accepted, *accepted)})

    def resumed(self, environment: Environment) -> Manifest:
        """Return the manifest with an environment in which the run goes on."""
        if environment in (self.environment, *self.resumed_in):
            return self
        return self.model_copy(update={"resumed_in": (*self.resumed_in, environment)})

    def write(self, folder: Path) -> None:
        """Write ``run.json`` atomically."""
        text = json.dumps(self.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=False)
        write_atomic(folder / MANIFEST_NAME, text.encode() + b"\n")


def read_manifest(folder: Path) -> Manifest:
    """Return a directory's manifest. Raises ``UsageError`` when it is not a run directory or cannot be read."""
    path = folder / MANIFEST_NAME
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise UsageError(
            f"{folder} is not a run directory: it holds no {MANIFEST_NAME}",
            next_step="give the --out of ptxbench run, or the folder that ptxbench quickstart names",
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "file"
        step = "restore the file from a copy"
        if first["type"] != "json_invalid":
            step = f"if another version of ptxbench wrote it, use that one; else {step}"
        raise UsageError(f"{path} cannot be read: {where}: {first['msg']}", next_step=step) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", next_step="check the folder and its permissions") from None


def _accepted(field: str, was: Any, now: Any, turns_done: int) -> AcceptedChange:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return AcceptedChange(field=field, was=was, now=now, turns_done=turns_done, at=at)
