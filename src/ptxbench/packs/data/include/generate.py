"""Write the headers whose text is a pattern: operand lists of wgmma for every N, instances written out, TMA for other ranks than 2.

Inline assembly numbers its operands and knows no names, so each N has its own list. Run it to write the files anew; a test
holds the committed files to it.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

SM90 = Path(__file__).parent / "ptxk" / "sm90"
COLUMNS = range(8, 257, 8)
"""N of ``wgmma.mma_async.m64nNkK`` for floating-point inputs (PTX ISA, "wgmma.mma_async", table of shapes)."""

_SHAPES_HEAD = """\
//@ptxk-hide
// Written by generate.py: change that, not this. The operand lists of wgmma.mma_async for every N, for wgmma_templates.cuh.
//
//   PTXK_LIST_r    "%0, ..., %r-1", the accumulator's r registers
//   PTXK_BIND_r(c) their operands, of constraint c
//   PTXK_FLOAT_SHAPE(n, r, i0 .. i6), PTXK_HALF_SHAPE(...): one use for each n, with the numbers of the operands that follow

#pragma once
"""

_RANKS_HEAD = """\
//@ptxk-hide
// Written by generate.py: change that, not this. What tma.cuh has for 2 dimensions, for 1, 3, 4 and 5.

#pragma once

#include <cuda.h>

#include "../common/address.cuh"

namespace ptxk {
"""

GLUE = "\x1f"
"""Stands for a blank inside a parameter, where a line does not break."""

_LOAD = ("void* to, const CUtensorMap* map, uint64_t* barrier", ("r:shared_address(to)", "l:map", "r:shared_address(barrier)"))
_STORE = ("const CUtensorMap* map, const void* from", ("l:map", "r:shared_address(from)"))
_LOAD_FORM = "[%0], [%1, {c}], [%2]"
_LOAD_PTX = "cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
_STORE_PTX = "cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group"
_REDUCE_PTX = "cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.add.tile.bulk_group"
_PREFETCH_PTX = "cp.async.bulk.prefetch.tensor.{rank}d.L2.global.tile"
_POLICY, _MASK = ("uint64_t policy", "l:policy"), ("uint16_t mask", "h:mask")
_Operands = tuple[tuple[str, str], ...]
_TRANSFERS: tuple[tuple[str, str, tuple[str, tuple[str, ...]], str, _Operands], ...] = (
    ("tma_load_{rank}d", _LOAD_PTX, _LOAD, _LOAD_FORM, ()),
    ("tma_load_hint_{rank}d", f"{_LOAD_PTX}.L2::cache_hint", _LOAD, _LOAD_FORM, (_POLICY,)),
    ("tma_load_{rank}d_multicast", f"{_LOAD_PTX}.multicast::cluster", _LOAD, _LOAD_FORM, (_MASK,)),
    (
        "tma_load_hint_{rank}d_multicast",
        f"{_LOAD_PTX}.multicast::cluster.L2::cache_hint",
        _LOAD,
        _LOAD_FORM,
        (_MASK, _POLICY),
    ),
    ("tma_store_{rank}d", _STORE_PTX, _STORE, "[%0, {c}], [%1]", ()),
    ("tma_store_hint_{rank}d", f"{_STORE_PTX}.L2::cache_hint", _STORE, "[%0, {c}], [%1]", (_POLICY,)),
    ("tma_reduce_add_{rank}d", _REDUCE_PTX, _STORE, "[%0, {c}], [%1]", ()),
    ("tma_prefetch_{rank}d", _PREFETCH_PTX, ("const CUtensorMap* map", ("l:map",)), "[%0, {c}]", ()),
)
"""Name, instruction, parameters with their operands, the form of the operands, and what comes last."""


def registers() -> list[int]:
    """Return the lengths of accumulators in registers: N / 2 words of 32 bits (f32, s32) and N / 4 (pairs of f16)."""
    return sorted({n // 2 for n in COLUMNS} | {n // 4 for n in COLUMNS})


def operand_lists() -> str:
    """Return the macros that name an accumulator's registers, each list the one before and what it lacks."""
    lines: list[str] = []
    before = 0
    for count in registers():
        added = range(before, count)
        text = ", ".join(f"%{i}" for i in added)
        bound = ", ".join(f"c(d[{i}])" for i in added)
        start, bound_start = (f'PTXK_LIST_{before} ", ', f"PTXK_BIND_{before}(c), ") if before else ('"', "")
        lines += [f'#define PTXK_LIST_{count} {start}{text}"', f"#define PTXK_BIND_{count}(c) {bound_start}{bound}"]
        before = count
    return "\n".join(lines) + "\n"


def shape(name: str, columns: int, count: int) -> str:
    """Return one use of a shape macro: N, the number of registers, the numbers of the seven operands after them."""
    return f"{name}({', '.join(str(i) for i in (columns, count, *range(count, count + 7)))})"


def shapes_header() -> str:
    """Return the text of ``wgmma_shapes.cuh``."""
    floats = "".join(f" \\\n  {shape('PTXK_FLOAT_SHAPE', n, n // 2)}" for n in COLUMNS)
    halves = "".join(f" \\\n  {shape('PTXK_HALF_SHAPE', n, n // 4)}" for n in COLUMNS)
    uses = f"\n#define PTXK_FLOAT_SHAPES{floats}\n\n#define PTXK_HALF_SHAPES{halves}\n"
    return f"{_SHAPES_HEAD}\n{operand_lists()}{uses}//@ptxk-show\n"


_INSTANCES_HEAD = """\
//@ptxk-hide
// Written by generate.py: change that, not this.
//@ptxk-show
// wgmma written out, the patterns to copy. For another N: d has N / 2 registers, and the numbers of the operands after them begin
// there. For f16 inputs write k16.f32.f16.f16; for fp8 k32.f32.e4m3.e4m3 (or e5m2) and for tf32 k8.f32.tf32.tf32, both without the
// last operands, the majors; for s8 k32.s32.s8.s8 with int32_t sums ("+r") and nothing after p.

#pragma once

#include "descriptor.cuh"
#include "wgmma.cuh"

namespace ptxk {

// %t0 to %t9; the operands d[i] to d[i + 7].
#define PTXK_TEN(t) \\
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define PTXK_EIGHT(i) \\
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
"""


def instance(columns: int, *, registers_a: bool) -> str:
    """Return one bf16 function of ``wgmma_instances.cuh``; A lies in shared memory, or in registers."""
    count = columns // 2
    tens, rest = divmod(count, 10)
    listed = [f"PTXK_TEN({ten or ''})" for ten in range(tens)] + [f'"{", ".join(f"%{tens * 10 + i}" for i in range(rest))}}}, "']
    lists = wrapped(f"      {' '.join(one.replace(' ', GLUE) for one in listed)}", indent=" " * 6).replace(GLUE, " ")
    binds = wrapped(f"      : {', '.join(f'PTXK_EIGHT({i})' for i in range(0, count, 8))}", indent=" " * 8)
    name, majors = f"wgmma_m64n{columns}k16_bf16{'_rs' if registers_a else ''}", "Major kB" if registers_a else "Major kA, Major kB"
    majors = majors.replace("kA", "kA = Major::k").replace("kB", "kB = Major::k")
    given = "const uint32_t (&a)[4]" if registers_a else "uint64_t a"
    words = 4 if registers_a else 1
    text_a = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}" if registers_a else f"%{count}"
    bound_a = ", ".join(f'"r"(a[{i}])' for i in range(4)) if registers_a else '"l"(a)'
    b, scale, first = count + words, count + words + 1, count + words + 2
    text_majors = f"%{first}" if registers_a else f"%{first}, %{first + 1}"
    bound_majors = ", ".join(f'"n"(static_cast<int>({major}))' for major in (("kB",) if registers_a else ("kA", "kB")))
    return (
        f'\n//@ptxk ptx="wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.bf16.bf16" sass="HGMMA.64x{columns}x16.F32.BF16"'
        f" contracts=wgmma-protocol\ntemplate <{majors}>\n"
        f"__device__ __forceinline__ void {name}(float (&d)[{count}], {given}, uint64_t b, int accumulate) {{\n"
        f'  asm volatile(\n      "{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{scale}, 0;\\n"\n'
        f'      "wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.bf16.bf16 {{"\n{lists}\n'
        f'      "{text_a}, %{b}, p, 1, 1, {text_majors};\\n}}\\n"\n'
        f"{binds}\n"
        f'      : {bound_a}, "l"(b), "r"(accumulate), {bound_majors}\n      : "memory");\n}}\n'
    )


def instances_header() -> str:
    """Return the text of ``wgmma_instances.cuh``."""
    functions = instance(64, registers_a=False) + instance(64, registers_a=True) + instance(256, registers_a=False)
    return f"{_INSTANCES_HEAD}{functions}\n}}  // namespace ptxk\n"


def transfer(rank: int, name: str, instruction: str, parameters: tuple[str, tuple[str, ...]], form: str, last: _Operands) -> str:
    """Return one function of ``tma_ranks.cuh``."""
    declared, operands = parameters
    first = len(operands)
    coordinates = "{" + ", ".join(f"%{first + i}" for i in range(rank)) + "}"
    given = [declared, *(f"int c{i}" for i in range(rank))]
    bound = [*operands, *(f"r:c{i}" for i in range(rank))]
    text = form.replace("{c}", coordinates)
    for parameter, operand in last:
        given.append(parameter)
        text += f", %{len(bound)}"
        bound.append(operand)
    pairs = ", ".join('"{}"({})'.format(*operand.split(":", 1)) for operand in bound)
    start = f"__device__ __forceinline__ void {name.format(rank=rank)}("
    head = wrapped(
        f"{start}{', '.join(one.replace(' ', GLUE) for one in ', '.join(given).split(', '))}) {{", indent=" " * len(start)
    ).replace(GLUE, " ")
    operands_text = wrapped(f'      :: {pairs} : "memory");', indent=" " * 9)
    return f'\n{head}\n  asm volatile(\n      "{instruction.format(rank=rank)}"\n      " {text};"\n{operands_text}\n}}\n'


def wrapped(line: str, indent: str) -> str:
    """Return a line of code broken at blanks to lines of at most 128 characters."""
    return textwrap.fill(line, 128, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def ranks_header() -> str:
    """Return the text of ``tma_ranks.cuh``."""
    functions = "".join(transfer(rank, *one) for rank in (1, 3, 4, 5) for one in _TRANSFERS)
    return f"{_RANKS_HEAD}{functions}\n}}  // namespace ptxk\n//@ptxk-show\n"


WRITTEN = {"wgmma_shapes.cuh": shapes_header, "wgmma_instances.cuh": instances_header, "tma_ranks.cuh": ranks_header}
"""The files of ``ptxk/sm90`` that this writes."""

if __name__ == "__main__":
    for file, text in WRITTEN.items():
        (SM90 / file).write_text(text(), encoding="utf-8")
