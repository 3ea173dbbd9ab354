"""Tasks that a kernel passes without doing the work: they are tried with answers that are wrong on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ptxbench.core.errors import PtxbenchError
from ptxbench.schema import Task, TaskSpec, Tolerance
from ptxbench.suite.dtypes import Array
from ptxbench.suite.finding import Finding
from ptxbench.suite.inputs import Value, draw
from ptxbench.suite.references import load_oracle, load_reference
from ptxbench.suite.suite import Suite
from ptxbench.suite.work import moved_bytes

SEED = 0
LARGEST = 1 << 30
"""Bytes of a workload's arguments beyond which its task is not tried here."""
SCALE = 0.85
"""An attention output scaled by this passes the published rule at long sequences; the strict rule must refuse it."""


def element_rule(got: Array, expected: Array, tolerance: Tolerance) -> bool:
    """Whether every element is inside ``atol + rtol * |expected|`` (the published rule)."""
    return bool(np.allclose(got.astype(np.float64), expected.astype(np.float64), rtol=tolerance.rtol, atol=tolerance.atol))


def frobenius_error(got: Array, oracle: Array) -> float:
    """Return ``||got - oracle|| / ||oracle||``, infinite when the oracle is all zeros and the answer is not."""
    wide = got.astype(np.float64)
    norm, error = float(np.linalg.norm(oracle)), float(np.linalg.norm(wide - oracle))
    return error / norm if norm else (np.inf if error else 0.0)


def degenerate(spec: TaskSpec) -> Iterator[Finding]:
    """Try wrong answers on the default workload, where the reference needs nothing but NumPy."""
    if spec.reference.needs != "numpy":
        return
    task = Suite([spec]).task(spec.name)
    size = moved_bytes(spec.definition, task.workload.axes)
    if size > LARGEST:
        text = f"its arguments have {size} bytes: wrong answers were not tried"
        yield Finding(severity="warning", code="too_large", task=spec.name, workload=task.workload.uuid, text=text)
        return
    try:
        inputs = draw(task, SEED)
        expected = load_reference(task)(inputs)
        oracle = load_oracle(task)(inputs)
        yield from _accepted(task, expected, oracle)
        yield from _unused(task, inputs, expected)
    except PtxbenchError as error:
        yield Finding(severity="error", code=error.code, task=spec.name, workload=task.workload.uuid, text=error.message)


def _accepted(task: Task, expected: Mapping[str, Array], oracle: Mapping[str, Array]) -> Iterator[Finding]:
    """Report wrong answers that are accepted: an error when by the strict rule, a warning when by the published one alone."""
    for name, right in expected.items():
        bound = task.tolerance.frobenius.get(name)
        own = frobenius_error(right, oracle[name])
        if bound is not None and not own <= bound:
            text = f"the reference's own {name} fails the strict rule: error {own:.2g}, bound {bound:.2g}"
            yield Finding(severity="error", code="reference", task=task.name, workload=task.workload.uuid, text=text)
        wrong = {
            "all zeros": np.zeros_like(oracle[name]),
            "a constant": np.full_like(oracle[name], oracle[name].mean() if oracle[name].size else 0.0),
            f"an answer scaled by {SCALE}": oracle[name] * SCALE,
        }
        for what, answer in wrong.items():
            paper = element_rule(answer, right, task.tolerance)
            strict = paper and (bound is None or frobenius_error(answer, oracle[name]) <= bound)
            if paper:
                rule = "both rules accept" if strict else "the published rule accepts"
                yield Finding(
                    severity="error" if strict else "warning",
                    code="accepts_wrong",
                    task=task.name,
                    workload=task.workload.uuid,
                    text=f"{rule} {what} as {name}",
                )


def _unused(task: Task, inputs: Mapping[str, Value], expected: Mapping[str, Array]) -> Iterator[Finding]:
    """Report inputs that no output depends on."""
    reference, others = load_reference(task), draw(task, SEED + 1)
    for name, value in inputs.items():
        if np.array_equal(np.asarray(value), np.asarray(others[name])):
            continue  # a stored input or a literal: there is no other value to try
        changed = reference({**inputs, name: others[name]})
        if all(np.array_equal(changed[output], expected[output], equal_nan=True) for output in expected):
            text = f"no output depends on the input {name}"
            yield Finding(severity="error", code="unused_input", task=task.name, workload=task.workload.uuid, text=text)
