"""Device memory lent to one candidate: the judge's view of the arguments (``arena.Arena`` on a GPU).

The candidate's process maps the same physical memory, inputs read-only. What is in it is never trusted: the judge rewrites
inputs and poison before each round and reads outputs, inputs and guard bands itself afterwards. Expected outputs are never in it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import torch

from ptxbench.evaluate.device.driver import Allocation
from ptxbench.evaluate.device.layout import ALIGNMENT, GUARD_BYTES, INPUTS, OUTPUTS, Layout, Region
from ptxbench.evaluate.device.rule import same_bits
from ptxbench.evaluate.sandbox.launch import LentBuffer
from ptxbench.evaluate.sandbox.staging import GLIMPSED, POISON
from ptxbench.suite.torch_types import TORCH_TYPES


class _Bytes:
    """Raw device memory as torch takes it (the CUDA array interface, version 3)."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3, "strides": None, "stream": None,
        }  # fmt: skip


class LentMemory:
    """The two buffers of one evaluation. A context manager: leaving it frees the memory, when the candidate's process is gone.

    Args:
        layout: where everything lies.
        seed: what the guard bands' bytes follow from.
        ordinal: the device, as the driver counts here.

    """

    def __init__(self, layout: Layout, seed: int, ordinal: int = 0) -> None:
        self.layout = layout
        self._allocations: list[Allocation] = []
        with ExitStack() as on_failure:  # on a full device torch itself may find no room for the little that is its own
            on_failure.callback(self.close)
            for size in layout.sizes:
                self._allocations.append(Allocation(size, ordinal))
            place = torch.device("cuda", ordinal)
            self._bytes = [torch.as_tensor(_Bytes(one.address, one.size_bytes), device=place) for one in self._allocations]
            generator = torch.Generator().manual_seed(seed & (2**63 - 1))
            self._guard = torch.randint(1, 255, (GUARD_BYTES + ALIGNMENT,), generator=generator, dtype=torch.uint8).to(place)
            self._places = [self._random_places(slot.outputs) for slot in layout.slots]
            on_failure.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory. May be called again."""
        self._bytes = []
        self._places = []
        while self._allocations:
            self._allocations.pop().close()

    def lent(self) -> tuple[LentBuffer, ...]:
        """Return the buffers as the candidate's process gets them: inputs to read, outputs to write."""
        return tuple(
            LentBuffer(descriptor=one.descriptor, size_bytes=one.size_bytes, writable=number == OUTPUTS)
            for number, one in enumerate(self._allocations)
        )

    def write(self, slot: int, inputs: Mapping[str, Any]) -> None:
        """Write fresh inputs, poison the outputs and restore the guard bands of a slot."""
        cells = self.layout.slots[slot]
        for region in cells.outputs:
            self._bytes[OUTPUTS][region.data].fill_(POISON)
        for region in (*cells.inputs, *cells.outputs):
            for band in region.bands:
                place = self._bytes[region.buffer][band]
                place.copy_(self._guard[: place.numel()])
        for region in cells.inputs:
            self._bytes[INPUTS][region.data].copy_(_as_bytes(inputs[region.name]))
        torch.cuda.synchronize()

    def glimpse(self, slot: int) -> bytes:
        """Return the bytes of a slot's outputs at random places, the same ones each time."""
        return bytes(self._bytes[OUTPUTS][self._places[slot]].cpu().numpy())

    def outputs(self, slot: int) -> dict[str, torch.Tensor]:
        """Return copies of a slot's outputs, which the candidate can no longer change."""
        return {
            region.name: self._bytes[OUTPUTS][region.data].clone().view(TORCH_TYPES[region.dtype]).reshape(region.shape)
            for region in self.layout.slots[slot].outputs
        }

    def same_outputs(self, slot: int, outputs: Mapping[str, torch.Tensor]) -> bool:
        """Return whether a slot's outputs are, bit for bit, these."""
        return all(self._holds(region, outputs[region.name]) for region in self.layout.slots[slot].outputs)

    def changed_inputs(self, slot: int, inputs: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of a slot's inputs that are no longer what was written."""
        return tuple(one.name for one in self.layout.slots[slot].inputs if not self._holds(one, inputs[one.name]))

    def changed_guard_bytes(self, slot: int) -> dict[str, int]:
        """Return how many guard bytes beside each tensor of a slot were overwritten (tensors without any left out)."""
        cells = self.layout.slots[slot]
        counts = {region.name: self._changed(region) for region in (*cells.inputs, *cells.outputs)}
        return {name: count for name, count in counts.items() if count}

    def _changed(self, region: Region) -> int:
        bands = [self._bytes[region.buffer][band] for band in region.bands]
        return int(sum(torch.count_nonzero(band != self._guard[: band.numel()]) for band in bands))

    def _holds(self, region: Region, tensor: torch.Tensor) -> bool:
        return same_bits(self._bytes[region.buffer][region.data], _as_bytes(tensor))

    def _random_places(self, regions: Sequence[Region]) -> torch.Tensor:
        """Return where to look at outputs: places that differ by evaluation, and the last byte of each."""
        places: list[int] = []
        for region in regions:
            if region.size_bytes:
                places += [region.offset + secrets.randbelow(region.size_bytes) for _ in range(GLIMPSED)]
                places.append(region.offset + region.size_bytes - 1)
        return torch.tensor(places, dtype=torch.int64, device=self._guard.device)


def _as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)
