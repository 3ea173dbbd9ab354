"""Rules over the sources as written, before a compiler sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ptxbench.schema import Candidate, Language, Violation
from ptxbench.toolchain.policy.directives import INCLUDES, Directive, Macros, RawFile, header_names, object_macros, read_raw
from ptxbench.toolchain.policy.groups import assemblies
from ptxbench.toolchain.policy.headers import spelled
from ptxbench.toolchain.policy.passes import Placed
from ptxbench.toolchain.policy.python_source import judge_python
from ptxbench.toolchain.policy.rules import bounded, breach
from ptxbench.toolchain.policy.source_lines import SourceLines
from ptxbench.toolchain.policy.tokens import Token, string_value


def screen(candidate: Candidate) -> tuple[Violation, ...]:
    """Judge a candidate by its raw sources: what must be refused before, or can no longer be seen after, preprocessing.

    For C++ and CUDA: line directives, files taken in by ``.incbin`` or ``#embed``, includes by absolute path or through ``..``, and
    unconditional includes of refused headers (where such a header is missing, preprocessing leaves nothing to see).
    For Python: everything, from the syntax tree; a source that does not parse breaks no rule here.
    """
    if candidate.language in (Language.PYTHON, Language.TRITON):
        return bounded(judge_python(candidate))
    lines = SourceLines(candidate)
    files = {source.path: read_raw(source.content) for source in candidate.sources}
    macros = object_macros(files.values())
    found: list[Violation] = []
    for path, file in files.items():
        for directive in file.directives:
            for rule, paper in _broken_by(directive, macros):
                found.append(breach(rule, path, directive.line, lines.text(path, directive.line), paper=paper))
        for line in file.ambiguous:
            found.append(breach("unreadable_source", path, line, lines.text(path, line)))
        for line in _opened_by_pragma(file):
            found.append(breach("include_path", path, line, lines.text(path, line)))
        for line in _incbins(path, file):
            found.append(breach("incbin", path, line, lines.text(path, line)))
    return bounded(found)


def _broken_by(directive: Directive, macros: Macros) -> Iterator[tuple[str, bool]]:
    if directive.name in ("line", "") or (directive.name == "define" and _spans_lines(directive)):
        yield "forged_lines", False
    elif directive.name == "embed":
        yield "incbin", False
    elif directive.name in INCLUDES:
        names = header_names(directive, macros)
        if names is None or any(_outside(name) for name in names):
            yield "include_path", False
        refusals = [] if directive.conditional else [spelled(name) for name in names or ()]
        for refusal in refusals:
            if refusal is not None:
                yield refusal.rule, refusal.paper


_OPENS_A_FILE = re.compile(r"\s*GCC\s+(dependency|pch_preprocess)\b")


def _opened_by_pragma(file: RawFile) -> Iterator[int]:
    """Yield the lines of pragmas by which GCC opens a file of any path, with ``_Pragma`` as well."""
    for directive in file.directives:
        if directive.name == "pragma" and _OPENS_A_FILE.match(" ".join(token.text for token in directive.operands)):
            yield directive.line
        yield from _pragma_operators(directive.operands)
    yield from _pragma_operators(file.tokens)


def _pragma_operators(tokens: Sequence[Token]) -> Iterator[int]:
    for token in tokens:
        if token.kind == "string" and _OPENS_A_FILE.match(string_value(token)):
            yield token.line
        elif token.kind == "identifier" and token.text == "pch_preprocess":
            yield token.line  # Stringified on its way to ``_Pragma``.


def _spans_lines(definition: Directive) -> bool:
    """Return whether a macro holds a raw string of several lines.

    Expanded inside a system header, its lines would pass for line markers there.
    """
    return any(token.kind == "string" and "\n" in token.text for token in definition.operands)


def _outside(name: str) -> bool:
    """Return whether a header's name leaves the candidate's folder and the include path."""
    return name.startswith("/") or ".." in PurePosixPath(name).parts or "\\" in name


def _incbins(path: str, file: RawFile) -> Iterator[int]:
    for placed, text in assemblies([Placed(token, path) for token in file.tokens]):
        if "incbin" in text:
            yield placed.token.line
