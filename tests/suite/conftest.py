"""FlashInfer-Trace folders written for a test."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

DOUBLE = """import numpy as np

def run(X):
    return X * np.float32(2)
"""


def definition(name: str = "double_n8", **changes: Any) -> dict[str, Any]:
    """A definition with a NumPy reference: Y = 2 X."""
    return {
        "name": name,
        "op_type": "elementwise",
        "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 8}},
        "inputs": {"X": {"shape": ["M", "N"], "dtype": "float32"}},
        "outputs": {"Y": {"shape": ["M", "N"], "dtype": "float32"}},
        "reference": DOUBLE,
    } | changes


def workload_line(
    name: str = "double_n8", uuid: str = "w0", axes: Mapping[str, int] | None = None, **inputs: Any
) -> dict[str, Any]:
    """A workload line; inputs are random unless given."""
    given = inputs or {"X": {"type": "random"}}
    workload = {"uuid": uuid, "axes": dict(axes or {"M": 4}), "inputs": given}
    return {"definition": name, "solution": None, "workload": workload, "evaluation": None}


WriteFolder = Callable[..., Path]


@pytest.fixture
def write_folder(tmp_path: Path) -> WriteFolder:
    """Write definitions and workload lines as a folder; texts are written as they are."""

    def write(definitions: Sequence[Any], lines: Sequence[Any], name: str = "suite") -> Path:
        root = tmp_path / name
        (root / "definitions" / "elementwise").mkdir(parents=True)
        (root / "workloads" / "elementwise").mkdir(parents=True)
        for number, one in enumerate(definitions):
            text = one if isinstance(one, str) else json.dumps(one, indent=2)
            stem = f"broken{number}" if isinstance(one, str) else one["name"]
            (root / "definitions" / "elementwise" / f"{stem}.json").write_text(text)
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        (root / "workloads" / "elementwise" / "all.jsonl").write_text(text)
        return root

    return write


@pytest.fixture
def make_definition() -> Callable[..., dict[str, Any]]:
    """``definition`` as a fixture."""
    return definition


@pytest.fixture
def make_line() -> Callable[..., dict[str, Any]]:
    """``workload_line`` as a fixture."""
    return workload_line
