"""``packs check``: everything that must hold before a model may read a pack, and what is known only from documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, Self

from ptxbench import arch as architectures
from ptxbench.arch import DEVICES
from ptxbench.core.errors import PackError, PtxbenchError
from ptxbench.packs import contracts, lock
from ptxbench.packs.evidence import Evidence
from ptxbench.packs.finding import Finding
from ptxbench.packs.loading import Fragment, Library
from ptxbench.packs.manifest import Kind, Pack
from ptxbench.packs.page import REFERENCE, Page, Status
from ptxbench.packs.parsing import Header, words_of
from ptxbench.packs.snippets import expand
from ptxbench.packs.tokens import estimate
from ptxbench.packs.wording import Vocabulary, dead_links, refused_forms, shown_code, unknown_names
from ptxbench.schema import Record

LockAnswer = Literal["fits", "stale", "missing", "not computed"]


class CheckReport(Record):
    """All findings, and how the facts of each pack are known."""

    findings: tuple[Finding, ...]
    contracts: Mapping[str, Mapping[Status, int]]
    """Pack to how many of its contracts are known how."""
    wrappers: Mapping[str, int]
    """Pack to how many wrappers it has."""
    lock: LockAnswer

    @property
    def ok(self) -> bool:
        """Whether nothing found is an error."""
        return not any(finding.severity == "error" for finding in self.findings)

    def adding(self, findings: Iterable[Finding]) -> Self:
        """Return this report with more findings."""
        return self.model_copy(update={"findings": _ordered((*self.findings, *findings))})


def check(library: Library, tree: Path | None) -> CheckReport:
    """Check all packs of a library.

    Args:
        library: the pack data.
        tree: the source tree, in which the tests that contracts name are looked for; None where only the package is installed.

    """
    findings: list[Finding] = []
    counts: dict[str, Mapping[Status, int]] = {}
    wrappers: dict[str, int] = {}
    used: set[str] = set()
    evidence, unread = _evidence(library, tree)
    findings += unread
    findings += [
        Finding.error("unknown_suffix", path.relative_to(library.root).as_posix(), _said(library.suffix_fault(name)))
        for name, path in library.unread.items()
    ]
    for name, pack in library.manifest.packs.items():
        fragments, faults = _fragments(library, name, pack)
        findings += faults
        used |= {fragment.id for fragment in fragments}
        known = contracts.by_id(fragments)
        counted = Counter(evidence.status(page) for page in known.values())
        counts[name] = {status: counted[status] for status in Status}
        wrappers[name] = sum(len(f.content.wrappers) for f in fragments if isinstance(f.content, Header))
        findings += _pack(library, name, pack, fragments, tree)
        findings += contracts.shown_by(evidence, known)
    unused = sorted(fragment for fragment in library.present if fragment not in used and not fragment.startswith(HOST_ONLY))
    findings += [Finding.note("unused", name, "lies in the data and is in no pack") for name in unused]
    answer, stale = _lock(library)
    findings += stale
    findings += _budgets(library)
    return CheckReport(findings=_ordered(_once(findings)), contracts=counts, wrappers=wrappers, lock=answer)


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Leave out what a later step only met again: that no text can be made, for a reason that has been said."""
    said: set[str] = set()
    for finding in findings:
        if finding.code not in _MEETS_AGAIN or finding.text not in said:
            yield finding
        said.add(finding.text)


_MEETS_AGAIN = frozenset({"unknown_fragment", "not_rendered"})


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(set(findings), key=lambda one: (one.severity, one.code, one.where, one.text)))


def _evidence(library: Library, tree: Path | None) -> tuple[Evidence, list[Finding]]:
    """Return the library's evidence and its faults; where a bundle cannot be read, evidence without bundles and a finding."""
    try:
        evidence = Evidence.of(library)
    except PackError as error:
        return Evidence(library, {}), [Finding.error("unreadable", "evidence", _said(error))]
    found = []
    for name, bundle in evidence.bundles.items():
        where = f"evidence/{name}"
        found += [Finding.error("failed_program", where, f"{program}: {fault}") for program, fault in bundle.faults.items()]
        others = evidence.other_programs(name, tree) if tree is not None else []
        if others:
            found.append(Finding.note("stale_evidence", where, f"measured before the code changed of {', '.join(others)}"))
    return evidence, found


HOST_ONLY = "include/ptxk/model/"
"""CPU models: tests use them, prompts do not show them."""


def _fragments(library: Library, name: str, pack: Pack) -> tuple[list[Fragment], list[Finding]]:
    """Return every fragment that a pack names anywhere and that can be read, and a finding for each that cannot."""
    fragments: dict[str, Fragment] = {}
    faults = []
    for entry in pack.entries:
        try:
            names = list(library.resolve([entry]))
        except PackError as error:
            faults.append(Finding.error("unknown_fragment", f"pack {name}", _said(error)))
            continue
        if entry.endswith("/") and not names:
            faults.append(Finding.error("empty_folder", f"pack {name}", f"nothing lies below {entry}"))
        for fragment in names:
            try:
                fragments[fragment] = library.fragment(fragment)
            except PackError as error:
                faults.append(Finding.error("unreadable", fragment, _said(error)))
    return list(fragments.values()), faults


def _pack(library: Library, name: str, pack: Pack, fragments: list[Fragment], tree: Path | None) -> Iterator[Finding]:
    yield from _target(name, pack)
    headers = {fragment.id: fragment.content for fragment in fragments if isinstance(fragment.content, Header)}
    yield from _headers(library, headers, pack)
    for unknown in sorted(set(pack.shown) - set(headers)):
        yield Finding.error("unknown_fragment", f"pack {name}", f"says how to show {unknown!r}, which is no header of it")
    vocabulary = Vocabulary.of(headers, pack.shown)
    known = contracts.by_id(fragments)
    pages = frozenset(fragment.path.stem for fragment in fragments if isinstance(fragment.content, Page))
    for header_id, header in headers.items():
        yield from contracts.of_header(header_id, header, known)
    for fragment in fragments:
        if isinstance(fragment.content, Page):
            yield from contracts.of_page(fragment, pack.arch, vocabulary, known, tree)
            yield from _wording(library, fragment, fragment.content, pack, vocabulary, pages)
    for stem, count in Counter(f.path.stem for f in fragments if isinstance(f.content, Page)).items():
        if count > 1:
            yield Finding.error("duplicate_id", stem, f"{count} pages of the pack {name} have this id")


def _target(name: str, pack: Pack) -> Iterator[Finding]:
    where = f"pack {name}"
    try:
        target = architectures.get(pack.arch)
    except PtxbenchError as error:
        yield Finding.error("unknown_arch", where, error.message)
        return
    for device in pack.devices:
        if device not in DEVICES:
            yield Finding.error("unknown_device", where, f"{device!r} is not in the device table")
        elif device not in target.devices:
            yield Finding.error("wrong_device", where, f"{device} does not run {target.name}")


def _headers(library: Library, headers: Mapping[str, Header], pack: Pack) -> Iterator[Finding]:
    """Headers come after those that they include, and show no form that the target refuses."""
    seen: set[str] = set()
    for name, header in headers.items():
        for include in header.own_includes:
            target = library.included(name, include)
            if target is None:
                yield Finding.error("unknown_header", name, f'#include "{include}" names no header of the data')
            elif target not in headers:
                yield Finding.error("missing_header", name, f"includes {target}, which the pack does not show")
            elif target not in seen:
                yield Finding.error("header_order", name, f"stands before {target}, which it includes")
        seen.add(name)
        shown = (header.strings(), *(wrapper.ptx for wrapper in header.wrappers))
        for form in refused_forms(shown, pack.arch):
            yield Finding.error("rejected_form", name, f"{pack.arch} refuses {form}")


def _wording(
    library: Library, fragment: Fragment, page: Page, pack: Pack, vocabulary: Vocabulary, pages: frozenset[str]
) -> Iterator[Finding]:
    try:
        page = Page(page.front, expand(page.body, library.root / "schedules" / "snippets", fragment.id), page.text)
    except PackError as error:
        yield Finding.error("unknown_snippet", fragment.id, _said(error))
    if pack.language == "cuda":
        for name in unknown_names(page, vocabulary):
            if name in vocabulary.hidden:
                yield Finding.error("hidden_name", fragment.id, f"{name} is in a part of a header that no prompt shows")
            else:
                yield Finding.error("unknown_name", fragment.id, f"{name} is in no header of the pack")
    if fragment.kind is Kind.SCHEDULE:
        yield from _in_every_arm(fragment.id, page, vocabulary)
    for form in refused_forms((*page.front.instructions, *shown_code(page)), pack.arch):
        yield Finding.error("rejected_form", fragment.id, f"{pack.arch} refuses {form}")
    for target in dead_links(page, fragment.path.parent, library.root, pages):
        yield Finding.error("dead_link", fragment.id, f"{target} leads nowhere")


def _in_every_arm(where: str, page: Page, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Find wrappers and contracts in a schedule's words, which also stand where neither is shown."""
    prose = page.prose()
    for name in sorted(words_of(prose) & vocabulary.wrappers.keys()):
        yield Finding.error("absent_name", where, f"speaks of {name} outside its code, which the arm of parameters does not show")
    for match in REFERENCE.finditer(prose):
        text = f"refers to [[{match['id']}]], which not every arm shows: say it, and name it under requires"
        yield Finding.error("absent_name", where, text)


def _lock(library: Library) -> tuple[LockAnswer, list[Finding]]:
    step = "look at what changed, then packs check --write-lock"
    try:
        old = lock.read(library)
    except PackError as error:
        return "not computed", [Finding.error("unreadable", lock.NAME, _said(error))]
    if old is None:
        return "missing", [Finding.error("no_lock", lock.NAME, "there is no lock yet; packs check --write-lock writes it")]
    try:
        new = lock.compute(library)
    except PackError as error:
        return "not computed", [Finding.error("not_rendered", lock.NAME, _said(error))]
    changed = list(lock.differences(old, new))
    return ("stale" if changed else "fits"), [
        Finding.error("stale_lock", what, f"{how} since the lock; {step}") for what, how in changed
    ]


def _budgets(library: Library) -> Iterator[Finding]:
    for name, pack in library.manifest.packs.items():
        try:
            largest = max(lock.renderings(library, name), key=estimate)
        except PackError as error:
            yield Finding.error("not_rendered", f"pack {name}", _said(error))
            continue
        size = estimate(largest)
        if size > pack.budget_tokens:
            text = f"{size} estimated tokens, {pack.budget_tokens} allowed ({largest.key})"
            yield Finding.error("over_budget", f"pack {name}", text)


def _said(error: PackError) -> str:
    return error.message if error.next_step is None else f"{error.message} ({error.next_step})"
