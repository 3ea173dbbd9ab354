"""Python candidates are not compiled; whether they parse is known all the same."""

from __future__ import annotations

import ast

from ptxbench.schema import Candidate, Diagnostic, Language


def python_diagnostics(candidate: Candidate) -> tuple[Diagnostic, ...]:
    """Return a record for each Python source that does not parse."""
    if candidate.language not in (Language.PYTHON, Language.TRITON):
        return ()
    found = []
    for source in candidate.sources:
        if not source.path.endswith(".py"):
            continue
        try:
            ast.parse(source.content, filename=source.path)
        except SyntaxError as error:
            found.append(_record(source.path, error.lineno, error.offset, error.msg))
        except (ValueError, RecursionError, MemoryError) as error:
            found.append(_record(source.path, None, None, f"cannot be parsed: {error or type(error).__name__}"))
    return tuple(found)


def _record(file: str, line: int | None, column: int | None, text: str) -> Diagnostic:
    return Diagnostic(severity="error", file=file, line=line, column=column or None, code=None, text=text, stage="front")
