"""What a contract promises about itself: its target, its wrappers, what it needs, and what shows that it is true."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from ptxbench.packs.evidence import Evidence
from ptxbench.packs.finding import Finding
from ptxbench.packs.loading import Fragment
from ptxbench.packs.page import Level, Page, Status
from ptxbench.packs.parsing import Header
from ptxbench.packs.wording import Vocabulary

UNTRIED = (Status.DOCUMENTED, Status.INFERRED)
"""How a fact is known that nothing here has tried."""


def by_id(fragments: Sequence[Fragment]) -> dict[str, Page]:
    """Return the contracts among a pack's fragments: the pages with a level."""
    return {f.path.stem: f.content for f in fragments if isinstance(f.content, Page) and f.content.front.level is not None}


def of_header(where: str, header: Header, known: Mapping[str, Page]) -> Iterator[Finding]:
    """Find contracts that a header's annotations name and the pack does not have."""
    for wrapper in header.wrappers:
        for contract in wrapper.contracts:
            if contract not in known:
                yield Finding.error(
                    "unknown_contract", f"{where}:{wrapper.line}", f"{wrapper.name} names the contract {contract!r}"
                )


def of_page(
    fragment: Fragment, arch: str, vocabulary: Vocabulary, known: Mapping[str, Page], tree: Path | None
) -> Iterator[Finding]:
    """Find what a page's front matter claims and the pack, or the source tree, does not have."""
    page = fragment.content
    assert isinstance(page, Page)
    front, where = page.front, fragment.id
    if front.arch and arch not in front.arch:
        yield Finding.error("wrong_arch", where, f"holds for {', '.join(front.arch)}, and the pack is for {arch}")
    for wrapper in front.wrappers:
        if wrapper not in vocabulary.wrappers:
            yield Finding.error("unknown_wrapper", where, f"speaks of the wrapper {wrapper!r}, which no header of the pack has")
    for need in front.needs:
        if not vocabulary.provides(need):
            yield Finding.error("missing_capability", where, f"needs {need!r}, which no wrapper of the pack provides")
    for contract in front.requires:
        if contract not in known:
            yield Finding.error("unknown_contract", where, f"requires the contract {contract!r}")
    for test in front.tests if tree is not None else ():
        if not _exists(test, tree):
            yield Finding.error("unknown_test", where, f"the test {test} does not exist")
    if front.level is not None:
        yield from _standing(page, where)


def _standing(page: Page, where: str) -> Iterator[Finding]:
    """Find a ``must`` that nothing tests, and claims for which there is no evidence."""
    front = page.front
    if front.status is Status.EXECUTED:
        yield Finding.error("no_evidence", where, "claims to be executed: that is computed from evidence, say what holds without")
    if front.status in (Status.COMPILED, Status.MODELLED) and not front.tests:
        yield Finding.error("untested", where, f"claims to be {front.status.value} and names no test")
    if not front.sources and not front.tests:
        yield Finding.error("no_source", where, "names neither a test nor a source")
    if front.level is Level.MUST and not front.tests:
        if front.status not in UNTRIED:
            yield Finding.error("untested_must", where, "a must without a test")
        elif front.reason is None:
            yield Finding.note("documented_must", where, f"{front.status.value} only: nothing here has tried it")
        else:
            yield Finding.note("documented_must", where, f"{front.status.value} only: {front.reason}")


def shown_by(evidence: Evidence, known: Mapping[str, Page]) -> Iterator[Finding]:
    """Find what a device contradicted, what it was not asked, and what changed since. Silent where there is no evidence at all."""
    for id, page in known.items() if evidence.bundles else ():
        tried = evidence.checks_of(id)
        for bundle, check in tried:
            if check.failed:
                text = f"{check.program}: {check.check}: {check.wrong} of {check.cases} wrong: {check.detail}"
                yield Finding.error("failed_check", f"evidence/{bundle}", f"{id}: {text}")
        if not tried and page.front.level is Level.MUST and page.front.reason is None:
            yield Finding.error("unexecuted_must", id, "a must that nothing has executed: test it or give the reason")
        headers = evidence.headers_of(page)
        for bundle in sorted({bundle for bundle, _ in tried}):
            changed = evidence.changed_since(bundle, headers)
            if changed:
                yield Finding.note("stale_evidence", id, f"tried on {bundle} before the code changed of {', '.join(changed)}")


def _exists(test: str, tree: Path | None) -> bool:
    """Whether ``path::name`` names a test function of the source tree."""
    path, _, name = test.partition("::")
    return tree is not None and name.partition("[")[0] in _functions(tree / path)


@cache
def _functions(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    try:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
