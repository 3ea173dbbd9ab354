"""The pack's device headers compile for sm_90a, and every wrapper becomes the PTX and the SASS that its annotation names."""

from __future__ import annotations

import re
import runpy
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from ptxbench.packs.parsing import Wrapper, parse_header
from ptxbench.toolchain import locate

HERE = Path(__file__).parent / "headers"
INCLUDE = Path(__file__).parents[2] / "src" / "ptxbench" / "packs" / "data" / "include"
HEADERS = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.glob("ptxk/*/*.cuh"))
WRAPPERS: dict[str, Wrapper] = {
    wrapper.name: wrapper
    for header in HEADERS
    for wrapper in parse_header((INCLUDE / header).read_text(encoding="utf-8"), header).wrappers
}
COLUMNS = range(8, 257, 8)
INTEGER_COLUMNS = [n for n in COLUMNS if n in (8, 24) or n % 16 == 0]


@dataclass(frozen=True)
class Compiled:
    """What became of a source: each kernel's PTX, each kernel's SASS, and what the tools said."""

    ptx: dict[str, str]
    sass: dict[str, str]
    said: str


@pytest.fixture(scope="session")
def tools(settings):
    return locate(settings)


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def to_ptx(tools, source: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run nvcc up to PTX, warnings as errors."""
    flags = ("-std=c++17", "-arch=sm_90a", "-Werror=all-warnings", f"-I{INCLUDE}", f"-I{HERE}", *flags)
    return run(tools.nvcc, *flags, "-ptx", source, "-o", source.with_suffix(".ptx"))


def compiled(tools, source: Path, *flags: str) -> Compiled:
    done = to_ptx(tools, source, *flags)
    assert done.returncode == 0, done.stderr
    cubin = source.with_suffix(".cubin")
    assembled = run(tools.ptxas, "-arch=sm_90a", source.with_suffix(".ptx"), "-o", cubin)
    assert assembled.returncode == 0, assembled.stderr
    listed = run(tools.nvdisasm, "-c", cubin)
    assert listed.returncode == 0, listed.stderr
    entries = source.with_suffix(".ptx").read_text().split(".visible .entry ")[1:]
    ptx = {entry[: entry.index("(")]: entry for entry in entries}
    sass = dict(re.findall(r"^\.text\.(\w+):\n(.*?)(?=^//-|\Z)", listed.stdout, re.M | re.S))
    return Compiled(ptx, sass, done.stderr + assembled.stderr)


def copied(name: str, folder: Path) -> Path:
    target = folder / name
    target.write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    return target


@pytest.fixture(scope="session")
def wrappers(tools, tmp_path_factory):
    return compiled(tools, copied("wrappers.cu", tmp_path_factory.mktemp("wrappers")))


def test_the_generated_headers_are_what_their_generator_writes():
    written = runpy.run_path(str(INCLUDE / "generate.py"))["WRITTEN"]
    for name, text in written.items():
        assert (INCLUDE / "ptxk" / "sm90" / name).read_text(encoding="utf-8") == text(), f"{name}: run generate.py"


def test_the_translation_unit_of_all_headers_leaves_none_out():
    included = re.findall(r'#include "(.+)"', (HERE / "all.cuh").read_text(encoding="utf-8"))
    assert sorted(included) == HEADERS


def test_every_annotated_wrapper_has_a_kernel_of_its_own(wrappers):
    assert sorted(name for name in WRAPPERS if f"use_{name}" not in wrappers.ptx) == []
    assert wrappers.ptx.keys() == wrappers.sass.keys()


def test_ptxas_drops_nothing_and_inserts_nothing(wrappers):
    """It would say so: C7508 for a setmaxnreg that it ignores, C7517 and C7519 for waits that it adds to wgmma."""
    assert wrappers.said == ""


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapper_becomes_its_instruction(name, wrappers):
    wrapper = WRAPPERS[name]
    if wrapper.ptx != "none":
        assert wrapper.ptx.replace("{N}", "64") in wrappers.ptx[f"use_{name}"]
    if wrapper.sass is not None:
        opcode = re.escape(wrapper.sass.replace("{N}", "64"))
        assert re.search(rf"(?<![\w.]){opcode}(?![\w])", wrappers.sass[f"use_{name}"])


@pytest.mark.parametrize("rank", [1, 3, 4, 5])
def test_tma_of_other_ranks_becomes_the_instructions_of_that_rank(rank, wrappers):
    opcodes = re.findall(rf"\b(UTM\w+\.(?:L2\.)?{rank}D[\w.]*)", wrappers.sass[f"rank_{rank}"])
    kinds = [opcode.split(".")[0] for opcode in opcodes]
    assert sorted(kinds) == ["UTMALDG"] * 4 + ["UTMAPF", "UTMAREDG"] + ["UTMASTG"] * 2
    assert sum("MULTICAST" in opcode for opcode in opcodes) == 2
    ptx = wrappers.ptx[f"rank_{rank}"]
    assert len(re.findall(rf"\.tensor\.{rank}d\.", ptx)) == 8 and ptx.count(".L2::cache_hint") == 3
    assert ptx.count(".multicast::cluster.L2::cache_hint") == 1


def test_release_at_cluster_scope_costs_a_barrier_that_the_plain_remote_arrive_does_not(wrappers):
    assert "MEMBAR" in wrappers.sass["use_mbarrier_arrive_remote_release"]
    assert "MEMBAR" not in wrappers.sass["use_mbarrier_arrive_remote"]


def test_the_relaxed_cluster_arrive_and_the_shared_proxy_fence_leave_out_the_barrier_of_the_whole_gpu(wrappers):
    assert "MEMBAR.ALL.GPU" in wrappers.sass["use_cluster_arrive"]
    assert "MEMBAR" not in wrappers.sass["use_cluster_arrive_relaxed"]
    assert "MEMBAR.ALL.GPU" in wrappers.sass["use_fence_proxy_async"]
    assert "MEMBAR.ALL.GPU" not in wrappers.sass["use_fence_proxy_async_shared"]


def test_a_wait_that_need_not_see_global_writes_throws_away_no_cache(wrappers):
    assert "CCTL.IVALL" in wrappers.sass["use_tma_wait"]
    assert "CCTL.IVALL" not in wrappers.sass["use_tma_wait_read"]


def shown_text() -> str:
    """Return what a prompt shows of all headers, each after those it includes, as one source."""
    parsed = {Path(header).name: parse_header((INCLUDE / header).read_text(encoding="utf-8"), header) for header in HEADERS}
    order: list[str] = []

    def visit(name: str) -> None:
        for include in parsed[name].own_includes:
            visit(Path(include).name)
        if name not in order:
            order.append(name)

    for name in parsed:
        visit(name)
    system = sorted({include for header in parsed.values() for include in header.system_includes})
    shown = "".join(parsed[name].shown(comments=False) for name in order)
    return "".join(f"#include <{include}>\n" for include in system) + shown


def test_a_product_pasted_together_from_what_a_prompt_shows_compiles(tools, tmp_path):
    """No include but CUDA's: hidden parts are not needed by shown ones."""
    source = tmp_path / "pasted.cu"
    source.write_text(shown_text() + (HERE / "product.cu").read_text(encoding="utf-8"), encoding="utf-8")
    assert '#include "' not in source.read_text(encoding="utf-8")
    got = compiled(tools, source)
    assert got.said == ""
    assert len(re.findall(r"HGMMA\.64x256x16\.F32\.BF16", got.sass["product"])) == 4
    for opcode in ("UTMALDG.2D", "SYNCS.PHASECHK", "USETMAXREG.DEALLOC", "USETMAXREG.TRY_ALLOC", "STSM", "UTMASTG.2D"):
        assert opcode in got.sass["product"], opcode
    assert "STL" not in got.sass["product"], "registers were spilled"


FORMS = """
#include "ptxk/sm90/wgmma_templates.cuh"
using namespace ptxk;
template <typename T, int kRegisters, typename Issue>
__device__ __forceinline__ void product(T* x, Issue issue) {
  T d[kRegisters];
  for (int i = 0; i < kRegisters; ++i) d[i] = x[i * 128 + threadIdx.x];
  wgmma_fence();
  issue(d);
  wgmma_commit();
  wgmma_wait<0>();
  wgmma_settle(d);
  for (int i = 0; i < kRegisters; ++i) x[i * 128 + threadIdx.x] = d[i];
}
#define KERNEL(name, T, r, a, ...) extern "C" __global__ void __launch_bounds__(128, 1) \\
name(T* x, uint4 w, uint64_t m, uint64_t b, int s) { \\
  const uint32_t words[4] = {w.x, w.y, w.z, w.w}; (void)words; product<T, r>(x, [&](T(&d)[r]) { __VA_ARGS__(d, a, b, s); }); }
"""
FP8 = [(a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]


def forms(n: int) -> dict[str, tuple[str, str]]:
    """Return every form of wgmma for N: name -> (its kernel, the opcode with the operands' majors that it must have)."""
    found: dict[str, tuple[str, str]] = {}

    def add(name: str, kind: str, count: int, call: str, opcode: str, majors: str = "") -> None:
        a = "words" if call.split("<")[0].endswith("_rs") else "m"
        found[name] = (f"KERNEL({name}, {kind}, {count}, {a}, {call})", opcode + majors)

    for letter, mark in (("bf16", ".BF16"), ("f16", "")):
        opcode = rf"HGMMA\.64x{n}x16\.F32{mark} R\d+, "
        for a in ("k", "mn"):
            for b in ("k", "mn"):
                majors = r"gdesc\[UR\d+\]" + (r"\.tnspA" if a == "mn" else "") + (r"\.tnspB" if b == "mn" else "") + ","
                call = f"wgmma_m64k16<{n}, Input::{letter}, Major::{a}, Major::{b}>"
                add(f"{letter}_{a}_{b}", "float", n // 2, call, opcode, majors)
            call = f"wgmma_m64k16_rs<{n}, Input::{letter}, Major::{a}>"
            majors = r"R\d+, gdesc\[UR\d+\]" + (r"\.tnspB" if a == "mn" else "") + ","
            add(f"{letter}_rs_{a}", "float", n // 2, call, opcode, majors)
    add("half", "uint32_t", n // 4, f"wgmma_m64k16_f16<{n}>", rf"HGMMA\.64x{n}x16\.F16 R\d+, gdesc")
    add("half_rs", "uint32_t", n // 4, f"wgmma_m64k16_f16_rs<{n}>", rf"HGMMA\.64x{n}x16\.F16 R\d+, R\d+, gdesc")
    for a, b in FP8:
        opcode = rf"QGMMA\.64x{n}x32\.F32\.{a.upper()}\.{b.upper()} R\d+, "
        add(f"{a}_{b}", "float", n // 2, f"wgmma_m64k32<{n}, Input::{a}, Input::{b}>", opcode, "gdesc")
        add(f"{a}_{b}_rs", "float", n // 2, f"wgmma_m64k32_rs<{n}, Input::{a}, Input::{b}>", opcode, r"R\d+, gdesc")
    add("tf32", "float", n // 2, f"wgmma_m64k8_tf32<{n}>", rf"HGMMA\.64x{n}x8\.F32\.TF32 R\d+, gdesc")
    add("tf32_rs", "float", n // 2, f"wgmma_m64k8_tf32_rs<{n}>", rf"HGMMA\.64x{n}x8\.F32\.TF32 R\d+, R\d+, gdesc")
    if n in INTEGER_COLUMNS:
        add("s8", "int", n // 2, f"wgmma_m64k32_s8<{n}>", rf"IGMMA\.64x{n}x32\.S8\.S8 R\d+, gdesc")
        add("s8_rs", "int", n // 2, f"wgmma_m64k32_s8_rs<{n}>", rf"IGMMA\.64x{n}x32\.S8\.S8 R\d+, R\d+, gdesc")
    return found


def check_forms(tools, folder: Path, n: int) -> None:
    wanted = forms(n)
    source = folder / "forms.cu"
    source.write_text(FORMS + "\n".join(kernel for kernel, _ in wanted.values()) + "\n", encoding="utf-8")
    got = compiled(tools, source)
    assert got.said == ""
    for name, (_, opcode) in wanted.items():
        issued = re.findall(r"[HQI]GMMA.*", got.sass[name])
        assert len(issued) == 1 and re.match(opcode, issued[0]), (name, issued)


@pytest.mark.parametrize("n", [8, 24, 96, 256])
def test_every_form_of_wgmma_becomes_one_instruction_of_its_type_and_majors(n, tools, tmp_path):
    check_forms(tools, tmp_path, n)


@pytest.mark.slow
@pytest.mark.parametrize("n", COLUMNS)
def test_every_form_of_wgmma_for_every_n(n, tools, tmp_path):
    check_forms(tools, tmp_path, n)


@pytest.mark.slow
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_compiles_alone(header, tools, tmp_path):
    source = tmp_path / "alone.cu"
    source.write_text(f'#include "{header}"\n', encoding="utf-8")
    done = to_ptx(tools, source)
    assert done.returncode == 0, done.stderr


ILLEGAL = {
    "setmaxnreg_inc<44>();": "24 to 256 registers in steps of 8",
    "setmaxnreg_dec<16>();": "24 to 256 registers in steps of 8",
    "registers_fit<384, 40, 232>();": "one number for each warpgroup",
    "named_barrier_sync<48>(1);": "whole warps",
    "named_barrier_arrive<0>(1);": "whole warps",
    "wgmma_wait<8>();": "0 to 7 groups",
    "tma_wait<-1>();": "a number of groups",
    "float d[6]; wgmma_m64k16<12, Input::bf16>(d, 0, 0, 1);": "N of wgmma is 8 to 256 in steps of 8",
    "float d[132]; wgmma_m64k16<264, Input::bf16>(d, 0, 0, 1);": "N of wgmma is 8 to 256 in steps of 8",
    "float d[32]; wgmma_m64k16<64, Input::e4m3>(d, 0, 0, 1);": "K is 16 for bf16 and f16",
    "float d[32]; wgmma_m64k32<64, Input::bf16>(d, 0, 0, 1);": "K is 32 for e4m3 and e5m2",
    "int d[20]; wgmma_m64k32_s8<40>(d, 0, 0, 1);": "N of integer wgmma is 8, 16, 24, 32 and on in steps of 16",
    "float d[16]; wgmma_m64k16<64, Input::bf16>(d, 0, 0, 1);": "no instance of function template",
    "make_descriptor<Swizzle::b128, Major::mn, 64, 32, 1>(x);": "only 16-bit inputs may lie along M or N",
    "make_descriptor<Swizzle::b128, Major::k, 64, 48>(x);": "a tile is made of whole boxes",
    "make_descriptor<Swizzle::b128, Major::k, 60, 64>(x);": "M and N come in groups of 8",
    "make_descriptor<Swizzle::none, Major::k, 64, 8>(x);": "one wgmma takes 32 bytes of K",
    "MAP(b128, 65)": "the inner row of a box is a multiple of 16 bytes",
    "MAP(b64, 64)": "no wider than its span",
    "MAP(none, 512)": "a box has 1 to 256 elements along each dimension",
}


def test_what_the_rules_forbid_does_not_compile_and_is_told_why(tools, tmp_path):
    """One function for each mistake; every message must stand at the line of its own mistake."""
    source = tmp_path / "illegal.cu"
    lines = ['#include "all.cuh"', "using namespace ptxk;"]
    place = {}
    for number, statement in enumerate(ILLEGAL):
        if statement.startswith("MAP"):
            swizzle, box = re.findall(r"\w+", statement)[1:]
            call = f"make_tensor_map<CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, Swizzle::{swizzle}, {box}, 8>(&map, x, {{64, 8}}, {{128}});"
            lines.append(f"inline CUresult f{number}(void* x) {{ CUtensorMap map; return {call} }}")
        else:
            lines.append(f"__device__ void f{number}(void* x) {{ {statement} }}")
        place[statement] = len(lines)
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = to_ptx(tools, source, "-Xcudafe", "--error_limit=1000")
    assert done.returncode != 0
    errors = re.split(r"\n\n(?=\S)", done.stderr)
    for statement, message in ILLEGAL.items():
        at = re.compile(rf"illegal\.cu\({place[statement]}\)|at line {place[statement]} of \S*illegal\.cu")
        assert any(message in error and at.search(error) for error in errors), (statement, done.stderr)
