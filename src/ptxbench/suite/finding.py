"""One thing that is wrong with a suite."""

from __future__ import annotations

from typing import Literal

from ptxbench.schema import Record

Severity = Literal["error", "warning"]


class Finding(Record):
    """One thing that is wrong (``error``) or doubtful (``warning``). ``code`` is stable; ``task`` is empty for a file's problem."""

    severity: Severity
    code: str
    task: str
    workload: str | None = None
    text: str
