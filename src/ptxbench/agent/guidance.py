"""Expert-edited fragments for the system message: a condition of a run, named in every record of it."""

from __future__ import annotations

from ptxbench.core.canonical import sha256
from ptxbench.packs import Library
from ptxbench.packs.guidance import guidance_text
from ptxbench.schema import Record


class Guidance(Record):
    """One fragment: the id that records name it by, and its text."""

    id: str
    text: str

    @property
    def hash(self) -> str:
        """Hash of the text, so that two edits under one id can be told apart."""
        return sha256(self.text.encode())


def find_guidance(library: Library, pack: str, name: str) -> Guidance:
    """Return a pack's fragment of that name. Raises ``PackError`` for one that the pack does not have."""
    return Guidance(id=name, text=guidance_text(library, pack, name).strip())
