"""Tools that are real programs of a test's own, and children that really run under them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from ptxbench.evaluate.sandbox.child import Child
from ptxbench.evaluate.sandbox.launch import Program, Tool
from ptxbench.evaluate.sandbox.staging import Staging, lay_out
from ptxbench.evaluate.tools.under import Start
from ptxbench.schema import Language, Limits

RECORDED = Path(__file__).parent / "recorded"
STAND_IN = Path(__file__).parent / "stand_in.py"


@pytest.fixture(scope="session")
def recorded() -> Path:
    """Folder of what tools really wrote, on an H200."""
    return RECORDED


@pytest.fixture(scope="session")
def limits() -> Limits:
    """Limits that a test can wait for."""
    return Limits(sanitize_s=20, prove_s=20, run_s=5)


@pytest.fixture(scope="session")
def program() -> Callable[[Path, str], Path]:
    """Write an executable file."""
    return write_program


def write_program(path: Path, text: str) -> Path:
    """Write an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def stand_in(tmp_path: Path) -> Callable[..., Path]:
    """Make a program that plays a tool with its child by a plan (see ``stand_in.py``)."""

    def make(where: str = "tool", **plan: object) -> Path:
        path = tmp_path / where
        defaults: dict[str, object] = {"replies": [{}, {}], "files": {}, "status": 0}
        written = json.dumps({**defaults, **plan})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".json").write_text(written)
        return write_program(path, f'#!/bin/sh\nexec "{sys.executable}" "{STAND_IN}" "{path.with_suffix(".json")}" "$@"\n')

    return make


@pytest.fixture
def start(starting: Callable[[str], Start]) -> Start:
    """Start a child of a Python candidate that doubles its input."""
    return starting("def run(x, y):\n    y[...] = 2 * x\n")


@pytest.fixture(scope="session")
def starting(limits: Limits) -> Callable[[str], Start]:
    """Return what starts a child of a Python candidate."""
    return lambda text: child_of(text, limits)


def child_of(text: str, limits: Limits) -> Start:
    """Return what starts a child of one candidate."""

    @contextmanager
    def begin(tool: Tool | None = None, exact: bool = False) -> Iterator[Child]:
        one = np.zeros(8, np.float32)
        payload = json.dumps(["candidate.py", {"candidate.py": text}]).encode()
        with (
            Staging(lay_out({"X": one}, {"Y": one}, {"X": "float32", "Y": "float32"}, 1), 0) as memory,
            Child(Program(Language.PYTHON, "run", payload), memory, limits, tool=tool, start_s=10.0) as child,
        ):
            yield child

    return begin
