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
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from ptxbench.core.errors import SuiteError, UsageError
from ptxbench.schema import SafetensorsInput, Sampler, ScalarInput, Task, TensorSpec
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
    if kind not in get_args(Kind):
        raise UsageError(f"unknown kind of inputs {kind!r}", next_step=f"choose from {', '.join(get_args(Kind))}")
    if kind != "published" and not task.scale_inputs:
        raise UsageError(f"{task.name} does not allow {kind} inputs", next_step="draw the published ones")
    drawn: Inputs = {}
    derived: dict[str, str] = {}
    for name, spec in task.definition.inputs.items():
        descriptor = task.workload.inputs.get(name)
        sampler = task.samplers.get(name)
        if isinstance(descriptor, ScalarInput):
            drawn[name] = descriptor.value
        elif isinstance(descriptor, SafetensorsInput):
            drawn[name] = _stored(task, name, descriptor)
        elif sampler is None:
            raise SuiteError(f"{task.name} does not say how its input {name} is drawn", next_step="add a sampler for it")
        elif sampler.rule is not None:
            derived[name] = sampler.rule
        else:
            drawn[name] = _random(generator(seed, kind, name), task.definition.shape(name, task.workload.axes), spec, sampler, kind)
    drawn |= _derive(task, drawn, derived)
    return {name: drawn[name] for name in task.definition.inputs}


def _random(stream: np.random.Generator, shape: tuple[int, ...] | None, spec: TensorSpec, sampler: Sampler, kind: Kind) -> Value:
    dtype = NUMPY_TYPES[spec.dtype]
    size = shape or ()
    values: Array
    if spec.dtype == "bool":
        values = stream.integers(0, 2, size=size, dtype=np.uint8).astype(np.bool_)
    elif sampler.kind == "integers" and not is_float(spec.dtype):
        bounds = np.iinfo(dtype)
        low, high = max(-int(sampler.scale), int(bounds.min)), min(int(sampler.scale), int(bounds.max) + 1)
        values = np.asarray(stream.integers(low, high, size=size, dtype=np.int64)).astype(dtype)
    else:
        values = _floats(stream, size, sampler, kind).astype(dtype)
    return values.item() if shape is None else values


def _floats(stream: np.random.Generator, shape: tuple[int, ...], sampler: Sampler, kind: Kind) -> Array:
    count = math.prod(shape)
    if sampler.kind == "normal":
        values = stream.standard_normal(count, dtype=np.float32)
    elif sampler.kind == "uniform":
        values = stream.random(count, dtype=np.float32) * np.float32(2.0) - np.float32(1.0)
    else:
        values = stream.integers(-1, 1, size=count, endpoint=True).astype(np.float32)
    factor = sampler.scale * (sampler.scaled if kind == "scaled" else 1.0)
    if factor != 1.0:
        values *= np.float32(factor)
    if kind == "outliers" and sampler.kind == "normal" and count:
        places = stream.integers(0, count, size=max(1, count // OUTLIER_SPACING))
        values[np.unique(places)] *= np.float32(OUTLIER_FACTOR)
    return values.reshape(shape)


def _derive(task: Task, drawn: Mapping[str, Value], derived: Mapping[str, str]) -> dict[str, Array]:
    """Compute the derived inputs; each function that they need runs once."""
    results: dict[str, dict[str, Array]] = {}
    values: dict[str, Array] = {}
    for name, rule in derived.items():
        function, _, output = rule.partition(".")
        if function not in DERIVATIONS:
            step = f"use one of {', '.join(DERIVATIONS)}"
            raise SuiteError(f"{task.name}: the rule {rule!r} of the input {name} is not known", next_step=step)
        if function not in results:
            file, causal = DERIVATIONS[function]
            run = compile_reference(reference_source(file, CAUSAL=causal), f"{file}.py")
            results[function] = dict(zip(("O", "LSE"), run(*(drawn[source] for source in DERIVED_FROM)), strict=True))
        values[name] = results[function][output].astype(NUMPY_TYPES[task.definition.inputs[name].dtype], copy=False)
    return values


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
