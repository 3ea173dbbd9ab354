"""Faults that published knowledge packs had: the bundled packs must not have them again. One test for each that can be tested."""

from __future__ import annotations

import math
import re
import subprocess
from itertools import product
from pathlib import Path

import pytest

from ptxbench.packs import contracts, lock
from ptxbench.packs.loading import load
from ptxbench.packs.page import Page
from ptxbench.packs.parsing import Header, without_comments
from ptxbench.packs.wording import refused_forms
from ptxbench.toolchain import locate

HERE = Path(__file__).parent / "headers"
LIBRARY = load()
PACK = LIBRARY.manifest.pack("hopper")
FRAGMENTS = LIBRARY.everything(PACK)
HEADERS = {fragment.id: fragment.content for fragment in FRAGMENTS if isinstance(fragment.content, Header)}
CONTRACTS = contracts.by_id(FRAGMENTS)
TEXTS = {made.key: made.text for made in lock.renderings(LIBRARY, "hopper")}
ASSEMBLY = re.compile(r"asm(?P<volatile> volatile)?\s*\((?P<body>.*?)\);", re.S)
BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)


@pytest.fixture(scope="module")
def tools(settings):
    return locate(settings)


def compiled(tools, source: Path, text: str, *flags: str) -> str:
    """Return what nvcc and ptxas said of a source that they took; the cubin lies beside it."""
    source.write_text('#include "all.cuh"\nusing namespace ptxk;\n' + text, encoding="utf-8")
    common = ["-std=c++17", "-arch=sm_90a", f"-I{LIBRARY.root / 'include'}", f"-I{HERE}", *flags]
    command = [str(tools.nvcc), *common, "-cubin", str(source), "-o", str(source.with_suffix(".cubin"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stderr


def said_of(report: str, kernel: str) -> list[str]:
    """Return ptxas' remarks that name a kernel."""
    return [line for line in report.splitlines() if f"'{kernel}'" in line]


# ---- the text: nothing that the target refuses, nothing that leads nowhere ----


@pytest.mark.parametrize("key", TEXTS)
def test_no_text_shows_a_form_that_the_target_refuses(key):
    code = [block[1] for block in BLOCK.finditer(TEXTS[key])]
    assert refused_forms(code, PACK.arch) == []
    assert re.search(r"tcgen05|tmem|cta_group|gather4|scatter4|im2col::w|cp_mask|m16n8|\.b8\b", TEXTS[key]) is None


@pytest.mark.parametrize("key", TEXTS)
def test_no_text_refers_to_what_it_does_not_have(key):
    """No anchors, no figures and tables of another document, no reference left open, no path of a header."""
    assert re.search(r"\]\(|\[\[|\b(Figure|Table) \d|\b[Ss]ee (below|above)\b|#include \"", TEXTS[key]) is None


def test_masks_are_by_rank_in_the_cluster():
    """One published text took `%cluster_ctarank`, the other `%ctaid`."""
    assert not any("%ctaid" in text for text in TEXTS.values())
    assert "cluster_rank" in CONTRACTS["tma-multicast"].body


# ---- the headers ----


def test_every_header_can_be_included_twice_and_stands_in_the_namespace():
    for name, header in HEADERS.items():
        assert "#pragma once" in header.text, name
        assert not header.wrappers or "namespace ptxk {" in header.text, name


def test_a_barrier_of_the_whole_grid_stands_only_where_it_is_used_and_reads_no_round_of_its_own():
    """The published one could hang when a block read the sense after its arrival; here the arrival's own ticket says the round."""
    code = {name: without_comments(header.text).replace("cp.red", "") for name, header in HEADERS.items()}
    atomic = re.compile(r"grid_?sync|atomic\w+\(|\bred\.|\batom\.")
    grid = "include/ptxk/sm90/grid"
    assert [name for name, text in code.items() if atomic.search(text)] == [grid]
    assert len(atomic.findall(code[grid])) == 1 and "ticket - ticket % blocks" in code[grid]
    assert {key.split("/", 2)[2] for key, text in TEXTS.items() if "grid_barrier" in text} == {
        "mha_backward/two-kernel",
        "mha_backward/forward-backward",
    }


REGISTERS_ONLY = r"mov\.u32|mapa\.|createpolicy|setmaxnreg|ex2\.|cvt\.|ld\.global\.nc"


def test_whatever_orders_or_touches_memory_says_so_to_the_compiler():
    seen = 0
    for name, header in HEADERS.items():
        for statement in ASSEMBLY.finditer(without_comments(header.text)):
            text = " ".join(re.findall(r'"([^"]*)"', statement["body"]))
            seen += 1
            if not re.match(REGISTERS_ONLY, text.lstrip()):
                assert statement["volatile"] and '"memory"' in statement["body"], (name, text[:80])
    assert seen > 80


def test_a_cache_hint_takes_a_policy_and_multicast_a_mask_in_the_order_of_the_operands():
    for header in HEADERS.values():
        for wrapper in header.wrappers:
            hinted = "L2::cache_hint" in wrapper.ptx
            parameters = wrapper.signature.partition("(")[2]
            assert ("uint64_t policy" in parameters) == hinted, wrapper.name
            assert ("uint16_t mask" in parameters) == ("multicast" in wrapper.ptx), wrapper.name
            if "mask" in parameters and hinted:
                assert parameters.endswith("uint16_t mask, uint64_t policy)"), wrapper.name


def test_only_f16_inputs_have_sums_in_f16():
    shapes = HEADERS["include/ptxk/sm90/wgmma_shapes"].text + HEADERS["include/ptxk/sm90/wgmma_templates"].text
    assert set(re.findall(r"k\d+\.f16\.(\w+)\.(\w+)", shapes)) == {("f16", "f16")}
    assert re.search(r"\| bf16; f16 \| f32; f32 or f16 \|", CONTRACTS["wgmma-types"].body)


def test_whether_a_product_adds_is_an_argument_of_every_one():
    products = [w for header in HEADERS.values() for w in header.wrappers if w.ptx.startswith("wgmma.mma_async")]
    assert len(products) >= 13 and all("int accumulate" in wrapper.signature for wrapper in products)


LAYOUT = """
using Wide = OperandTile<Swizzle::b128, Major::mn, 256, 64>;
static_assert(Wide::kLeading == 64 * 128 && Wide::kStride == 1024, "one instruction walks the boxes of 64 columns by LBO");
static_assert(OperandTile<Swizzle::b64, Major::k, 64, 64>::kTileBytes == OperandTile<Swizzle::none, Major::k, 64, 64>::kTileBytes);
static_assert(OperandTile<Swizzle::b32, Major::mn, 96, 64>::kSpan == 32, "every swizzle is a mode of wgmma");
constexpr uint64_t kBits = 64ull | 1ull << 16 | 64ull << 32 | 1ull << 62;
static_assert(encode_descriptor(1024, 16, 1024, Swizzle::b128) == kBits, "offsets are bytes");
static_assert(d_row(127, 0) == 55 && d_row(128, 0) == 64, "a thread of another warpgroup is no row of this one");
"""


def test_layouts_take_every_swizzle_and_all_columns_at_once(tools, tmp_path):
    assert compiled(tools, tmp_path / "layout.cu", LAYOUT) == ""


# ---- what the contracts say, tried on ptxas ----

SETMAXNREG = """
static_assert(registers_fit<384, 40, 232, 232>() && !registers_fit<384, 48, 240, 240>());
__global__ void __launch_bounds__(BOUNDS) roles(int* out) {
  if (threadIdx.x < 128) setmaxnreg_dec<40>(); else setmaxnreg_inc<232>();
  out[threadIdx.x] = 1;
}
"""


def test_setmaxnreg_takes_effect_with_the_launch_bounds_that_the_header_teaches(tools, tmp_path):
    assert compiled(tools, tmp_path / "taught.cu", SETMAXNREG.replace("BOUNDS", "384, 1")) == ""
    assert "C7508" in compiled(tools, tmp_path / "bare.cu", SETMAXNREG.replace("BOUNDS", "384"))
    assert "__launch_bounds__(threads, 1)" in HEADERS["include/ptxk/sm90/registers"].text


IN_FLIGHT = """
#define KERNEL(name, before, between, after) \\
  extern "C" __global__ void __launch_bounds__(128, 1) name(float* x, uint64_t a, uint64_t b, float s, int n) { \\
    float d[32]; \\
    _Pragma("unroll") for (int i = 0; i < 32; ++i) d[i] = x[i * 128 + threadIdx.x]; \\
    before; wgmma_m64n64k16_bf16(d, a, b, 1); between; wgmma_commit(); wgmma_wait<0>(); wgmma_settle(d); after; }
#define STORE _Pragma("unroll") for (int i = 0; i < 32; ++i) x[i * 128 + threadIdx.x] = d[i]
KERNEL(right, wgmma_fence(), , STORE)
KERNEL(scaled, wgmma_fence(), _Pragma("unroll") for (int i = 0; i < 32; ++i) d[i] *= s, STORE)
KERNEL(unfenced, , , STORE)
KERNEL(conditional, wgmma_fence(); if (n > 3) wgmma_m64n64k16_bf16(d, a, b, 1), , STORE)
KERNEL(indexed, wgmma_fence(), , _Pragma("unroll 1") for (int i = 0; i < n; ++i) x[i * 128 + threadIdx.x] = d[i])
"""


@pytest.fixture(scope="module")
def in_flight(tools, tmp_path_factory):
    return compiled(tools, tmp_path_factory.mktemp("flight") / "flight.cu", IN_FLIGHT, "-Xptxas", "-v")


def test_an_accumulator_touched_in_flight_is_reported_by_ptxas(in_flight):
    remarks = {kernel: " ".join(said_of(in_flight, kernel)) for kernel in ("right", "scaled", "unfenced", "conditional")}
    remarks = {kernel: sorted(set(re.findall(r"\(C\d+\) warpgroup\.\w+ is injected", text))) for kernel, text in remarks.items()}
    assert remarks["right"] == []
    assert remarks["scaled"] == ["(C7517) warpgroup.wait is injected"]
    assert remarks["unfenced"] == remarks["conditional"] == ["(C7519) warpgroup.arrive is injected"]
    body = " ".join(CONTRACTS["wgmma-accumulator"].body.split())
    assert '"warpgroup.wait is injected" (C7517)' in body and "(C7519)" in body


def test_a_run_time_index_moves_the_accumulator_to_local_memory(in_flight):
    frames = dict(re.findall(r"Function properties for (\w+)\n\s+(\d+) bytes stack frame", in_flight))
    assert frames["right"] == "0" and int(frames["indexed"]) >= 32 * 4


# ---- what the contracts say, tried on the bits ----


def swizzled(span: int, address: int) -> int:
    """Return where a byte lies: 128B flips address bits 4-6 by bits 7-9, 64B bits 4-5 by 7-8, 32B bit 4 by bit 7."""
    for bit in range({32: 1, 64: 2, 128: 3}[span]):
        address ^= (address >> 7 + bit & 1) << 4 + bit
    return address


def integers(expression: str, **values: int) -> int:
    """Evaluate C++ arithmetic on whole numbers that are not negative."""
    assert re.fullmatch(r"[\w\s%*/+^().-]+", expression)
    return int(eval(expression.replace("/", "//"), {"__builtins__": {}}, values))


def test_the_chunk_formulas_of_the_contract_are_those_of_the_address_bits():
    """For boxes of 64 and 32 bytes the pattern counts lines of 128 bytes, which are two and four rows."""
    heads, _, formulas = [line for line in CONTRACTS["swizzle-chunks"].body.splitlines() if line.startswith("|")][:3]
    columns = zip(re.findall(r"(\d+)B", heads), [cell.strip() for cell in formulas.strip("|").split("|")], strict=True)
    for width, formula in columns:
        span = int(width)
        for row, chunk in product(range(64), range(span // 16)):
            place = row * span + integers(formula, c=chunk, r=row) * 16
            assert place == swizzled(span, row * span + chunk * 16), (span, row, chunk)
    wrong = sum(r % 4 != integers("r / 2 % 4", r=r) for r in range(64))
    assert wrong == 48, "the contract says: three rows in four"


def test_the_stmatrix_of_the_contract_puts_each_element_where_it_belongs():
    """Each lane gives the row of one 8x8 matrix; rows of a matrix lie in different banks; every element of D arrives."""
    (code,) = (code for _, code in CONTRACTS["matrix-lanes"].code())
    row_of, chunk_of = re.search(r"swizzled_128\(box, ([^,]+), ([^)]+)\)", code).groups()
    words = re.findall(r"pack_bf16\(d\[([^\]]+)\], d\[([^\]]+)\]\)", code)
    assert len(words) == 4
    found = {}
    for j, warp in product(range(4), range(4)):
        given = [(integers(row_of, warp=warp, lane=n), integers(chunk_of, j=j, lane=n)) for n in range(32)]
        for matrix, indices in enumerate(words):
            rows = given[8 * matrix : 8 * matrix + 8]
            banks = {swizzled(128, row * 128 + chunk * 16) // 16 % 8 for row, chunk in rows}
            assert len(banks) == 8, "two rows of a matrix share banks"
            for lane, half in product(range(32), range(2)):
                row, chunk = rows[lane // 4]
                index = integers(indices[half], j=j)
                found[row, chunk * 8 + lane % 4 * 2 + half] = (warp * 32 + lane, index)
    wanted = {}
    for thread, i in product(range(128), range(32)):
        at = (thread // 32 * 16 + thread % 32 // 4 + i // 2 % 2 * 8, i // 4 * 8 + thread % 4 * 2 + i % 2)
        wanted[at] = (thread, i)
    assert found == wanted


def test_the_scale_of_a_softmax_stands_on_both_sides():
    (code,) = (code for _, code in CONTRACTS["exp2-scale"].code())
    factor = re.search(r"const float c = (.+?);", code)[1].replace("f", "")
    power = re.search(r"exp2_fast\((.+?)\);", code)[1]
    for s, m, scale in product((-3.0, 0.5, 2.0), (2.0, 7.0), (0.125, 0.3)):
        c = eval(factor, {"__builtins__": {}}, {"scale": scale})
        got = 2 ** eval(power, {"__builtins__": {}}, {"s": s, "m": m, "c": c})
        assert math.isclose(got, math.exp(scale * (s - m)), rel_tol=1e-6)


# ---- the order of a TMA store, in everything that shows one ----


def shown_code() -> list[tuple[str, str]]:
    blocks = [(key, without_comments(block[1])) for key, text in TEXTS.items() for block in BLOCK.finditer(text)]
    return [(key, code) for key, code in blocks if "namespace ptxk" not in code]


def test_a_store_by_tma_comes_after_the_fence_and_then_the_barrier():
    stores = 0
    barrier = re.compile(r"named_barrier_sync<\w+>\(|__syncthreads\(\)|__syncwarp\(\)")
    for key, code in shown_code():
        for store in re.finditer(r"\btma_(?:store|reduce_add)_\dd\(", code):
            before = code[: store.start()]
            fence = before.rfind("fence_proxy_async_shared(")
            assert fence >= 0 and barrier.search(before, fence), (key, code)
            stores += 1
    assert stores > 0


def test_the_barrier_of_a_part_of_the_block_is_never_that_of_the_whole():
    for key, code in shown_code():
        assert re.search(r"named_barrier_\w+<[^>]*>\(\s*0\s*\)", code) is None, key


def test_debug_and_guidance_speak_of_shown_names_only():
    """`packs check` finds unknown names in a pack's pages; guidance is added by a run and must hold as well."""
    words = {word for header in HEADERS.values() for word in re.findall(r"\w+", header.shown(comments=False))}
    for name in [*LIBRARY.below("guidance/"), *LIBRARY.below("debug/")]:
        page = LIBRARY.fragment(name).content
        assert isinstance(page, Page)
        called = set(re.findall(r"`([a-z]\w*_\w+)(?:<[^`>]*>)?(?:\([^`]*\))?`", page.body))
        ours = {call for call in called if re.match(r"(tma|mbarrier|wgmma|cluster|named_barrier|setmaxnreg|fence)_", call)}
        assert ours <= words, (name, ours - words)
