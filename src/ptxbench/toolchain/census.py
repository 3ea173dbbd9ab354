"""The static census: which SASS instructions stand in each kernel of a cubin, and how often."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ptxbench.core.process import ProcessLimits, run_tool
from ptxbench.toolchain.tools import Toolchain

BOOKKEEPING = "bookkeeping:"
"""Prefix of the opcode of an instruction that carries a multiplication's name and multiplies nothing."""

_LIMITS = ProcessLimits(wall_seconds=60, memory_bytes=8 << 30, output_bytes=128 << 20)


class TooLarge(Exception):
    """The machine code is too large to be disassembled within limits: over half a million instructions."""


class Undisassembled(Exception):
    """nvdisasm does not read a cubin: it is no nvdisasm of these days, or ptxas wrote what it does not accept."""


def census(cubin: Path, tools: Toolchain) -> dict[str, dict[str, int]]:
    """Return, per kernel of the cubin (mangled name), the number of instructions per opcode with modifiers.

    A device function that was not inlined counts with the kernel that it was made for (its name is ``$kernel$function``); one that
    belongs to no kernel, since its address is taken, has an entry of its own. ptxas's own traps and divisions are left out.

    A warpgroup instruction (``*GMMA``) with an ``RZ`` destination or a ``URZ`` descriptor is what ptxas makes of a
    ``wgmma.commit_group`` on its own (protocol section 6): its key gets the prefix ``bookkeeping:``, so that no reader takes it
    for a multiplication. Raises ``TooLarge`` and ``Undisassembled``.
    """
    env = {"PATH": tools.path, "LC_ALL": "C"}
    done = run_tool([str(tools.nvdisasm), "-json", str(cubin)], limits=_LIMITS, env=env)
    if done.timed_out or done.dropped_bytes:
        raise TooLarge
    if not done.ok:
        raise Undisassembled(done.stderr.strip()[:300] or f"nvdisasm ended with status {done.returncode}")
    try:
        document = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise Undisassembled(f"nvdisasm wrote no JSON: {error}") from error
    found: dict[str, Counter[str]] = {}
    for name, instructions in functions(document):
        owner = name.split("$")[1] if name.startswith("$") else name
        if not owner.startswith("__internal_"):
            found.setdefault(owner, Counter()).update(map(opcode, instructions))
    return {name: dict(counter) for name, counter in found.items()}


def functions(document: Any) -> Iterable[tuple[str, list[Mapping[str, Any]]]]:
    """Yield (mangled name, instructions) of nvdisasm's JSON: a list of the file's header and the list of its functions."""
    for part in document:
        for function in part if isinstance(part, list) else ():
            yield function["function-name"], function.get("sass-instructions", [])


def opcode(instruction: Mapping[str, Any]) -> str:
    """Return an instruction's key in the census: its opcode with modifiers, marked when it is bookkeeping."""
    name = str(instruction["opcode"])
    operands = str(instruction.get("operands", "")).replace(" ", "")
    if name.partition(".")[0].endswith("GMMA") and (operands.startswith("RZ,") or "gdesc[URZ]" in operands):
        return BOOKKEEPING + name
    return name
