"""Rewrite PTX so that every matrix instruction of the target gives zero: ``python -I -S zero_mma.py kernel.ptx`` in place.

What a build's PTX goes through between cicc and ptxas (``nvcc_ptxas.sh``) when a mutation is asked for; so it imports nothing but
the standard library. Beside the file it leaves ``kernel.zeroed.json``: how many instructions it rewrote, by opcode.

- ``wgmma.mma_async`` (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"), sparse or not, A from registers or not:
  moves of zero into its accumulator registers. Fences, commits and waits stay.
- ``tcgen05.mma`` (PTX ISA, "tcgen05"): its results lie in tensor memory, which a single thread cannot clear. The instruction goes
  away, its commit stays and then has nothing to wait for; every ``tcgen05.ld`` becomes moves of zero into its destination. So what
  a kernel has stored in tensor memory itself reads as zero too.

A guard (``@p``) stays in front of each move, and every line keeps its number, which messages of ptxas refer to. ptxas takes
``wgmma.mma_async`` and ``tcgen05.mma`` only as one word in lower case, with neither blanks nor comments inside: so does this.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

_COMMENT = r"/\*.*?\*/|//[^\n]*"
_GAP = rf"(?:\s|{_COMMENT})*"
_NAME = r"[%$\w]+(?:\.[xyzw])?"
_SCANNED = re.compile(
    rf"""
      {_COMMENT} | "(?:\\.|[^"\\\n])*"
    | (?P<guard> @{_GAP}(?P<negated>!?){_GAP}(?P<predicate>{_NAME}){_GAP} )?
      (?<![\w.$%]) (?P<opcode> wgmma\.mma_async | tcgen05\.mma | tcgen05\.ld )(?![\w])
      (?P<operands> (?:{_COMMENT}|[^;/])* ) ;
    """,
    re.VERBOSE | re.DOTALL,
)
"""A comment or a string, which hold no instructions, or an instruction to rewrite."""
_MODIFIERS = re.compile(rf"{_GAP}(?:\.[\w:]+{_GAP})*")


def zeroed(ptx: str) -> tuple[str, dict[str, int]]:
    """Return the PTX with its matrix instructions zeroed, and how many instructions were rewritten by opcode.

    Loads from tensor memory are rewritten only beside a ``tcgen05.mma``. An instruction whose destination is not understood stays
    as it is and is not counted.
    """
    tensor_memory = any(found["opcode"] == "tcgen05.mma" for found in _SCANNED.finditer(ptx))
    count: Counter[str] = Counter()

    def rewrite(found: re.Match[str]) -> str:
        opcode = found["opcode"]
        if opcode is None or (opcode == "tcgen05.ld" and not tensor_memory):
            return found[0]
        registers = () if opcode == "tcgen05.mma" else _destination(found["operands"], opcode)
        if registers is None:
            return found[0]
        count[opcode] += 1
        guard = f"@{found['negated']}{found['predicate']} " if found["guard"] else ""
        # Accumulators are 32-bit registers of any type; an untyped move takes them all.
        return " ".join(f"{guard}mov.b32 {register}, 0;" for register in registers) + "\n" * found[0].count("\n")

    return _SCANNED.sub(rewrite, ptx), dict(sorted(count.items()))


def _destination(operands: str, opcode: str) -> tuple[str, ...] | None:
    """Return the registers that an instruction writes, None when they are not understood."""
    text = re.sub(_COMMENT, " ", operands, flags=re.DOTALL)
    modifiers = _MODIFIERS.match(text)
    text = text[modifiers.end() :] if modifiers else text
    # A load from tensor memory may write the reduced value beside its vector (.red): all that stands before the address.
    end = "[" if opcode == "tcgen05.ld" else "}"
    written = text.partition(end)[0].rstrip().removesuffix(",")
    names = tuple(name.strip() for name in written.replace("{", " ").replace("}", " ").split(","))
    return names if names and all(re.fullmatch(_NAME, name) for name in names) else None


def main(path: Path) -> None:
    """Rewrite one file and write the report beside it."""
    # Bytes that are no UTF-8 can stand in a comment or a file's name; they come out as they went in.
    text, count = zeroed(path.read_bytes().decode("utf-8", "surrogateescape"))
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    path.with_suffix(".zeroed.json").write_text(json.dumps(count) + "\n", encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
