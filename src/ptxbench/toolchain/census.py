"""The static census: which SASS instructions stand in each kernel of a cubin, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ptxbench.toolchain.disassembly import Function


def census(functions: Iterable[Function]) -> dict[str, dict[str, int]]:
    """Return, per kernel of a cubin (mangled name), the number of instructions per opcode with modifiers.

    A device function that was not inlined counts with the kernel that it was made for (its name is ``$kernel$function``); one that
    belongs to no kernel, since its address is taken, has an entry of its own. ptxas's own traps and divisions are left out.
    """
    found: dict[str, Counter[str]] = {}
    for function in functions:
        owner = function.name.split("$")[1] if function.name.startswith("$") else function.name
        if not owner.startswith("__internal_"):
            found.setdefault(owner, Counter()).update(function.opcodes)
    return {name: dict(counter) for name, counter in found.items()}
