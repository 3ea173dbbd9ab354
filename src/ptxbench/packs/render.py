"""From a pack, a device, an arm and a prompt variant to text: the same inputs give the same bytes on every machine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ptxbench.arch import DEVICES
from ptxbench.core.canonical import sha256
from ptxbench.core.errors import PackError, nearest
from ptxbench.packs.device_table import device_table
from ptxbench.packs.evidence import Evidence
from ptxbench.packs.instances import representative, representatives
from ptxbench.packs.loading import Fragment, Library
from ptxbench.packs.manifest import BASE, Arm, Kind, Pack, Shown
from ptxbench.packs.page import FENCE, LINK, REFERENCE, Page, parts
from ptxbench.packs.parsing import Header
from ptxbench.packs.snippets import expand

TITLES = {
    Kind.PARAMETERS: "Parameters",
    Kind.WRAPPERS: "Wrappers",
    Kind.CONTRACTS: "Contracts",
    Kind.SCHEDULE: "Schedule",
    Kind.DEBUG: "Symptoms and causes",
}
"""The sections of a pack's text, in order."""


@dataclass(frozen=True)
class Section:
    """A part of a rendering and the fragment that it comes from; the section's own heading has no fragment."""

    kind: Kind
    fragment: str | None
    text: str


@dataclass(frozen=True)
class Rendering:
    """The text of a pack for one prompt, and which inputs made it."""

    pack: str
    device: str
    arm: Arm
    family: str | None
    variant: str
    sections: tuple[Section, ...]

    @property
    def text(self) -> str:
        """All sections, each followed by an empty line; UTF-8, Unix line ends."""
        return "\n".join(section.text for section in self.sections)

    @property
    def hash(self) -> str:
        """Hash of the text: what run records keep."""
        return sha256(self.text.encode())

    @property
    def key(self) -> str:
        """Name of this rendering in the lock."""
        return "/".join((self.device, self.arm.value, self.family or "any", self.variant))


def render(
    library: Library,
    pack_id: str,
    *,
    device: str | None = None,
    arm: Arm = Arm.CONTRACTS,
    family: str | None = None,
    variant: str = BASE,
    evidence: Evidence | None = None,
) -> Rendering:
    """Return the text of a pack.

    Args:
        library: the pack data.
        pack_id: a pack of the manifest.
        device: id of the device table; the pack's first when None.
        arm: how much of the pack is shown.
        family: problem family whose variant is shown; None for the pack without any.
        variant: prompt variant of that family.
        evidence: what was executed; read from the library when None.

    Raises:
        PackError: something named does not exist, a fragment cannot be read, or the pack is not made for the device.

    """
    pack = library.manifest.pack(pack_id)
    device = device or pack.devices[0]
    if device not in pack.devices:
        close = nearest(device, list(pack.devices)) or list(pack.devices)
        raise PackError(f"the pack {pack_id} is not made for {device!r}", next_step=f"it is for {', '.join(close)}")
    if device not in DEVICES:
        raise PackError(f"{device!r} is not in the device table", next_step=f"it has {', '.join(DEVICES)}")
    if arm not in pack.arms:
        arms = ", ".join(one.value for one in pack.arms)
        raise PackError(f"the pack {pack_id} has no arm {arm.value!r}", next_step=f"it has {arms}")
    by_kind: dict[Kind, list[Fragment]] = {kind: [] for kind in Kind}
    for fragment in library.fragments(pack, family, variant):
        by_kind[fragment.kind].append(fragment)
    evidence = evidence or Evidence.of(library)
    sections: list[Section] = []
    for kind, title in TITLES.items():
        fragments = by_kind[kind] if kind in arm.kinds else []
        if not fragments and kind is not Kind.PARAMETERS:
            continue
        sections.append(Section(kind, None, f"## {title}\n"))
        if kind is Kind.PARAMETERS:
            sections.append(Section(kind, None, device_table(DEVICES[device])))
        sections += _wrappers(pack, fragments, arm)
        sections += [_page(library, one, one.content, arm, evidence) for one in fragments if isinstance(one.content, Page)]
    return Rendering(pack_id, device, arm, family, variant, tuple(sections))


def _wrappers(pack: Pack, fragments: Iterable[Fragment], arm: Arm) -> list[Section]:
    """Return the headers; an ``#include <…>`` stands where it is first needed, once."""
    included: set[str] = set()
    sections = []
    headers = [(one, one.content) for one in fragments if isinstance(one.content, Header)]
    kept = representatives(header for _, header in headers)
    for fragment, whole in headers:
        header = representative(whole, kept) if arm is Arm.REPRESENTATIVE else whole
        shown = pack.shown.get(fragment.id, Shown.CODE)
        if shown is Shown.NOTHING or (shown is Shown.CODE and not header.shown(comments=False).strip()):
            continue
        if shown is Shown.DECLARATIONS:
            code = header.declarations()
        else:
            code = _each_include_once(header.shown(comments=Kind.CONTRACTS in arm.kinds), included)
        label = "cpp" if shown is Shown.CODE else "text"
        sections.append(Section(fragment.kind, fragment.id, f"### {fragment.path.name}\n\n```{label}\n{code}```\n"))
    return sections


def _each_include_once(code: str, included: set[str]) -> str:
    """Return code without the ``#include <…>`` lines that stand in ``included``, and add the others to it."""
    kept = []
    for line in code.split("\n"):
        match = re.match(r"[ \t]*#[ \t]*include[ \t]*<([^>]+)>", line)
        if match is None or match[1] not in included:
            kept.append(line)
        included |= {match[1]} if match else set()
    return "\n".join(kept).strip("\n") + "\n"


def _page(library: Library, fragment: Fragment, page: Page, arm: Arm, evidence: Evidence) -> Section:
    """Return a page with its snippets, its status and plain links. Code that calls wrappers stands where the wrappers do."""
    body = expand(page.body, library.root / "schedules" / "snippets", fragment.id)
    if Kind.WRAPPERS not in arm.kinds:
        body = FENCE.sub("", body)
        body = re.sub(r"\n{3,}", "\n\n", body)
    body = without_links(body)
    return Section(fragment.kind, fragment.id, f"### {page.front.title}{_standing(page, evidence)}\n\n{body.strip()}\n")


def _standing(page: Page, evidence: Evidence) -> str:
    """Return what a heading says of a contract: what breaking it costs, and how it is known."""
    if page.front.level is None:
        return ""
    return f" ({page.front.level}, {evidence.status(page)})"


def without_links(body: str) -> str:
    """Turn links and references into their text, everywhere but in code."""
    return "".join(text if code else _plain(text) for text, code in parts(body))


def _plain(text: str) -> str:
    text = LINK.sub(lambda match: match["text"], text)
    return REFERENCE.sub(lambda match: f"“{match['id']}”", text)
