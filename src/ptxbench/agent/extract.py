"""The last code block of a model's reply.

A reply is prose with fenced blocks. One pass over its lines finds every fence, so megabytes of hostile text cost linear time;
no text makes it raise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ptxbench.schema import Language

LABELS: dict[Language, frozenset[str]] = {
    Language.CUDA: frozenset({"cpp", "c++", "cuda", "cu", "c"}),
    Language.CPP: frozenset({"cpp", "c++", "cuda", "cu", "c"}),
    Language.PYTHON: frozenset({"python", "py"}),
    Language.TRITON: frozenset({"python", "py", "triton"}),
}
"""Info strings that mark a block as a candidate of a language, in lower case."""

_ALL_LABELS = frozenset().union(*LABELS.values())
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})(.*)")
_LABEL_END = re.compile(r"[\s,:;{}\[(=]")
_LOOKS_LIKE_C = re.compile(r"__global__|#[ \t]*include\b|TVM_FFI_DLL_EXPORT|\bvoid\b")
_LOOKS_LIKE_PYTHON = re.compile(r"^(?:import|from|def|class|@)\s?\w", re.MULTILINE)

Missing = Literal["empty_reply", "no_block", "only_other_labels", "empty_block"]


@dataclass(frozen=True)
class Extraction:
    """What was found in a reply.

    Attributes:
        code: the block's text without its indentation, ending in one newline; None when there is no usable block.
        index: which block it is, counting every fenced block of the reply from 0; None without code.
        count: how many fenced blocks the reply has.
        label: the block's label in lower case, "" for an unlabelled one; None without code.
        unclosed: whether the reply ended, or the next block began, before the block's closing fence.
        missing: why there is no code; None with code.
    """

    code: str | None
    index: int | None
    count: int
    label: str | None
    unclosed: bool
    missing: Missing | None


@dataclass(frozen=True)
class _Block:
    label: str
    lines: list[str]
    unclosed: bool

    @property
    def empty(self) -> bool:
        return not any(line and not line.isspace() for line in self.lines)


def extract(text: str, language: Language) -> Extraction:
    """Return the last non-empty block labelled for ``language``.

    An unlabelled block is taken only when no block carries such a label, and only when it looks like code of that language.
    Blocks with any other label are ignored.
    """
    if not text or text.isspace():
        return Extraction(None, None, 0, None, False, "empty_reply")
    blocks = _blocks(text)
    labelled = [i for i, block in enumerate(blocks) if block.label in LABELS[language]]
    usable = [i for i in labelled if not blocks[i].empty]
    if not labelled:
        usable = [i for i, block in enumerate(blocks) if block.label == "" and _looks_like_code(block, language)]
    if usable:
        block = blocks[usable[-1]]
        return Extraction(_body(block), usable[-1], len(blocks), block.label, block.unclosed, None)
    missing: Missing = "no_block"
    if labelled or (blocks and all(block.empty for block in blocks)):
        missing = "empty_block"
    elif blocks:
        missing = "only_other_labels"
    return Extraction(None, None, len(blocks), None, False, missing)


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    lines: list[str] = []
    opened: tuple[str, int, str] | None = None  # fence, indentation, label
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        match = _FENCE.fullmatch(line)
        indent, fence, info = match.groups() if match else ("", "", "")
        if opened is None:
            if match and not (fence[0] == "`" and "`" in info):
                opened, lines = (fence, len(indent), _label(info)), []
            continue
        same = bool(match) and fence[0] == opened[0][0] and len(fence) >= len(opened[0])
        if same and not info.strip():
            blocks.append(_Block(opened[2], lines, unclosed=False))
            opened = None
        elif same and _label(info) in _ALL_LABELS:
            # No C++ or Python line looks like this: the fence above was never closed, or it wraps a whole Markdown answer.
            blocks.append(_Block(opened[2], lines, unclosed=True))
            opened, lines = (fence, len(indent), _label(info)), []
        else:
            lines.append(_without_indent(line, opened[1]))
    if opened is not None:
        blocks.append(_Block(opened[2], lines, unclosed=True))
    return blocks


def _label(info: str) -> str:
    """Return the first word of an info string in lower case: ``CUDA title=k.cu``, ``{.cuda .numberLines}`` give ``cuda``."""
    word = info.strip().removeprefix("{").removeprefix(".")
    return _LABEL_END.split(word, maxsplit=1)[0].lower()


def _without_indent(line: str, indent: int) -> str:
    kept = 0
    while kept < indent and kept < len(line) and line[kept] in " \t":
        kept += 1
    return line[kept:]


def _body(block: _Block) -> str:
    return "\n".join(block.lines).rstrip("\n") + "\n"


def _looks_like_code(block: _Block, language: Language) -> bool:
    pattern = _LOOKS_LIKE_PYTHON if language in (Language.PYTHON, Language.TRITON) else _LOOKS_LIKE_C
    return pattern.search("\n".join(block.lines)) is not None
