"""Candidates that no compiler may see: of a language that does not fit, too large, badly named, reading the machine's files."""

from __future__ import annotations

from collections.abc import Sequence

from ptxbench import arch as architectures
from ptxbench.core.errors import SourceError
from ptxbench.schema import Candidate, Diagnostic, Language, Violation
from ptxbench.toolchain.policing import NEVER_COMPILED
from ptxbench.toolchain.recursion import endless_include
from ptxbench.toolchain.sources import MAX_BYTES, MAX_PATH, PATH_RULE, plain_path


def check_language(candidate: Candidate) -> None:
    """Raise ``SourceError`` when the candidate's language cannot be built for its architecture."""
    arch = architectures.get(candidate.arch)
    wants_gpu = candidate.language in (Language.CUDA, Language.TRITON)
    if wants_gpu != arch.is_gpu:
        takes = "CUDA (.cu)" if arch.is_gpu else "C++ (.cpp) and Python (.py)"
        step = f"the architecture {arch.name} takes {takes}"
        raise SourceError(f"a {candidate.language.value} candidate cannot be built for {arch.name}", next_step=step)


def too_large(candidate: Candidate) -> tuple[Diagnostic, ...] | None:
    """Return the refusal of sources that no person or model would write, None for others."""
    size = sum(len(source.content) for source in candidate.sources)
    if size <= MAX_BYTES:
        return None
    text = f"the sources have {size} characters; a candidate may have {MAX_BYTES}"
    return (Diagnostic(severity="error", file=None, line=None, column=None, code="source_size", text=text, stage="preprocess"),)


def refusal(candidate: Candidate, violations: Sequence[Violation]) -> tuple[Diagnostic, ...] | None:
    """Return why no compiler may see the candidate, None when it may."""

    def refuse(text: str, file: str | None, line: int | None = None) -> tuple[Diagnostic, ...]:
        return (Diagnostic(severity="error", file=file, line=line, column=None, code=None, text=text, stage="preprocess"),)

    paths = {source.path for source in candidate.sources}
    for path in paths:
        if not plain_path(path):
            return refuse(f"a source's path {PATH_RULE}", path[:MAX_PATH])
        if any(f"{path}/".startswith(f"{other}/") for other in paths - {path}):
            return refuse("a source's path may not be inside another source", path)
    for violation in violations:
        if violation.rule in NEVER_COMPILED:
            return refuse(
                f"not compiled, since the policy refuses it ({violation.rule}): {violation.text}", violation.file, violation.line
            )
    if candidate.language in (Language.CUDA, Language.CPP):
        endless = endless_include(candidate)
        if endless is not None:
            trail = " -> ".join(endless.cycle)
            return refuse(f"include without end: {trail} (add #pragma once, or remove the include)", endless.file, endless.line)
    return None
