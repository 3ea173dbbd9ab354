"""``draw``: a task's inputs as NumPy arrays, the same for the same seed.

Every input has its own stream: NumPy's Philox generator, keyed with the first 16 bytes of
``SHA-256("ptxbench inputs 1|<seed>|<kind>|<input name>")``, so that inputs do not depend on each other's size or order. Values
are drawn in float32 in row-major order, multiplied by the sampler's scale, and rounded once to the input's type.

NumPy promises the same stream for one version on all machines, and changes its distributions rarely (NEP 19); the last bit of
normal values may depend on the C library, and derived inputs on the BLAS that NumPy was built with.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from ptxbench.core.errors import SuiteError, UsageError
from ptxbench.schema import SafetensorsInput, Sampler, ScalarInput, Task
from ptxbench.suite.dtypes import NUMPY_TYPES, Array, is_float
from ptxbench.suite.references import compile_reference
from ptxbench.suite.safetensors import read_tensor
from ptxbench.suite.sources import reference_source

Kind = Literal["published", "scaled", "outliers"]
"""``published``: the published distribution. ``scaled``: values times each sampler's ``scaled`` factor. ``outliers``: the
published distribution with one element in 16384 (at least one) of every normal input made 64 times larger."""

Value = Array | float | int | bool
Inputs = dict[str, Value]

OUTLIER_SPACING = 1 << 14
OUTLIER_FACTOR = 64.0

DERIVATIONS = {
    "attention": ("attention_numpy", False),
    "attention_causal": ("attention_numpy", True),
}
"""Functions of ``DERIVED_FROM`` that derived inputs come from: reference file and whether it is causal."""

DERIVED_FROM = ("Q", "K", "V")


def generator(seed: int, kind: Kind, name: str) -> np.random.Generator:
    """Return the stream of one input (the key's derivation is this module's docstring)."""
    digest = hashlib.sha256(f"ptxbench inputs 1|{seed}|{kind}|{name}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


def draw(task: Task, seed: int, kind: Kind = "published") -> Inputs:
    """Return the task's inputs in definition order.

    Args:
        task: what to draw for; its workload says which inputs are random, scalars, or stored in files.
        seed: any integer; the same seed gives the same values.
        kind: which distribution.

    Returns tensors as C-contiguous arrays of the input's own type (bfloat16 and float8 by ``ml_dtypes``), scalars as Python
    values. Derived inputs (O and L of attention backward) are the forward's outputs for the drawn Q, K and V.

    Raises ``UsageError`` for a kind that is unknown or that the task does not allow (``scale_inputs``), ``SuiteError`` for an
    input whose file cannot be used.
    """
    planned = plan(task, seed, kind)
    drawn = planned.given | {name: one.draw() for name, one in planned.random.items()}
    drawn |= _derive(task, drawn, planned.derived)
    return {name: drawn[name] for name in task.definition.inputs}


@dataclass(frozen=True)
class RandomInput:
    """One random input: its stream, its form, and its distribution. A stream is read once, so this gives its values once."""

    stream: np.random.Generator
    shape: tuple[int, ...] | None
    dtype: str
    sampler: Sampler
    kind: Kind

    @property
    def count(self) -> int:
        """Elements; a Python scalar is one."""
        return math.prod(self.shape or ())

    @property
    def rounded(self) -> bool:
        """Whether the values are drawn in float32 and converted once."""
        return self.dtype != "bool" and (is_float(self.dtype) or self.sampler.kind != "integers")

    @property
    def bounds(self) -> tuple[int, int]:
        """Return the least value of drawn integers and the one behind the largest, cut to what the type holds."""
        limits, scale = np.iinfo(NUMPY_TYPES[self.dtype]), int(self.sampler.scale)
        return max(-scale, int(limits.min)), min(scale, int(limits.max) + 1)

    @property
    def factor(self) -> np.float32:
        """What the drawn values are multiplied by."""
        return np.float32(self.sampler.scale * (self.sampler.scaled if self.kind == "scaled" else 1.0))

    def fill(self, values: Array) -> None:
        """Fill a flat float32 array with the stream's next values, without ``factor``; in pieces, it gives the same values."""
        if self.sampler.kind == "normal":
            self.stream.standard_normal(out=values, dtype=np.float32)
        elif self.sampler.kind == "uniform":
            self.stream.random(out=values, dtype=np.float32)
            values *= np.float32(2.0)
            values -= np.float32(1.0)
        else:
            values[:] = self.stream.integers(-1, 1, size=values.size, endpoint=True)

    def outliers(self) -> Array | None:
        """Return the sorted places of elements to multiply by ``OUTLIER_FACTOR``, None for none. They follow the values."""
        if self.kind != "outliers" or self.sampler.kind != "normal" or not self.count:
            return None
        return np.unique(self.stream.integers(0, self.count, size=max(1, self.count // OUTLIER_SPACING)))

    def draw(self) -> Value:
        """Return the values as an array of the input's type, or as a Python scalar."""
        dtype = NUMPY_TYPES[self.dtype]
        values: Array
        if self.rounded:
            values = self._floats().astype(dtype)
        elif self.dtype == "bool":
            values = self.stream.integers(0, 2, size=self.count, dtype=np.uint8).astype(np.bool_)
        else:
            low, high = self.bounds
            values = np.asarray(self.stream.integers(low, high, size=self.count, dtype=np.int64)).astype(dtype)
        return values.item() if self.shape is None else values.reshape(self.shape)

    def _floats(self) -> Array:
        values = np.empty(self.count, np.float32)
        self.fill(values)
        if self.factor != 1.0:
            values *= self.factor
        places = self.outliers()
        if places is not None:
            values[places] *= np.float32(OUTLIER_FACTOR)
        return values


@dataclass(frozen=True)
class Plan:
    """Where each input of a task comes from, by name.

    Scalars and stored tensors are ``given``; a derived input has a function of ``DERIVATIONS`` and one of its outputs.
    """

    given: Inputs
    random: dict[str, RandomInput]
    derived: dict[str, tuple[str, str]]


def plan(task: Task, seed: int, kind: Kind) -> Plan:
    """Return where a task's inputs come from. Raises as ``draw`` does."""
    if kind not in get_args(Kind):
        raise UsageError(f"unknown kind of inputs {kind!r}", next_step=f"choose from {', '.join(get_args(Kind))}")
    if kind != "published" and not task.scale_inputs:
        raise UsageError(f"{task.name} does not allow {kind} inputs", next_step="draw the published ones")
    planned = Plan({}, {}, {})
    for name, spec in task.definition.inputs.items():
        descriptor = task.workload.inputs.get(name)
        sampler = task.samplers.get(name)
        if isinstance(descriptor, ScalarInput):
            planned.given[name] = descriptor.value
        elif isinstance(descriptor, SafetensorsInput):
            planned.given[name] = _stored(task, name, descriptor)
        elif sampler is None:
            raise SuiteError(f"{task.name} does not say how its input {name} is drawn", next_step="add a sampler for it")
        elif sampler.rule is not None:
            planned.derived[name] = _derivation(task, name, sampler.rule)
        else:
            shape = task.definition.shape(name, task.workload.axes)
            planned.random[name] = RandomInput(generator(seed, kind, name), shape, spec.dtype, sampler, kind)
    return planned


def _derive(task: Task, drawn: Mapping[str, Value], derived: Mapping[str, tuple[str, str]]) -> dict[str, Array]:
    """Compute the derived inputs; each function that they need runs once."""
    results: dict[str, dict[str, Array]] = {}
    values: dict[str, Array] = {}
    for name, (function, output) in derived.items():
        if function not in results:
            file, causal = DERIVATIONS[function]
            run = compile_reference(reference_source(file, CAUSAL=causal), f"{file}.py")
            results[function] = dict(zip(("O", "LSE"), run(*(drawn[source] for source in DERIVED_FROM)), strict=True))
        values[name] = results[function][output].astype(NUMPY_TYPES[task.definition.inputs[name].dtype], copy=False)
    return values


def _derivation(task: Task, name: str, rule: str) -> tuple[str, str]:
    """Take a rule apart: its function and which of the function's outputs."""
    function, _, output = rule.partition(".")
    if function not in DERIVATIONS:
        step = f"use one of {', '.join(DERIVATIONS)}"
        raise SuiteError(f"{task.name}: the rule {rule!r} of the input {name} is not known", next_step=step)
    return function, output


def _stored(task: Task, name: str, descriptor: SafetensorsInput) -> Array:
    if task.root is None:
        raise SuiteError(
            f"{task.name}: the input {name} is a file, but the task has no folder", next_step="load it from its folder"
        )
    path = Path(task.root) / descriptor.path
    value = read_tensor(path, descriptor.tensor_key)
    expected = task.definition.shape(name, task.workload.axes)
    dtype = NUMPY_TYPES[task.definition.inputs[name].dtype]
    if value.shape != (expected or ()) or value.dtype != dtype:
        found = f"{value.dtype}{list(value.shape)}"
        step = "correct the file or the workload's axes"
        raise SuiteError(f"{path}: {descriptor.tensor_key} is {found}, not {dtype}{list(expected or ())}", next_step=step)
    return value
