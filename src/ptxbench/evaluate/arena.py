"""The seams between the stages and a device: where arguments live, and what calls the candidate.

CPU tasks fill them with shared memory and a local child; a GPU backend with device memory and a child that holds the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ptxbench.evaluate.sandbox.child import Answer
from ptxbench.evaluate.sandbox.staging import Arguments
from ptxbench.schema import RunFailure


class Arena(Protocol):
    """Memory that the judge writes before a call and reads after it. A slot is one complete set of arguments."""

    def write(self, slot: int, inputs: Arguments) -> None:
        """Write fresh inputs, poison the outputs and restore the guard bands."""
        ...

    def glimpse(self, slot: int) -> bytes:
        """Return the bytes of the outputs at some places that the candidate cannot know, in no time."""
        ...

    def outputs(self, slot: int) -> dict[str, Any]:
        """Return copies of the outputs, where the judge compares them."""
        ...

    def same_outputs(self, slot: int, outputs: Mapping[str, Any]) -> bool:
        """Whether the outputs are, bit for bit, these."""
        ...

    def changed_inputs(self, slot: int, inputs: Arguments) -> tuple[str, ...]:
        """Return the names of inputs that are no longer what was written."""
        ...

    def changed_guard_bytes(self, slot: int) -> dict[str, int]:
        """Return overwritten guard bytes by the tensor that they stand beside."""
        ...


class Runner(Protocol):
    """What calls the candidate. After a failure every further request gives the same failure."""

    def call(self, slots: Sequence[int], seconds: float) -> Answer | RunFailure:
        """Call the candidate once on each slot, all within ``seconds``."""
        ...
