"""A task's inputs, reference and oracle as tensors on a device: what ``inputs`` and ``references`` are on the host.

Importing it imports torch. ``device`` is a torch device, such as ``cuda:0`` or ``cpu``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, TypeAlias

import numpy as np
import torch

from ptxbench.core.errors import DeviceMemoryFull, SuiteError
from ptxbench.schema import Task
from ptxbench.suite.device_oracles import ORACLES
from ptxbench.suite.inputs import OUTLIER_FACTOR, Kind, RandomInput, plan
from ptxbench.suite.references import (
    blamed_on_reference,
    check_shape,
    compile_reference,
    load_reference,
    named_outputs,
    require_library,
)
from ptxbench.suite.torch_types import TORCH_TYPES, as_array, as_tensor

Value: TypeAlias = torch.Tensor | float | int | bool
Inputs = dict[str, Value]
Function = Callable[[Mapping[str, Any]], dict[str, torch.Tensor]]
"""Takes a task's inputs by name, returns its outputs by name; all on one device."""

ROUNDED_ON_DEVICE = frozenset(("float64", "float32", "bfloat16", "float16", "float8_e5m2"))
"""Types that torch rounds float32 numbers to as ``ml_dtypes`` and NumPy do, bit for bit (a NaN, which no stream gives, aside).

Not float8_e4m3fn: what is too large for it becomes NaN with ``ml_dtypes`` and, by the version of torch, NaN or the largest number.
"""

PIECE = 1 << 22
"""Elements that are drawn between two uploads: 16 MiB of pinned memory, twice for every input that is being drawn."""


NO_ROOM = ("CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED")
"""Statuses of libraries that found no room on the device."""


def draw_on(task: Task, seed: int, kind: Kind, device: str) -> Inputs:
    """Return the task's inputs on a device, in definition order; scalars are Python values.

    Drawn and stored inputs are bit for bit those of ``inputs.draw``. Derived ones (O and L of attention backward) are computed in
    float32 on the device, and differ by the order of its sums.

    Raises as ``inputs.draw`` does, and ``DeviceMemoryFull``.
    """
    return draw_many_on(task, [(seed, kind)], device)[0]


def draw_many_on(task: Task, sets: Sequence[tuple[int, Kind]], device: str) -> list[Inputs]:
    """Return several sets of inputs, one for each seed and kind, as ``draw_on`` does one by one.

    All streams are drawn at once, one thread each (NumPy lets go of the interpreter's lock), while others upload and round.
    """
    plans = [plan(task, seed, kind) for seed, kind in sets]
    place = torch.device(device)
    stream = torch.cuda.current_stream(place) if place.type == "cuda" else None
    with _room_for(task), ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as threads:
        drawing: list[dict[str, Future[Value]]] = [
            {name: threads.submit(_draw, one, place, stream) for name, one in planned.random.items()} for planned in plans
        ]
        drawn: list[Inputs] = [{name: future.result() for name, future in one.items()} for one in drawing]
        for planned, values in zip(plans, drawn, strict=True):
            for name, value in planned.given.items():
                values[name] = as_tensor(value).to(place) if isinstance(value, np.ndarray) else value
            values |= _derive(task, values, planned.derived)
    return [{name: values[name] for name in task.definition.inputs} for values in drawn]


def draw_fresh_on(task: Task, seed: int, device: str) -> Inputs:
    """Return inputs of the published distribution that the device draws itself: in no time, and only here the same for a seed.

    For inputs that nobody shall foresee. Stored inputs are what they are; derived ones are computed as in ``draw_on``.
    """
    planned = plan(task, seed, "published")
    place = torch.device(device)
    generator = torch.Generator(place).manual_seed(seed & (2**63 - 1))
    with _room_for(task):
        values: Inputs = {name: _fresh(one, generator, place) for name, one in planned.random.items()}
        for name, value in planned.given.items():
            values[name] = as_tensor(value).to(place) if isinstance(value, np.ndarray) else value
        values |= _derive(task, values, planned.derived)
    return {name: values[name] for name in task.definition.inputs}


def load_reference_on(task: Task, device: str) -> Function:
    """Return the task's library reference as a function on a device's tensors; outputs have the definition's types and shapes.

    A torch reference runs as it stands: bfloat16 products are summed in float32 throughout, float32 ones are not rounded to TF32.
    A NumPy reference runs on the host, on copies.

    Raises ``ToolMissing`` when the library is not installed. The function raises ``ReferenceFailed`` for whatever the reference
    raises, ``SuiteError`` for outputs that do not have the definition's number or shapes, and ``DeviceMemoryFull``.
    """
    require_library(task)
    if task.reference.needs == "numpy":
        return _on_host(load_reference(task), device)
    run = _library_call(task)

    def call(inputs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        with blamed_on_reference(task), _room_for(task):
            result = run(*(inputs[name] for name in task.definition.inputs))
        return {name: _typed(task, name, value, device) for name, value in named_outputs(task, result).items()}

    return call


def load_oracle_on(task: Task, device: str) -> Function:
    """Return the task's oracle as a function on a device's tensors; its outputs are float64.

    A foreign task has no oracle of its own: its reference's outputs serve, widened to float64. The function raises
    ``DeviceMemoryFull``, and for a foreign task what its reference's function raises.
    """
    if task.oracle is None:
        reference = load_reference_on(task, device)
        return lambda inputs: {name: value.double() for name, value in reference(inputs).items()}
    if task.oracle not in ORACLES:
        step = f"known oracles: {', '.join(ORACLES)}"
        raise SuiteError(f"{task.name}: the oracle {task.oracle!r} is not known", next_step=step)
    oracle = ORACLES[task.oracle]

    def call(inputs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        with _room_for(task), torch.no_grad():
            return oracle(inputs)

    return call


def _draw(one: RandomInput, place: torch.device, stream: torch.cuda.Stream | None) -> Value:
    """Draw one input and bring it to the device, on the caller's stream."""
    with torch.cuda.stream(stream) if stream is not None else nullcontext():
        if one.shape is None or not one.rounded or one.dtype not in ROUNDED_ON_DEVICE:
            value = one.draw()
            return as_tensor(value).to(place) if isinstance(value, np.ndarray) else value
        dtype = TORCH_TYPES[one.dtype]
        early = one.kind != "outliers"  # which elements are outliers is known when all are drawn
        values = torch.empty(one.count, dtype=dtype if early else torch.float32, device=place)
        for begin, piece in _pieces(one, place):
            values[begin : begin + piece.numel()] = piece.mul_(float(one.factor)) if one.factor != 1.0 else piece
        places = one.outliers()
        if places is not None:
            values[torch.from_numpy(places).to(place)] *= OUTLIER_FACTOR
        return values.to(dtype).reshape(one.shape)


def _fresh(one: RandomInput, generator: torch.Generator, place: torch.device) -> Value:
    """Draw one input's distribution by the device's own generator."""
    dtype, shape, scale = TORCH_TYPES[one.dtype], one.shape or (), one.sampler.scale
    if not one.rounded:
        low, high = (0, 2) if one.dtype == "bool" else one.bounds
        values = torch.randint(low, high, shape, generator=generator, device=place)
    elif one.sampler.kind == "normal":
        values = torch.randn(shape, generator=generator, device=place).mul_(scale)
    elif one.sampler.kind == "uniform":
        values = torch.rand(shape, generator=generator, device=place).mul_(2.0 * scale).sub_(scale)
    else:
        values = torch.randint(-1, 2, shape, generator=generator, device=place).float().mul_(scale)
    drawn = values.to(dtype)
    return drawn.item() if one.shape is None else drawn


def _pieces(one: RandomInput, place: torch.device) -> Iterator[tuple[int, torch.Tensor]]:
    """Yield where a piece of the stream begins and the piece on the device; while it uploads, the next one is drawn."""
    pinned = place.type == "cuda"
    size = max(1, min(PIECE, one.count))
    buffers = [torch.empty(size, dtype=torch.float32, pin_memory=pinned) for _ in range(2)]
    uploaded: list[torch.cuda.Event | None] = [None, None]
    for number, begin in enumerate(range(0, one.count, size)):
        side = number % 2
        event = uploaded[side]
        if event is not None:
            event.synchronize()
        piece = buffers[side][: min(size, one.count - begin)]
        one.fill(piece.numpy())
        if not pinned:
            yield begin, piece
            continue
        there = piece.to(place, non_blocking=True)
        uploaded[side] = torch.cuda.current_stream(place).record_event()
        yield begin, there


def _derive(task: Task, drawn: Mapping[str, Any], derived: Mapping[str, tuple[str, str]]) -> dict[str, torch.Tensor]:
    """Compute the derived inputs in float32; each function that they need runs once."""
    results: dict[str, dict[str, torch.Tensor]] = {}
    with torch.no_grad():
        for function in dict.fromkeys(function for function, _ in derived.values()):
            results[function] = ORACLES[function](drawn, torch.float32)
    return {
        name: results[function][output].to(TORCH_TYPES[task.definition.inputs[name].dtype])
        for name, (function, output) in derived.items()
    }


def _library_call(task: Task) -> Callable[..., Any]:
    """Return the reference's own function, run with the arithmetic that its library is measured with."""
    compiled: list[Callable[..., Any]] = []

    def run(*arguments: Any) -> Any:
        if not compiled:
            compiled.append(compile_reference(task.definition.reference, f"<reference of {task.name}>"))
        with torch.no_grad(), _library_arithmetic():
            return compiled[0](*arguments)

    return run


@contextmanager
def _library_arithmetic() -> Iterator[None]:
    """Sum 16-bit products in float32 throughout and multiply float32 matrices in float32, whatever the process has chosen."""
    matmul = torch.backends.cuda.matmul
    names = ("allow_bf16_reduced_precision_reduction", "allow_fp16_reduced_precision_reduction")
    before = {name: getattr(matmul, name) for name in names}
    precision = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("highest")
        for name in names:
            setattr(matmul, name, False)
        yield
    finally:
        for name, value in before.items():
            setattr(matmul, name, value)
        torch.set_float32_matmul_precision(precision)


def _on_host(function: Callable[[Mapping[str, Any]], dict[str, Any]], device: str) -> Function:
    def call(inputs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        arrays = {name: as_array(value) if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}
        return {name: as_tensor(value).to(device) for name, value in function(arrays).items()}

    return call


def _typed(task: Task, name: str, value: Any, device: str) -> torch.Tensor:
    tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
    check_shape(task, name, tuple(tensor.shape))
    return tensor.detach().to(device=device, dtype=TORCH_TYPES[task.definition.outputs[name].dtype]).contiguous()


@contextmanager
def _room_for(task: Task) -> Iterator[None]:
    """Raise ``DeviceMemoryFull`` where torch, or a library that it calls, finds no memory."""
    try:
        yield
    except RuntimeError as error:
        # Libraries that find no room have no exception of their own: torch names their status in the text of a plain one.
        if not isinstance(error, torch.OutOfMemoryError) and not any(status in str(error) for status in NO_ROOM):
            raise
        message = f"{task.name} does not fit the device's memory: {str(error).partition('. ')[0]}"
        raise DeviceMemoryFull(message) from error
