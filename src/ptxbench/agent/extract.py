"""The last code block of a model's reply.

A reply is prose with fenced blocks. One pass over its lines finds every fence, so megabytes of hostile text cost linear time;
no text makes it raise. The rules are CommonMark's, and lenient where models are: fences behind words, list markers or ``>``,
forgotten and misplaced ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from ptxbench.agent.literals import C_LABELS, OpenLiteral
from ptxbench.schema import Language

LABELS: dict[Language, frozenset[str]] = {
    Language.CUDA: C_LABELS,
    Language.CPP: C_LABELS,
    Language.PYTHON: frozenset({"python", "py"}),
    Language.TRITON: frozenset({"python", "py", "triton"}),
}
"""Info strings that mark a block as a candidate of a language, in lower case."""

_WRAPPERS = frozenset({"markdown", "md"})
"""Labels of blocks that hold a whole answer, fences and all."""
_ALL_LABELS = frozenset().union(*LABELS.values())
_BLANK = " \t\u00a0\u200b\u200c\u200d\u2060\ufeff"
"""White space, and the characters without width that copied text carries."""
_FENCE = re.compile(rf"([{_BLANK}]*)(`{{3,}}|~{{3,}})(.*)")
_QUOTE = re.compile(rf"(?:[{_BLANK}]*>)+ ?")
_LIST_MARKER = re.compile(rf"([{_BLANK}]*(?:[-*+]|\d{{1,9}}[.)])[ \t]+)(?=`{{3}}|~{{3}})")
_LABEL_END = re.compile(r"[\s,:;{}\[(=]")
_LOOKS_LIKE_C = re.compile(r"__global__|#[ \t]*include\b|TVM_FFI_DLL_EXPORT|\bvoid\b")
_LOOKS_LIKE_PYTHON = re.compile(r"^(?:import|from|def|class|@)\s?\w", re.MULTILINE)
_END_OF_THOUGHT = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_TOO_DEEP = 4
"""A fence that stands this much deeper than the opening one is text (CommonMark 0.31, section 4.5)."""

Missing = Literal["empty_reply", "no_block", "only_other_labels", "empty_block"]


@dataclass(frozen=True)
class Extraction:
    """What was found in a reply.

    Attributes:
        code: the block's text without its indentation, ending in one newline; None when there is no usable block.
        index: which block it is, counting every fenced block of the answer from 0; None without code.
        count: how many fenced blocks the answer has.
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
    passed_over: bool = False

    @property
    def empty(self) -> bool:
        return not any(line and not line.isspace() for line in self.lines)


@dataclass(frozen=True)
class _Opening:
    fence: str
    indent: int
    quoted: bool
    label: str


def extract(text: str, language: Language) -> Extraction:
    """Return the last non-empty block labelled for ``language``.

    An unlabelled block is taken only when no block carries such a label, and only when it looks like code of that language.
    Blocks with any other label are ignored, and so is everything that a model thought aloud before ``</think>``.
    """
    if not text or text.isspace():
        return Extraction(None, None, 0, None, False, "empty_reply")
    lines = _answer(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    blocks = _blocks(lines, strict=True)
    if blocks and blocks[-1].unclosed and blocks[-1].passed_over:
        # What looked like text of the source was the end of the block after all.
        blocks = _blocks(lines, strict=False)
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


def _answer(text: str) -> str:
    """Return what follows the thoughts that a server left in the reply."""
    start = 0
    for match in _END_OF_THOUGHT.finditer(text):
        start = match.end()
    return text[start:]


def _blocks(lines: list[str], *, strict: bool) -> list[_Block]:
    """Return every block. ``strict`` passes over fences that stand too deep, or in a comment or string of the block's code."""
    blocks: list[_Block] = []
    body: list[str] = []
    opened: _Opening | None = None
    literal = OpenLiteral("")
    passed_over = begun = False
    for raw in lines:
        if opened is None:
            opened = _opening(raw)
            body, passed_over, begun, literal = [], False, False, OpenLiteral(opened.label if opened and strict else "")
            continue
        line = _unquoted(raw) if opened.quoted else raw
        match = _FENCE.fullmatch(line)
        indent, fence, info = match.groups() if match else ("", "", "")
        label = _label(info)
        wrapped = opened.label in _WRAPPERS and label in _ALL_LABELS
        if match and fence[0] == opened.fence[0] and (len(fence) >= len(opened.fence) or wrapped):
            if (label and label not in _ALL_LABELS) or (info.strip(_BLANK) and not label):
                pass
            elif strict and (literal.end is not None or _width(indent) >= opened.indent + _TOO_DEEP):
                passed_over = True
            else:
                # A labelled fence: the one above was never closed, or it wraps a whole Markdown answer.
                blocks.append(_Block(opened.label, body, unclosed=bool(label)))
                opened = _Opening(fence, _width(indent), opened.quoted, label) if label else None
                body, passed_over, begun, literal = [], False, False, OpenLiteral(label if strict else "")
                continue
        if not begun and line.strip(_BLANK) and opened.indent and not line[: opened.indent].isspace():
            # Code that begins left of its fence was never indented with it.
            opened = replace(opened, indent=0)
        begun = begun or bool(line.strip(_BLANK))
        line = _without_indent(line, opened.indent)
        in_code = literal.feed(line)
        stripped = line.rstrip(_BLANK)
        if strict and in_code and opened.label in _ALL_LABELS and _ends_in(stripped, opened.fence):
            blocks.append(_Block(opened.label, [*body, stripped.rstrip(opened.fence[0])], unclosed=False))
            opened = None
            continue
        body.append(line)
    if opened is not None:
        blocks.append(_Block(opened.label, body, unclosed=True, passed_over=passed_over))
    return blocks


def _opening(raw: str) -> _Opening | None:
    """Return the fence that a line outside every block opens: alone, quoted, in a list item, or behind words with a label."""
    line = _unquoted(raw)
    marker = _LIST_MARKER.match(line)
    match = _FENCE.fullmatch(line[marker.end() :] if marker else line)
    if match:
        indent, fence, info = match.groups()
        if fence[0] == "`" and "`" in info:
            return None
        return _Opening(fence, _width(indent) + (marker.end() if marker else 0), line != raw, _label(info))
    before, found, after = line.partition("```")
    info = after.lstrip("`")
    if found and before.strip(_BLANK) and "`" not in info and len(info.split()) == 1 and _label(info) in _ALL_LABELS:
        return _Opening("`" * (3 + len(after) - len(info)), 0, line != raw, _label(info))
    return None


def _unquoted(line: str) -> str:
    match = _QUOTE.match(line)
    return line[match.end() :] if match else line


def _ends_in(line: str, fence: str) -> bool:
    """Whether code and a closing fence share a line."""
    return line.endswith(fence) and bool(line.rstrip(fence[0]).strip(_BLANK)) and fence not in line.rstrip(fence[0])


def _label(info: str) -> str:
    """Return the first word of an info string in lower case: ``CUDA title=k.cu``, ``{.cuda .numberLines}`` give ``cuda``."""
    word = info.strip(_BLANK).removeprefix("{").lstrip(_BLANK).removeprefix(".")
    return _LABEL_END.split(word, maxsplit=1)[0].strip(_BLANK).lower()


def _width(indent: str) -> int:
    return sum(character in " \t\u00a0" for character in indent)


def _without_indent(line: str, indent: int) -> str:
    kept = 0
    while kept < indent and kept < len(line) and line[kept].isspace():
        kept += 1
    return line[kept:]


def _body(block: _Block) -> str:
    return "\n".join(block.lines).removeprefix("\ufeff").rstrip("\n") + "\n"


def _looks_like_code(block: _Block, language: Language) -> bool:
    pattern = _LOOKS_LIKE_PYTHON if language in (Language.PYTHON, Language.TRITON) else _LOOKS_LIKE_C
    return pattern.search("\n".join(block.lines)) is not None
