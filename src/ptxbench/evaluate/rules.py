"""The seam between the stages and what holds the numbers: NumPy arrays on the host, or tensors on a device."""

from __future__ import annotations

from typing import Any, Protocol

from ptxbench.evaluate.mismatch import rule
from ptxbench.evaluate.mismatch.rule import Comparison
from ptxbench.suite.dtypes import Array


class Rules(Protocol):
    """How outputs are compared where they lie. ``Any`` is an array of the kind that the judge holds."""

    def compare(self, got: Any, expected: Any, oracle: Any, *, atol: float, rtol: float, poison: int) -> Comparison:
        """Compare an output with its reference element by element, and with its oracle in norm (None: there is none)."""
        ...

    def root_mean_square(self, array: Any) -> float:
        """Return the root of the mean square of the finite elements, 0 for none."""
        ...

    def host(self, array: Any) -> Array:
        """Return the array on the host."""
        ...


class HostRules:
    """The rules on NumPy arrays."""

    def compare(self, got: Array, expected: Array, oracle: Array | None, *, atol: float, rtol: float, poison: int) -> Comparison:
        """Compare as ``mismatch.rule`` does."""
        return rule.compare(got, expected, oracle, atol=atol, rtol=rtol, poison=poison)

    def root_mean_square(self, array: Array) -> float:
        """Return the root of the mean square of the finite elements, 0 for none."""
        return rule.root_mean_square(array)

    def host(self, array: Array) -> Array:
        """Return the array: it is there already."""
        return array
