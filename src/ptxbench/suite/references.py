"""Running reference implementations and oracles on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from ptxbench.core.errors import InfrastructureError, SuiteError, ToolMissing
from ptxbench.core.extras import how_to_install
from ptxbench.schema import Task
from ptxbench.suite.dtypes import NUMPY_TYPES, Array


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
    require_library(task)

    def call(inputs: Mapping[str, Any]) -> dict[str, Array]:
        arguments = [inputs[name] for name in task.definition.inputs]
        with blamed_on_reference(task):
            run = compile_reference(task.definition.reference, f"<reference of {task.name}>")
            result = run(*arguments) if task.reference.needs == "numpy" else _on_torch(run, arguments)
        return {name: _typed(task, name, value) for name, value in named_outputs(task, result).items()}

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


def require_library(task: Task) -> None:
    """Raise ``ToolMissing`` when the module that the task's reference needs is not installed."""
    needs = task.reference.needs
    if needs != "numpy" and find_spec(needs) is None:
        extra = EXTRAS[needs]
        step = how_to_install(extra) if extra else f"install {needs}"
        raise ToolMissing(f"the reference of {task.name} needs {needs}, which is not installed", next_step=step)


@contextmanager
def blamed_on_reference(task: Task) -> Iterator[None]:
    """Raise ``ReferenceFailed`` for whatever is raised inside, but faults of the machine; a suite may raise ``SystemExit`` too."""
    try:
        yield
    except InfrastructureError:
        raise
    except (Exception, SystemExit) as error:
        message = f"the reference of {task.name} failed: {type(error).__name__}: {error}"
        raise ReferenceFailed(message, next_step="correct the definition's reference") from error


def named_outputs(task: Task, result: Any) -> dict[str, Any]:
    """Give the parts of a reference's return value the definition's names. Raises ``SuiteError`` when there are more or fewer."""
    names = list(task.definition.outputs)
    values = list(result) if isinstance(result, list | tuple) else [result]
    if len(values) != len(names):
        step = "the reference must return its outputs in the definition's order"
        raise SuiteError(f"the reference of {task.name} returns {len(values)} values for {names}", next_step=step)
    return dict(zip(names, values, strict=True))


def check_shape(task: Task, name: str, found: tuple[int, ...]) -> None:
    """Raise ``SuiteError`` when a reference's output does not have the definition's shape."""
    shape = task.definition.shape(name, task.workload.axes) or ()
    if found != shape:
        step = "correct the definition's axes or the reference"
        raise SuiteError(f"the reference of {task.name} gives {name} the shape {found}, not {shape}", next_step=step)


def _typed(task: Task, name: str, value: Any) -> Array:
    array = np.asarray(value)
    check_shape(task, name, array.shape)
    return np.ascontiguousarray(array.astype(NUMPY_TYPES[task.definition.outputs[name].dtype], copy=False))


def _on_torch(run: Callable[..., Any], arguments: list[Any]) -> list[Array]:
    import torch

    from ptxbench.suite.torch_types import as_array, as_tensor

    def to_torch(value: Any) -> Any:
        return as_tensor(value) if isinstance(value, np.ndarray) else value

    def to_numpy(value: Any) -> Array:
        return as_array(value) if isinstance(value, torch.Tensor) else np.asarray(value)

    with torch.no_grad():
        result = run(*map(to_torch, arguments))
    return [to_numpy(value) for value in (result if isinstance(result, list | tuple) else [result])]
