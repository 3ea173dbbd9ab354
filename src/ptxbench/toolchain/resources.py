"""What ptxas says about each kernel: registers, spills, stack, shared memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"^ptxas info\s*: Compiling entry function '([^']+)' for '[^']+'")
_PROPERTIES = re.compile(r"^ptxas info\s*: Function properties for '?([^\s']+)")
_FRAME = re.compile(r"^\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"^ptxas info\s*: Used (\d+) registers(.*)")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True)
class Resources:
    """Of one kernel. ``spill_bytes`` adds spill stores and spill loads; ``shared_bytes`` is static shared memory."""

    registers: int | None = None
    spill_bytes: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None


def resources(text: str) -> dict[str, Resources]:
    """Read the report of ``ptxas -v``: kernel (mangled name) to resources, in ptxas's order."""
    found: dict[str, Resources] = {}
    kernel: str | None = None
    function: str | None = None
    frame: dict[str, int] = {}
    for line in text.splitlines():
        if match := _ENTRY.match(line):
            kernel, function, frame = match[1], None, {}
            found[kernel] = Resources()
        elif match := _PROPERTIES.match(line):
            function = match[1]
        elif (match := _FRAME.match(line)) and function is not None and function == kernel:
            frame = {"stack_bytes": int(match[1]), "spill_bytes": int(match[2]) + int(match[3])}
        elif (match := _USED.match(line)) and kernel is not None:
            shared = _SHARED.search(match[2])
            found[kernel] = Resources(registers=int(match[1]), shared_bytes=int(shared[1]) if shared else 0, **frame)
            kernel = None
    return found
