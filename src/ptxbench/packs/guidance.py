"""Expert-edited fragments of a pack: a run adds one to its prompts by name, and it is never part of the pack's own text."""

from __future__ import annotations

from ptxbench.core.errors import PackError, nearest
from ptxbench.packs.loading import Library
from ptxbench.packs.page import Page
from ptxbench.packs.render import without_links
from ptxbench.packs.snippets import expand


def guidance_names(library: Library, pack_id: str) -> dict[str, str]:
    """Return a pack's guidance: the name that a run gives to the id of its fragment."""
    return {name.rpartition("/")[2]: name for name in library.resolve(library.manifest.pack(pack_id).guidance)}


def guidance_text(library: Library, pack_id: str, name: str) -> str:
    """Return one fragment as a prompt carries it. Raises ``PackError`` for a name that the pack does not have."""
    known = guidance_names(library, pack_id)
    if name not in known:
        close = nearest(name, list(known)) or list(known)
        step = f"did you mean {', '.join(close)}?" if close else f"the pack {pack_id} has none: leave --guidance out"
        raise PackError(f"the pack {pack_id} has no guidance {name!r}", next_step=step, known=list(known))
    page = library.fragment(known[name]).content
    if not isinstance(page, Page):
        raise PackError(f"{known[name]} is a header, and guidance is a page", next_step="correct the manifest")
    return without_links(expand(page.body, library.root / "schedules" / "snippets", known[name])).strip() + "\n"
