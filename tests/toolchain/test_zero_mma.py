"""Mutated builds: matrix instructions give zero, and nothing else is different."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from ptxbench import arch as architectures
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, BuildResult, locate, read_candidate
from ptxbench.toolchain.zero_mma import zeroed

ROOT = Path(__file__).parents[2]
HOPPER = [
    ROOT / "kernels/sm_90a/gemm_bf16/kernel.cu",
    ROOT / "kernels/sm_90a/tma_wgmma_tile/kernel.cu",
    *(ROOT / f"tests/gpu/kernels/{name}.cu" for name in ("decoy_wgmma", "wrong_swizzle")),
]
SHAPE = "m64n8k16.f32.bf16.bf16"
TAIL = "d0, d1, p, 1, 1, 0, 0;"
ZEROS = "mov.b32 f0, 0; mov.b32 f1, 0; mov.b32 f2, 0; mov.b32 f3, 0;"
GUARDED = " ".join(f"@q mov.b32 f{i}, 0;" for i in range(4))
NEGATED = GUARDED.replace("@q", "@!q")
CASES = {
    "plain": (f"wgmma.mma_async.sync.aligned.{SHAPE} {{f0, f1, f2, f3}}, {TAIL}", ZEROS),
    "guarded": (f"@q wgmma.mma_async.sync.aligned.{SHAPE} {{f0,f1,f2,f3}}, {TAIL}", GUARDED),
    "guarded, negated, spaced": (f"@ ! q /* q */ wgmma.mma_async.sync.aligned.{SHAPE} {{f0,f1,f2,f3}}, {TAIL}", NEGATED),
    "over lines": (f"wgmma.mma_async\n.sync.aligned // {{f9}};\n.{SHAPE}\n{{f0,\nf1,f2,f3}}, {TAIL}", ZEROS + "\n" * 4),
    "comments between": (f"wgmma.mma_async/*;*/.sync/*}}*/.aligned.{SHAPE} {{f0,/*x,*/f1,f2,f3}}, {TAIL}", ZEROS),
    "A in registers": (f"wgmma.mma_async.sync.aligned.{SHAPE} {{f0,f1,f2,f3}}, {{r0,r1,r2,r3}}, d1, p, 1, 1, 0;", ZEROS),
    "sparse": (
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {f0,f1,f2,f3}, d0, d1, r0, 0, p, 1, 1, 0, 0;",
        ZEROS,
    ),
    "f16 pairs": (
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {r0, r1}, d0, d1, p, 1, 1, 0, 0;",
        "mov.b32 r0, 0; mov.b32 r1, 0;",
    ),
    "s32": (
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {s0,s1,s2,s3}, d0, d1, p;",
        " ".join(f"mov.b32 s{i}, 0;" for i in range(4)),
    ),
    "elements of a vector": (
        f"wgmma.mma_async.sync.aligned.{SHAPE} {{v.x,v.y,v.z,v.w}}, {TAIL}",
        " ".join(f"mov.b32 v.{i}, 0;" for i in "xyzw"),
    ),
    "behind a label, at the end of a scope": (
        f"{{ at: wgmma.mma_async.sync.aligned.{SHAPE} {{f0,f1,f2,f3}}, {TAIL} }}",
        f"{{ at: {ZEROS} }}",
    ),
}
UNTOUCHED = {
    "what surrounds it": "wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
    "a comment": f"// wgmma.mma_async.sync.aligned.{SHAPE} {{f0,f1,f2,f3}}, {TAIL}\n/* wgmma.mma_async.x {{f0}}; */",
    "a string": '.pragma "wgmma.mma_async.sync {f0};";',
    "a warp's own multiplication": (
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f0,f1,f2,f3}, {r0,r1,r2,r3}, {r4,r5}, {f0,f1,f2,f3};"
    ),
}
TENSOR = {
    "mma": ("@p tcgen05.mma.cta_group::1.kind::f16 [r0], d0, d1, r1, q;", ""),
    "sparse mma": ("tcgen05.mma.sp.cta_group::1.kind::f16 [r0], d0, d1, [r2], r1, q;", ""),
    "load": ("tcgen05.ld.sync.aligned.32x32b.x4.b32 {r4, r5, r6, r7}, [r0];", " ".join(f"mov.b32 r{i}, 0;" for i in range(4, 8))),
    "load of one": ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {r4}, [r0 + 4];", "mov.b32 r4, 0;"),
    "at the end of a scope": ("{ at: tcgen05.mma.cta_group::1.kind::f16 [r0], d0, d1, r1, q; }", "{ at:  }"),
    "what surrounds them": (
        same := "tcgen05.wait::ld.sync.aligned; tcgen05.fence::after_thread_sync; tcgen05.wait::st.sync.aligned;",
        same,
    ),
}


def assemble(body: str, folder: Path, settings: Settings, arch: str = "sm_90a") -> str:
    """Put instructions into a kernel, have ptxas assemble it, and return the machine code's text."""
    tools = locate(settings)
    ptx, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    ptx.write_text(
        f".version 9.0\n.target {arch}\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n"
        ".reg .f32 f<8>; .reg .b64 d<4>; .reg .pred p, q; .reg .b32 r<16>; .reg .s32 s<4>; .reg .v4 .f32 v;\n"
        "ld.param.u64 d2, [out]; ld.global.u64 d0, [d2]; ld.global.u64 d1, [d2 + 8]; ld.global.u32 r0, [d2 + 16];\n"
        f"setp.eq.u64 p, d0, d1; setp.eq.u64 q, d0, 7;\n{body}\n"
        f"{' '.join(f'st.volatile.global.b32 [d2], {register};' for register in ('f0', 'r0', 's0', 'v.x', 'r4'))}\nret;\n}}\n"
    )
    subprocess.run([tools.ptxas, f"-arch={arch}", ptx, "-o", cubin], check=True, capture_output=True)
    return subprocess.run([tools.nvdisasm, cubin], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", CASES)
def test_a_matrix_instruction_becomes_moves_of_zero_which_assemble(name, settings, tmp_path):
    before, wanted = CASES[name]
    after, count = zeroed(before)
    assert after == wanted and count == {"wgmma.mma_async": 1}
    assert after.count("\n") == before.count("\n")
    assert re.search(r"\bHGMMA|\bIGMMA", assemble(before, tmp_path, settings))
    assert "GMMA" not in assemble(after, tmp_path, settings)


@pytest.mark.parametrize("name", UNTOUCHED)
def test_everything_else_stays(name):
    assert zeroed(UNTOUCHED[name]) == (UNTOUCHED[name], {})


@pytest.mark.parametrize("name", TENSOR)
def test_tensor_memory_reads_as_zero(name, settings, tmp_path):
    first = "tcgen05.mma.cta_group::1.kind::f16 [r0], d0, d1, r1, q;"
    before, wanted = TENSOR[name]
    after, _ = zeroed(f"{before}\n{first}")
    assert after == f"{wanted}\n"
    assert re.search(r"UTC\w*MMA", assemble(f"{before}\n{first}", tmp_path, settings, "sm_100a"))
    assert not re.search(r"UTC\w*MMA|LDTM", assemble(after, tmp_path, settings, "sm_100a"))


def test_tensor_memory_without_multiplications_is_left_alone():
    load = TENSOR["load"][0]
    assert zeroed(load) == (load, {})


def test_a_destination_that_is_not_understood_is_left_and_not_counted():
    for strange in ("wgmma.mma_async.sync {f0, 1+1}, d0, d1, p;", "wgmma.mma_async.sync;", "wgmma.mma_async.sync {}, d0;"):
        assert zeroed(strange) == (strange, {})


def both(path: Path, settings: Settings, arch: str = "sm_90a") -> tuple[BuildResult, BuildResult]:
    candidate, builder = read_candidate(path, arch=arch), Builder(settings)
    return builder.build(candidate), builder.build(candidate, mutation="zero_mma")


def report(result: BuildResult) -> dict[str, int]:
    path = result.artifact("mutation")
    assert path is not None
    return json.loads(path.read_bytes())


@pytest.mark.parametrize("path", HOPPER, ids=lambda path: path.stem if path.stem != "kernel" else path.parent.name)
def test_a_mutated_build_has_no_matrix_instruction_and_the_same_kernels(path, settings):
    usual, mutated = both(path, settings)
    is_mma = architectures.get("sm_90a").is_mma
    counted = sum(n for one in usual.build.kernels for opcode, n in one.opcodes.items() if is_mma(opcode))
    assert mutated.build.ok and not mutated.violations and mutated.build.key != usual.build.key
    assert report(mutated) == {"wgmma.mma_async": counted} and usual.artifact("mutation") is None
    assert not [opcode for one in mutated.build.kernels for opcode in one.opcodes if is_mma(opcode)]
    for before, after in zip(usual.build.kernels, mutated.build.kernels, strict=True):
        assert (before.mangled, before.shared_bytes, before.spill_bytes) == (after.mangled, after.shared_bytes, after.spill_bytes)
        for opcode in ("UTMALDG.2D", "UTMASTG.2D", "BAR.SYNC.DEFER_BLOCKING", "WARPGROUP.DEPBAR.LE"):
            assert (opcode in before.opcodes) == (opcode in after.opcodes), opcode


def test_on_blackwell_neither_multiplications_nor_their_readback_are_left(settings):
    usual, mutated = both(ROOT / "kernels/sm_100a/tcgen05_tile/kernel.cu", settings, "sm_100a")
    assert architectures.get("sm_100a").predicates(usual.build.kernels[0].opcodes)[0]
    assert mutated.build.ok and set(report(mutated)) == {"tcgen05.mma", "tcgen05.ld"}
    assert not re.search(r"UTC\w*MMA|LDTM", " ".join(mutated.build.kernels[0].opcodes))


def test_without_matrix_instructions_of_the_target_the_library_is_the_same_byte_for_byte(settings):
    usual, mutated = both(ROOT / "tests/gpu/kernels/plain.cu", settings)
    assert report(mutated) == {}
    assert usual.library.read_bytes() == mutated.library.read_bytes()


def test_host_code_is_the_same(settings):
    usual, mutated = both(HOPPER[0], settings)
    for before, after in zip(sections(usual.library), sections(mutated.library), strict=True):
        assert before == after


def sections(library: Path) -> list[tuple[str, int]]:
    """Return names and sizes of a library's sections but the device code's, which may move what lies behind it."""
    with library.open("rb") as stream:
        found = [(one.name, one["sh_size"]) for one in ELFFile(stream).iter_sections()]
    return [(name, 0 if name == ".nv_fatbin" else size) for name, size in found]


def test_mutated_builds_are_reproducible(tmp_path):
    candidate = read_candidate(HOPPER[2], arch="sm_90a")
    first, second = (Builder(Settings(cache_dir=tmp_path / name)).build(candidate, mutation="zero_mma") for name in "ab")
    assert first.build.artifacts == second.build.artifacts


def test_ptxas_still_names_the_line_of_the_candidate(settings):
    text = (
        "__global__ void k(float* p) {\n"
        '  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16\\n {%0, %1,\\n %2, %3}, %4, %4, 1, 1, 1, 0, 0;"\n'
        '      : "+f"(p[0]), "+f"(p[1]), "+f"(p[2]), "+f"(p[3]) : "l"(7ull));\n'
        '  asm volatile("no.such.instruction;");\n'
        "}\n"
    )
    source = Source(path="kernel.cu", content=text)
    candidate = Candidate(sources=(source,), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a")
    results = [Builder(settings).build(candidate, mutation=mutation) for mutation in (None, "zero_mma")]
    places = [[(one.stage, one.line) for one in result.build.diagnostics if one.severity == "error"] for result in results]
    assert places[0] == places[1] and places[0][0] == ("ptxas", 4)
