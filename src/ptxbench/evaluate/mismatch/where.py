"""Where an output is wrong: the indices along each axis, as ranges or patterns that name tiles, heads, rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxbench.suite.dtypes import Array

PERIODS = (2, 4, 8, 16, 32, 64, 128, 256)
"""Periods that tilings make."""
LISTED = 8


@dataclass(frozen=True)
class AxisIndices:
    """The indices of one axis at which something is wrong, when these are not all of them."""

    axis: str
    size: int
    text: str
    details: dict[str, Any]


def locate(wrong: Array, axes: Sequence[str]) -> list[AxisIndices]:
    """Return, for every axis that confines the wrong elements, at which indices they lie."""
    found = []
    for number, (name, size) in enumerate(zip(axes, wrong.shape, strict=True)):
        others = tuple(other for other in range(wrong.ndim) if other != number)
        indices = np.flatnonzero(wrong.any(axis=others))
        if 0 < indices.size < size:
            text, details = describe_indices(indices, size)
            found.append(AxisIndices(name, size, f"{name} {text}", {"axis": name, "size": size, **details}))
    return found


def describe_indices(indices: Array, size: int) -> tuple[str, dict[str, Any]]:
    """Describe sorted indices below ``size``: one range, residues of a period, a short list, or their bounds."""
    first, last, count = int(indices[0]), int(indices[-1]), int(indices.size)
    if count == 1:
        return f"= {first}", {"first": first, "last": first, "count": 1}
    details: dict[str, Any] = {"first": first, "last": last, "count": count}
    if last - first + 1 == count:
        return f"{first}..{last}", details
    for period in PERIODS:
        if period > size // 2:
            break
        residues = np.unique(indices % period)
        if residues.size < period and count == int(np.isin(np.arange(size) % period, residues).sum()):
            return f"mod {period} = {_spans(residues)}", details | {"period": period, "residues": residues.tolist()}
    if count <= LISTED:
        return f"in {{{', '.join(map(str, indices.tolist()))}}}", details | {"indices": indices.tolist()}
    spans = _spans(indices)
    if spans.count(",") < LISTED:
        return f"in {spans}", details
    return f"at {count} indices within {first}..{last}", details


def _spans(indices: Array) -> str:
    """Write sorted indices as ranges: ``0..3, 8..11``."""
    breaks = np.flatnonzero(np.diff(indices) != 1)
    starts = [0, *(breaks + 1).tolist()]
    ends = [*breaks.tolist(), indices.size - 1]
    return ", ".join(
        str(int(indices[a])) if a == b else f"{int(indices[a])}..{int(indices[b])}" for a, b in zip(starts, ends, strict=True)
    )
