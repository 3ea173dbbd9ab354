"""The records of ``manifest.toml``: which fragments a pack has, in which order, and what each arm shows of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from ptxbench.core.errors import PackError, nearest
from ptxbench.schema import Language, Record

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
FragmentId = Annotated[str, StringConstraints(pattern=r"^@?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*/?$")]
"""A file below ``data/`` without its suffix (``contracts/tma/tx``), a folder of them (``contracts/tma/``), or ``@group``."""


class Kind(StrEnum):
    """What a fragment is, by the folder it lies in."""

    PARAMETERS = "parameters"
    WRAPPERS = "wrappers"
    CONTRACTS = "contracts"
    SCHEDULE = "schedule"
    DEBUG = "debug"
    GUIDANCE = "guidance"


KIND_OF_FOLDER = {
    "parameters": Kind.PARAMETERS,
    "include": Kind.WRAPPERS,
    "contracts": Kind.CONTRACTS,
    "schedules": Kind.SCHEDULE,
    "debug": Kind.DEBUG,
    "guidance": Kind.GUIDANCE,
    "triton/language": Kind.WRAPPERS,
    "triton/contracts": Kind.CONTRACTS,
    "triton/schedules": Kind.SCHEDULE,
    "triton/debug": Kind.DEBUG,
}
"""Where a language has no headers, what it offers stands in the place of wrappers."""


def kind_of(fragment: str) -> Kind:
    """Return what a fragment is, by its id."""
    return next(kind for folder, kind in KIND_OF_FOLDER.items() if fragment.startswith(f"{folder}/"))


class Arm(StrEnum):
    """How much of a pack a prompt shows: three arms of an ablation, each with all of the one before it, and a shorter last one."""

    PARAMETERS = "parameters"
    """The device table alone, and the prompt variant's idea in words."""
    WRAPPERS = "wrappers"
    """And the code of every wrapper, its comments taken out."""
    CONTRACTS = "contracts"
    """And comments, contracts and the table of symptoms: the whole pack."""
    REPRESENTATIVE = "representative"
    """The whole pack with one instance of each wrapper, its other instances named in a comment: as published packs have it."""

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of fragment that this arm shows."""
        shown = {Kind.PARAMETERS, Kind.SCHEDULE}
        if self is not Arm.PARAMETERS:
            shown.add(Kind.WRAPPERS)
        if self in (Arm.CONTRACTS, Arm.REPRESENTATIVE):
            shown |= {Kind.CONTRACTS, Kind.DEBUG}
        return frozenset(shown)


class Shown(StrEnum):
    """How a prompt shows a header."""

    CODE = "code"
    """Its code as it stands: what is pasted together compiles."""
    DECLARATIONS = "declarations"
    """Each annotated declaration with its PTX: for what repeats a pattern that another fragment shows whole."""
    NOTHING = "nothing"
    """Not at all: generated repetition that no shown header needs."""


BASE = "base"
"""The variant of every family that adds nothing."""


class Pack(Record):
    """One pack: a target, its fragments in the order of the prompt, and the prompt variants of each problem family."""

    title: str
    arch: str
    language: Language = Language.CUDA
    devices: Annotated[tuple[str, ...], Field(min_length=1)]
    """Ids of the device table for which it can be rendered; the first is the default."""
    budget_tokens: Annotated[int, Field(gt=0)]
    """Most tokens that its largest rendering may have, by the estimate that needs no tokenizer."""
    fragments: Annotated[tuple[FragmentId, ...], Field(min_length=1)]
    shown: Mapping[FragmentId, Shown] = Field(default_factory=dict)
    """Headers of the pack that are not shown as code."""
    guidance: tuple[FragmentId, ...] = ()
    """Fragments that a run may add by ``--guidance``; never part of the pack's own text."""
    variants: Mapping[Id, Mapping[Id, tuple[FragmentId, ...]]] = Field(default_factory=dict)
    """Family to variant to the fragments that it adds. ``base`` always exists and adds nothing."""

    def variant(self, family: str | None, name: str) -> tuple[str, ...]:
        """Return what a variant adds. Raises ``PackError`` for a family or variant that the pack does not have."""
        if family is None:
            if name != BASE:
                raise PackError(f"the variant {name!r} belongs to a problem family", next_step="give --family as well")
            return ()
        if family not in self.variants:
            raise _unknown("problem family", family, list(self.variants))
        if name == BASE:
            return self.variants[family].get(BASE, ())
        if name not in self.variants[family]:
            raise _unknown(f"variant of {family}", name, list(dict.fromkeys([BASE, *self.variants[family]])))
        return self.variants[family][name]

    @property
    def entries(self) -> tuple[str, ...]:
        """Everything that it names: its own fragments, its guidance, and what variants add."""
        added = (entry for variants in self.variants.values() for entries in variants.values() for entry in entries)
        return (*self.fragments, *self.guidance, *added)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms in which it can be rendered: without headers there is no instance to choose."""
        return tuple(arm for arm in Arm if arm is not Arm.REPRESENTATIVE or self.language is Language.CUDA)

    def cells(self) -> Iterator[tuple[str | None, str]]:
        """Yield every (family, variant) whose text differs from the others', the pack without a family first."""
        yield None, BASE
        for family, variants in self.variants.items():
            yield from ((family, name) for name in variants if variants[name])


class Manifest(Record):
    """All of ``manifest.toml``."""

    schema_version: Literal[1]
    packs: Mapping[Id, Pack]
    groups: Mapping[Id, tuple[FragmentId, ...]] = Field(default_factory=dict)
    """Lists of fragments that packs, variants and other groups name as ``@group``."""

    def pack(self, name: str) -> Pack:
        """Return a pack by its id. Raises ``PackError`` with the nearest ones."""
        if name not in self.packs:
            raise _unknown("pack", name, list(self.packs))
        return self.packs[name]


def _unknown(what: str, name: str, known: list[str]) -> PackError:
    close = nearest(name, known) or known
    step = f"did you mean {', '.join(close)}?" if close else "there is none"
    return PackError(f"unknown {what} {name!r}", next_step=step, known=known)
