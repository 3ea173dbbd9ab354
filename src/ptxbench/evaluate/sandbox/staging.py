"""The staging buffer of one evaluation: sealed shared memory with every argument between guard bands.

The candidate maps the same pages, so nothing in them is trusted: the judge rewrites inputs and poison before each round and
reads outputs, inputs and guard bands itself afterwards.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np

from ptxbench.suite.dtypes import Array

ALIGNMENT = 256
GUARD_BYTES = 4096
GLIMPSED = 64
"""Places in each output that are looked at right after an answer."""
POISON = 0xFF
"""Every byte of an unwritten output: a NaN in each floating-point type, unlike the NaNs that arithmetic makes."""
MFD_EXEC = 0x10
"""``memfd_create(2)``: the file may be mapped executable whatever the machine's default (Linux 6.3 and later)."""


Arguments = Mapping[str, Array | float | int | bool]


@dataclass(frozen=True)
class Cell:
    """Where one tensor lies: ``offset`` and ``size_bytes`` of its data, ``end`` of the guard band behind it."""

    name: str
    dtype: np.dtype[Any]
    dtype_name: str
    shape: tuple[int, ...]
    offset: int
    size_bytes: int
    end: int

    @property
    def begin(self) -> int:
        """Where the guard band before the tensor begins."""
        return self.offset - GUARD_BYTES


@dataclass(frozen=True)
class Slot:
    """One complete set of arguments: input cells and output cells, and scalars by value, in call order."""

    inputs: tuple[Cell, ...]
    outputs: tuple[Cell, ...]
    scalars: Mapping[str, float | int | bool]
    order: tuple[str, ...]

    def arguments(self) -> list[dict[str, Any]]:
        """Describe the arguments of a call for the candidate's process."""
        cells = {cell.name: cell for cell in (*self.inputs, *self.outputs)}
        return [
            {"value": self.scalars[name]}
            if name in self.scalars
            else {"offset": cells[name].offset, "shape": list(cells[name].shape), "dtype": cells[name].dtype_name}
            for name in self.order
        ]


@dataclass(frozen=True)
class Layout:
    """Slots one behind the other in a buffer of ``size_bytes``."""

    slots: tuple[Slot, ...]
    size_bytes: int


def lay_out(inputs: Arguments, outputs: Mapping[str, Array], dtypes: Mapping[str, str], slots: int) -> Layout:
    """Place ``slots`` copies of a call's arguments. ``dtypes`` gives the element type's name of every tensor."""
    position = 0

    def place(name: str, array: Array) -> Cell:
        nonlocal position
        offset = -(-(position + GUARD_BYTES) // ALIGNMENT) * ALIGNMENT
        end = -(-(offset + array.nbytes + GUARD_BYTES) // ALIGNMENT) * ALIGNMENT
        position = end
        return Cell(name, array.dtype, dtypes[name], tuple(array.shape), offset, array.nbytes, end)

    made = []
    for _ in range(slots):
        tensors = {name: value for name, value in inputs.items() if isinstance(value, np.ndarray)}
        scalars = {name: value for name, value in inputs.items() if not isinstance(value, np.ndarray)}
        made.append(
            Slot(
                inputs=tuple(place(name, array) for name, array in tensors.items()),
                outputs=tuple(place(name, array) for name, array in outputs.items()),
                scalars=scalars,
                order=(*inputs, *outputs),
            )
        )
    return Layout(tuple(made), -(-max(position, 1) // mmap.PAGESIZE) * mmap.PAGESIZE)


class Staging:
    """The judge's view of a staging buffer. A context manager: leaving it gives the memory back."""

    def __init__(self, layout: Layout, seed: int) -> None:
        self.layout = layout
        self.descriptor = sealed_memory("ptxbench-staging", layout.size_bytes)
        self._bytes = np.frombuffer(mmap.mmap(self.descriptor, layout.size_bytes), dtype=np.uint8)
        self._places = [_places(slot) for slot in layout.slots]
        self._guard = np.random.default_rng(seed).integers(1, 255, GUARD_BYTES + ALIGNMENT, dtype=np.uint8)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Unmap the buffer and close its descriptor."""
        self._bytes = np.empty(0, dtype=np.uint8)
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def write(self, slot: int, inputs: Arguments) -> None:
        """Write fresh inputs, poison the outputs and restore the guard bands of a slot."""
        cells = self.layout.slots[slot]
        for cell in cells.outputs:
            self._data(cell)[:] = POISON
        for cell in (*cells.inputs, *cells.outputs):
            self._write_guards(cell)
        for cell in cells.inputs:  # last of all, so that nobody can begin early
            value = inputs[cell.name]
            assert isinstance(value, np.ndarray)
            self._data(cell)[:] = _as_bytes(value)

    def glimpse(self, slot: int) -> bytes:
        """Return the bytes of a slot's outputs at random places, the same ones each time (microseconds, whatever the size)."""
        return bytes(self._bytes[self._places[slot]])

    def outputs(self, slot: int) -> dict[str, Array]:
        """Return copies of a slot's outputs, which the candidate can no longer change."""
        return {cell.name: self._data(cell).copy().view(cell.dtype).reshape(cell.shape) for cell in self.layout.slots[slot].outputs}

    def same_outputs(self, slot: int, outputs: Mapping[str, Array]) -> bool:
        """Return whether a slot's outputs are, bit for bit, these."""
        return all(np.array_equal(self._data(cell), _as_bytes(outputs[cell.name])) for cell in self.layout.slots[slot].outputs)

    def changed_inputs(self, slot: int, inputs: Arguments) -> tuple[str, ...]:
        """Return the names of a slot's inputs that are no longer what was written."""
        changed = []
        for cell in self.layout.slots[slot].inputs:
            value = inputs[cell.name]
            assert isinstance(value, np.ndarray)
            if not np.array_equal(self._data(cell), _as_bytes(value)):
                changed.append(cell.name)
        return tuple(changed)

    def changed_guard_bytes(self, slot: int) -> dict[str, int]:
        """Return how many guard bytes beside each tensor of a slot were overwritten (tensors without any left out)."""
        cells = self.layout.slots[slot]
        counts = {}
        for cell in (*cells.inputs, *cells.outputs):
            count = sum(int(np.count_nonzero(band != self._guard[: band.size])) for band in self._bands(cell))
            if count:
                counts[cell.name] = count
        return counts

    def _data(self, cell: Cell) -> Array:
        return self._bytes[cell.offset : cell.offset + cell.size_bytes]

    def _bands(self, cell: Cell) -> Sequence[Array]:
        return self._bytes[cell.begin : cell.offset], self._bytes[cell.offset + cell.size_bytes : cell.end]

    def _write_guards(self, cell: Cell) -> None:
        for band in self._bands(cell):
            band[:] = self._guard[: band.size]


def _places(slot: Slot) -> Array:
    """Return where to look at a slot's outputs: random places that differ by evaluation, and the last element of each."""
    chance = np.random.default_rng()
    filled = [cell for cell in slot.outputs if cell.size_bytes]
    places = [cell.offset + np.append(chance.integers(0, cell.size_bytes, GLIMPSED), cell.size_bytes - 1) for cell in filled]
    return np.concatenate(places) if places else np.empty(0, np.intp)


def _as_bytes(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def sealed_memory(name: str, size_bytes: int) -> int:
    """Return a descriptor of shared memory whose size nobody can change any more.

    Without the seals a candidate could cut the file short, and the judge would die of SIGBUS where it reads it.
    """
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size_bytes)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def frozen_memory(name: str, data: bytes) -> Any:
    """Yield a descriptor of memory that holds ``data`` and can never be changed (it may be mapped executable)."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        descriptor = os.memfd_create(name, flags | MFD_EXEC)
    except OSError:  # a kernel before 6.3 does not know the flag, nor needs it
        descriptor = os.memfd_create(name, flags)
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            stream.write(data)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        yield descriptor
    finally:
        os.close(descriptor)
