"""``packs evidence``: how each contract is known, and what was tried of it on which device."""

from __future__ import annotations

from ptxbench.packs import contracts
from ptxbench.packs.evidence import Evidence
from ptxbench.packs.loading import Library
from ptxbench.packs.page import Level, Status
from ptxbench.schema import Record


class Tried(Record):
    """What one bundle holds of a contract."""

    bundle: str
    device: str
    date: str
    commit: str | None
    checks: int
    cases: int
    failed: int
    """Checks in which something was wrong or nothing was compared."""
    changed: tuple[str, ...]
    """Headers of the contract whose code is another one now: while there are any, this counts as executed no longer."""


class Standing(Record):
    """One contract of a pack."""

    pack: str
    contract: str
    level: Level
    status: Status
    reason: str | None
    """Why nothing executed it, where the page says so."""
    tried: tuple[Tried, ...]


def standings(library: Library, pack_id: str | None = None) -> list[Standing]:
    """Return every contract of one pack, or of all. Raises ``PackError`` for a pack, fragment or bundle that cannot be read."""
    evidence = Evidence.of(library)
    packs = library.manifest.packs if pack_id is None else {pack_id: library.manifest.pack(pack_id)}
    found = []
    for name, pack in packs.items():
        for id, page in contracts.by_id(library.everything(pack)).items():
            level = page.front.level
            if level is None:
                continue
            headers, checks = evidence.headers_of(page), evidence.checks_of(id)
            tried = []
            for bundle, facts in evidence.bundles.items():
                own = [check for where, check in checks if where == bundle]
                if own:
                    tried.append(
                        Tried(
                            bundle=bundle,
                            device=facts.device,
                            date=facts.date,
                            commit=facts.commit,
                            checks=len(own),
                            cases=sum(check.cases for check in own),
                            failed=sum(check.failed for check in own),
                            changed=tuple(evidence.changed_since(bundle, headers)),
                        )
                    )
            status = evidence.status(page)
            found.append(Standing(pack=name, contract=id, level=level, status=status, reason=page.front.reason, tried=tuple(tried)))
    return found
