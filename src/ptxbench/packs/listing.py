"""What there is to choose from: packs, arms, variants, and the source tree whose tests contracts name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ptxbench.core.errors import PackError, nearest
from ptxbench.core.extras import CLONE
from ptxbench.packs.loading import Library
from ptxbench.packs.manifest import BASE, Arm
from ptxbench.schema import Record


class PackRow(Record):
    """One pack as ``packs list`` shows it."""

    id: str
    title: str
    arch: str
    language: str
    devices: tuple[str, ...]
    arms: tuple[str, ...]
    variants: Mapping[str, tuple[str, ...]]
    """Family to its prompt variants, ``base`` first."""
    guidance: tuple[str, ...]
    budget_tokens: int


def listing(library: Library) -> list[PackRow]:
    """Return every pack of a library."""
    return [
        PackRow(
            id=name,
            title=pack.title,
            arch=pack.arch,
            language=pack.language.value,
            devices=pack.devices,
            arms=tuple(arm.value for arm in pack.arms),
            variants={family: tuple(dict.fromkeys([BASE, *variants])) for family, variants in pack.variants.items()},
            guidance=tuple(one.rpartition("/")[2] for one in library.resolve(pack.guidance)),
            budget_tokens=pack.budget_tokens,
        )
        for name, pack in library.manifest.packs.items()
    ]


def arm_named(name: str) -> Arm:
    """Return an arm by name. Raises ``PackError`` with the nearest ones."""
    known = [arm.value for arm in Arm]
    if name not in known:
        raise PackError(f"unknown arm {name!r}", next_step=f"did you mean {', '.join(nearest(name, known) or known)}?", known=known)
    return Arm(name)


def source_tree() -> Path | None:
    """Return the source tree that this runs from, None where only the package is installed."""
    return CLONE if (CLONE / "pyproject.toml").is_file() and (CLONE / "tests").is_dir() else None
