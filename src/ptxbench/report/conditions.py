"""What was measured of cells that stand in one table is the same (protocol section 9); unmeasured cells fit anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

Item = TypeVar("Item")

Marks = Mapping[str, str]
"""What is known of a cell's measurement, by name: cells that stand together have no name with two values."""


def marks(*, task: str, workload: str, baseline: str | None, device_name: str | None, proof_method: str | None) -> Marks:
    """Return the marks of a cell. A workload has one baseline and a library one version; None is not measured."""
    known = {"device": device_name, "proof method": proof_method}
    if baseline is not None:
        known |= {f"of {baseline.partition(' ')[0]}": baseline, f"on {task}@{workload}": baseline}
    return {name: value for name, value in known.items() if value is not None}


def together(items: Iterable[Item], marks_of: Callable[[Item], Marks]) -> list[list[Item]]:
    """Return the items in groups that may stand together, each in the order of the items, by their first ones.

    Those of which most is known come first, so that one of which little is known keeps no others apart.
    """
    marked = [(place, item, marks_of(item)) for place, item in enumerate(items)]
    groups: list[tuple[dict[str, str], list[tuple[int, Item]]]] = []
    for place, item, own in sorted(marked, key=lambda each: -len(each[2])):
        for known, members in groups:
            if all(known.get(name, value) == value for name, value in own.items()):
                known.update(own)
                members.append((place, item))
                break
        else:
            groups.append((dict(own), [(place, item)]))
    ordered = sorted((sorted(members, key=lambda each: each[0]) for _, members in groups), key=lambda members: members[0][0])
    return [[item for _, item in members] for members in ordered]
