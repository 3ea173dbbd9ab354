"""The tasks that come with ptxbench."""

from __future__ import annotations

from functools import cache

from ptxbench.schema import TaskSpec
from ptxbench.suite import cpu, gemm, mha_backward, mha_forward

FAMILIES = (gemm, mha_forward, mha_backward, cpu)
"""Modules with a ``tasks()`` generator; a new family is one more file here (docs/adding-a-task.md)."""


@cache
def bundled() -> tuple[TaskSpec, ...]:
    """Return every bundled task. Built once."""
    return tuple(spec for family in FAMILIES for spec in family.tasks())
