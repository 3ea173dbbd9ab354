"""Running reference implementations and oracles on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from ptxbench.core.errors import SuiteError, ToolMissing
from ptxbench.core.extras import how_to_install
from ptxbench.schema import Task
from ptxbench.suite.dtypes import NAMES, NUMPY_TYPES, Array


class ReferenceFailed(SuiteError):
    """A reference raised an exception: the suite is at fault, no candidate."""

    code = "reference_failed"


Function = Callable[[Mapping[str, Any]], dict[str, Array]]
"""Takes a task's inputs by name (see ``inputs.draw``), returns its outputs by name."""

EXTRAS = {"torch": "gpu", "flashinfer": None}
"""The extra of ptxbench that brings what a reference needs, None where none does."""


def compile_reference(source: str, name: str) -> Callable[..., Any]:
    """Return the function ``run`` of a reference's source. ``name`` is what tracebacks call the file.

    The source is trusted: it runs in this process, as part of a suite that the user has chosen.
    """
    namespace: dict[str, Any] = {"__name__": f"ptxbench_reference_{name}", "__file__": name}
    exec(compile(source, name, "exec"), namespace)
    run: Callable[..., Any] = namespace["run"]
    return run


def load_reference(task: Task) -> Function:
    """Return the task's reference as a function on NumPy arrays; outputs have the definition's types.

    A torch reference runs on the CPU, where the bundled ones compute in float32 without cuDNN or cuBLAS.

    Raises ``ToolMissing`` when the library that the reference needs is not installed. The function raises ``ReferenceFailed`` for
    whatever the reference raises, and ``SuiteError`` when the outputs do not have the definition's number or shapes.
    """
    needs = task.reference.needs
    if needs != "numpy" and find_spec(needs) is None:
        extra = EXTRAS[needs]
        step = how_to_install(extra) if extra else f"install {needs}"
        raise ToolMissing(f"the reference of {task.name} needs {needs}, which is not installed", next_step=step)

    def call(inputs: Mapping[str, Any]) -> dict[str, Array]:
        arguments = [inputs[name] for name in task.definition.inputs]
        try:
            run = compile_reference(task.definition.reference, f"<reference of {task.name}>")
            result = run(*arguments) if needs == "numpy" else _on_torch(run, arguments)
        except (Exception, SystemExit) as error:  # a suite's own code may raise anything
            message = f"the reference of {task.name} failed: {type(error).__name__}: {error}"
            raise ReferenceFailed(message, next_step="correct the definition's reference") from error
        return _outputs(task, result)

    return call


def load_oracle(task: Task) -> Function:
    """Return the float64 oracle of the task's family; its outputs are float64.

    A foreign task has no oracle of its own: its reference's outputs serve, widened to float64.
    """
    if task.oracle is not None:
        from ptxbench.suite.oracles import ORACLES

        if task.oracle not in ORACLES:
            step = f"known oracles: {', '.join(ORACLES)}"
            raise SuiteError(f"{task.name}: the oracle {task.oracle!r} is not known", next_step=step)
        return ORACLES[task.oracle]
    reference = load_reference(task)
    return lambda inputs: {name: value.astype(np.float64) for name, value in reference(inputs).items()}


def _outputs(task: Task, result: Any) -> dict[str, Array]:
    """Check a reference's return value and give its parts the definition's names and types."""
    names = list(task.definition.outputs)
    values = list(result) if isinstance(result, list | tuple) else [result]
    if len(values) != len(names):
        step = "the reference must return its outputs in the definition's order"
        raise SuiteError(f"the reference of {task.name} returns {len(values)} values for {names}", next_step=step)
    outputs: dict[str, Array] = {}
    for name, value in zip(names, values, strict=True):
        array = np.asarray(value)
        shape = task.definition.shape(name, task.workload.axes) or ()
        if array.shape != shape:
            step = "correct the definition's axes or the reference"
            raise SuiteError(f"the reference of {task.name} gives {name} the shape {array.shape}, not {shape}", next_step=step)
        outputs[name] = np.ascontiguousarray(array.astype(NUMPY_TYPES[task.definition.outputs[name].dtype], copy=False))
    return outputs


def _on_torch(run: Callable[..., Any], arguments: list[Any]) -> list[Array]:
    import torch

    types = {
        "bfloat16": (np.int16, torch.bfloat16),
        "float8_e4m3fn": (np.uint8, torch.float8_e4m3fn),
        "float8_e5m2": (np.uint8, torch.float8_e5m2),
    }

    def to_torch(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        if NAMES[value.dtype] in types:
            carrier, dtype = types[NAMES[value.dtype]]
            return torch.from_numpy(value.view(carrier)).view(dtype)
        return torch.from_numpy(value)

    def to_numpy(value: Any) -> Array:
        if not isinstance(value, torch.Tensor):
            return np.asarray(value)
        whole = value.detach().cpu().contiguous()
        for name, (_, dtype) in types.items():
            if whole.dtype == dtype:
                carrier = torch.int16 if name == "bfloat16" else torch.uint8
                array: Array = whole.view(carrier).numpy().view(NUMPY_TYPES[name])
                return array
        plain: Array = whole.numpy()
        return plain

    with torch.no_grad():
        result = run(*map(to_torch, arguments))
    return [to_numpy(value) for value in (result if isinstance(result, list | tuple) else [result])]
