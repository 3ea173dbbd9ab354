"""``packs.lock.json``: the hash of every fragment and of every rendering, so that no prompt changes unseen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError

from ptxbench.core.atomic import write_atomic
from ptxbench.core.canonical import sha256
from ptxbench.core.errors import PackError
from ptxbench.packs import evidence
from ptxbench.packs.keys import first_fault
from ptxbench.packs.loading import Library, read_text
from ptxbench.packs.render import Rendering, render
from ptxbench.packs.tokens import estimate
from ptxbench.schema import Record

NAME = "packs.lock.json"


class Locked(Record):
    """One rendering as it was when the lock was written."""

    sha256: str
    bytes: int
    tokens_estimated: int


class Lock(Record):
    """All of ``packs.lock.json``. The keys of a pack's renderings are ``device/arm/family/variant``."""

    schema_version: Literal[1] = 1
    fragments: Mapping[str, str]
    packs: Mapping[str, Mapping[str, Locked]]
    evidence: Mapping[str, str] = Field(default_factory=dict)
    """Hash of each evidence bundle by name: renderings say what it shows."""


def renderings(library: Library, pack_id: str) -> Iterator[Rendering]:
    """Yield every text that a pack can give: all devices, arms, families and variants."""
    pack = library.manifest.pack(pack_id)
    executed = evidence.Evidence.of(library)
    for device in pack.devices:
        for arm in pack.arms:
            for family, variant in pack.cells():
                yield render(library, pack_id, device=device, arm=arm, family=family, variant=variant, evidence=executed)


def compute(library: Library) -> Lock:
    """Return the lock that fits the present data. Raises ``PackError`` for what cannot be rendered."""
    packs: dict[str, dict[str, Locked]] = {}
    fragments: dict[str, str] = {}
    for name, pack in library.manifest.packs.items():
        packs[name] = {
            one.key: Locked(sha256=one.hash, bytes=len(one.text.encode()), tokens_estimated=estimate(one))
            for one in renderings(library, name)
        }
        for family, variant in pack.cells():
            fragments |= {one.id: sha256(one.text.encode()) for one in library.fragments(pack, family, variant)}
        fragments |= {one: sha256(library.fragment(one).text.encode()) for one in library.resolve(pack.guidance)}
    return Lock(fragments=fragments, packs=packs, evidence=evidence.hashes(library))


def read(library: Library) -> Lock | None:
    """Return the lock beside the manifest, None where there is none. Raises ``PackError`` for one that cannot be read."""
    path = library.root / NAME
    if not path.is_file():
        return None
    try:
        return Lock.model_validate(json.loads(read_text(path)))
    except ValidationError as error:
        raise PackError(f"{NAME}: {first_fault(error)}", next_step="write it anew: packs check --write-lock") from error
    except (ValueError, RecursionError) as error:
        raise PackError(f"{NAME}: {error}", next_step="write it anew: packs check --write-lock") from error


def write(library: Library, lock: Lock) -> None:
    """Write the lock beside the manifest, keys sorted, so that two machines write the same bytes."""
    data: dict[str, Any] = lock.model_dump(mode="json")
    write_atomic(library.root / NAME, (json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode())


def differences(old: Lock, new: Lock) -> Iterator[tuple[str, str]]:
    """Yield (what, how it differs) for each fragment and rendering that the old lock does not fit."""
    for name in sorted({*old.fragments, *new.fragments}):
        yield from _changed(name, old.fragments.get(name), new.fragments.get(name))
    for name in sorted({*old.evidence, *new.evidence}):
        yield from _changed(f"{evidence.FOLDER}/{name}", old.evidence.get(name), new.evidence.get(name))
    for pack in sorted({*old.packs, *new.packs}):
        before, after = old.packs.get(pack, {}), new.packs.get(pack, {})
        for key in sorted({*before, *after}):
            yield from _changed(f"{pack} {key}", before.get(key), after.get(key))


def _changed(what: str, before: object, after: object) -> Iterator[tuple[str, str]]:
    if before != after:
        yield what, "new" if before is None else "gone" if after is None else "changed"
