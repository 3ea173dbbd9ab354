"""``Definition``: what an operator computes (FlashInfer-Trace)."""

from __future__ import annotations

import ast
from typing import Annotated, Literal, Self

from pydantic import Field, StrictInt, model_validator

from ptxbench.schema.base import TraceRecord

DType = Literal[
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1",
    "int64", "int32", "int16", "int8", "uint8", "bool",
]  # fmt: skip
"""Element types of tensors, by their FlashInfer-Trace names (and float64, uint8)."""


class ConstAxis(TraceRecord):
    """An axis whose size is the same in every workload."""

    type: Literal["const"]
    value: Annotated[StrictInt, Field(ge=0)]
    description: str | None = None


class VarAxis(TraceRecord):
    """An axis whose size each workload gives."""

    type: Literal["var"]
    description: str | None = None


Axis = Annotated[ConstAxis | VarAxis, Field(discriminator="type")]


class TensorSpec(TraceRecord):
    """Shape and element type of one argument: ``shape`` names axes; ``[]`` is a 0-D tensor, None a Python scalar."""

    shape: tuple[str, ...] | None
    dtype: DType
    description: str | None = None


class Definition(TraceRecord):
    """An operator: named axes, inputs and outputs in call order, and a reference in Python with a top-level ``run``."""

    name: str
    op_type: str
    axes: dict[str, Axis]
    inputs: dict[str, TensorSpec]
    outputs: dict[str, TensorSpec]
    reference: str
    description: str | None = None
    tags: tuple[str, ...] | None = None
    constraints: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.inputs or not self.outputs:
            raise ValueError("a definition needs at least one input and one output")
        clash = set(self.inputs) & set(self.outputs)
        if clash:
            raise ValueError(f"names are both input and output: {sorted(clash)}")
        for name, spec in (self.inputs | self.outputs).items():
            for axis in spec.shape or ():
                if axis not in self.axes:
                    raise ValueError(f"{name} has the undefined axis {axis!r}")
        for text in self.constraints or ():
            try:
                tree = ast.parse(text, mode="eval")
            except SyntaxError as error:
                raise ValueError(f"constraint {text!r} is not an expression: {error.msg}") from None
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node.id not in (set(self.axes) | set(self.inputs)):
                    raise ValueError(f"constraint {text!r} names the unknown {node.id!r}")
        try:
            module = ast.parse(self.reference)
        except SyntaxError as error:
            raise ValueError(f"reference does not parse: line {error.lineno}: {error.msg}") from None
        if not any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in module.body):
            raise ValueError("reference has no top-level function run")
        return self

    @property
    def var_axes(self) -> tuple[str, ...]:
        """Names of the axes that a workload must give."""
        return tuple(name for name, axis in self.axes.items() if isinstance(axis, VarAxis))

    def sizes(self, axes: dict[str, int]) -> dict[str, int]:
        """Return every axis's size, given a workload's. Raises ``ValueError`` for a missing or unknown axis."""
        missing = set(self.var_axes) - set(axes)
        unknown = set(axes) - set(self.var_axes)
        if missing or unknown:
            raise ValueError(f"axes of {self.name}: missing {sorted(missing)}, unknown {sorted(unknown)}")
        const = {name: axis.value for name, axis in self.axes.items() if isinstance(axis, ConstAxis)}
        return const | axes

    def shape(self, argument: str, axes: dict[str, int]) -> tuple[int, ...] | None:
        """Return the shape of an input or output under a workload's axes, None for a Python scalar."""
        spec = self.inputs.get(argument) or self.outputs[argument]
        if spec.shape is None:
            return None
        sizes = self.sizes(axes)
        return tuple(sizes[axis] for axis in spec.shape)
