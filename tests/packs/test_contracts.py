"""The contracts of the bundled packs: each has its evidence, is short, and the use that it shows compiles."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxbench.packs import contracts
from ptxbench.packs.check import check
from ptxbench.packs.listing import source_tree
from ptxbench.packs.loading import load
from ptxbench.packs.manifest import Kind
from ptxbench.packs.page import REFERENCE, Level, Page
from ptxbench.packs.parsing import Header
from ptxbench.packs.programs import contracts_of, found
from ptxbench.packs.render import render
from ptxbench.toolchain import locate

PROGRAMS = Path(__file__).parents[1] / "gpu" / "contracts"
TRIED = "tests/gpu/contracts/test_contracts.py::test_a_device_does_what_the_contracts_say"
FENCE_OF_CPP = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)
LIBRARY = load()
FRAGMENTS = LIBRARY.everything(LIBRARY.manifest.pack("hopper"))
CONTRACTS = contracts.by_id(FRAGMENTS)
WRAPPERS = {one.name: one for f in FRAGMENTS if isinstance(f.content, Header) for one in f.content.wrappers}
MOST_LINES = 15
LARGEST = render(LIBRARY, "hopper", family="mha_backward", variant="forward-backward")
"""A text with every header and every contract, those of variants too."""


def test_every_contract_that_a_wrapper_names_exists_and_speaks_of_a_wrapper_of_its_own():
    named = {contract for wrapper in WRAPPERS.values() for contract in wrapper.contracts}
    assert named <= set(CONTRACTS)
    for id in named:
        assert any(id in WRAPPERS[wrapper].contracts for wrapper in CONTRACTS[id].front.wrappers), id


def test_every_contract_that_a_page_refers_to_exists():
    pages = [fragment.content for fragment in FRAGMENTS if isinstance(fragment.content, Page)]
    pages += [LIBRARY.fragment(name).content for name in LIBRARY.below("guidance/")]
    for page in pages:
        for id in (*page.front.requires, *REFERENCE.findall(page.body)):
            assert id in CONTRACTS, (page.front.id, id)


@pytest.mark.parametrize("id", CONTRACTS)
def test_a_contract_is_short_has_a_source_and_if_it_is_a_must_a_test_or_a_reason(id):
    page = CONTRACTS[id]
    lines = [line for line in page.body.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES, f"{len(lines)} lines"
    assert page.front.sources and all(source.version for source in page.front.sources)
    assert page.front.level is not Level.MUST or page.front.tests or page.front.reason
    assert page.front.arch == ("sm_90a",) and page.front.since == "1"


@pytest.mark.parametrize("id", [id for id, page in CONTRACTS.items() if page.front.level is Level.MUST])
def test_a_must_shows_the_wrong_use_and_what_is_seen_of_it(id):
    assert "Wrong: " in CONTRACTS[id].body


def test_every_must_is_tried_on_a_device_or_says_why_not():
    """Which program tries a contract, and how it went, is for the evidence to say; here, that there is one."""
    spoken = {id for program in found(PROGRAMS) for id in contracts_of(program)}
    for id, page in CONTRACTS.items():
        tried = TRIED in page.front.tests
        assert not tried or id in spoken, f"{id}: no program speaks of it"
        assert tried or page.front.reason or page.front.level is not Level.MUST, id


def test_the_pack_is_sound_but_for_its_lock():
    """The lock is written when all that it covers is done; test_bundled holds the packs to it."""
    ours = {"pack hopper", *(fragment.id for fragment in FRAGMENTS), *CONTRACTS}
    errors = [finding for finding in check(LIBRARY, source_tree()).findings if finding.severity == "error"]
    errors = [one for one in errors if one.code != "stale_lock" and one.where.partition(":")[0] in ours]
    assert [f"{one.where}: {one.text}" for one in errors] == []


def test_titles_begin_with_the_id_that_references_name():
    """A prompt has no links: a reference shows the id, and the reader finds it in a heading."""
    for id, page in CONTRACTS.items():
        assert page.front.title.startswith(f"{id}: "), page.front.title
    for id in CONTRACTS:
        assert LARGEST.text.count(f"### {id}: ") == 1


# ---- the uses that contracts show ----

DEVICE = """{mark}extern "C" __global__ void __launch_bounds__(384, 1) use_{name}(
    const __grid_constant__ CUtensorMap map, const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
    const CUtensorMap* device_map, float* out, const uint8_t* source, float scale, float s, float m, uint4 quad, int k, int depth,
    int row, int column, int rows, uint32_t parity, uint32_t turn, uint32_t bytes, uint32_t bytes_a, uint32_t bytes_b,
    uint32_t bytes_half, uint32_t value, uint32_t peer, int step, int previous) {{
  extern __shared__ __align__(1024) uint8_t tile[];
  uint8_t* tile_a = tile + 4096;
  uint8_t* tile_b = tile + 65536;
  __shared__ uint64_t full[4];
  __shared__ uint64_t empty[4];
  __shared__ uint32_t words[4];
  volatile uint32_t* slot_seen = words;
  uint32_t* slot = words;
  uint4* inbox = reinterpret_cast<uint4*>(tile);
  const uint32_t box = shared_address(tile);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  uint32_t sum = slot_seen[0];
  float d[32], p[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) d[i] = out[i], p[i] = out[i + 32];
  {{
{before}{code}{after}  }}
#pragma unroll
  for (int i = 0; i < 32; ++i) out[i] = d[i] + p[i] + sum;
}}
"""
PRODUCT = "wgmma_m64n64k16_bf16(d, make_descriptor<Swizzle::b128, Major::k, 64, 64>(tile), 0, 1);"
HOST = """{mark}void use_{name}(const void* base, uint64_t rows, uint64_t columns, CUtensorMap map, int depth, dim3 grid,
             dim3 block, uint32_t* tickets, cudaStream_t stream) {{
{code}}}
"""
PRELUDE = """using namespace ptxk;
struct alignas(1024) Storage { uint8_t tile[200 * 1024]; };
__global__ void __launch_bounds__(384, 1) kernel(const __grid_constant__ CUtensorMap map, int depth) {}
"""


def uses(page: Page) -> Iterator[str]:
    for label, code in page.code():
        assert label == "cpp", f"{page.front.id}: a block of {label!r}"
        yield code


def source_of(id: str, number: int, code: str) -> str:
    """Return a use as a function of what it takes as given; a use that is a kernel itself stands alone."""
    name = f"{id.replace('-', '_')}_{number}"
    mark = f'#line 1 "{id}"\n'
    if "__global__" in code:
        return mark + code
    host = re.search(r"cuda\w+\(|make_tensor_map|launch_\w+\(|allow_shared", code)
    if host:
        return HOST.format(mark="", name=name, code=mark + code)
    # Groups are not empty, and products do not stay in flight: ptxas would say so.
    before = f"wgmma_fence();\n{PRODUCT}\n" if "wgmma_commit" in code and "wgmma_m64" not in code else ""
    after = "wgmma_commit();\nwgmma_wait<0>();\nwgmma_settle(d);\n" if "wgmma_m64" in code and "wgmma_wait" not in code else ""
    after = "wgmma_wait<0>();\nwgmma_settle(d);\n" if before else after
    return DEVICE.format(mark="", name=name, code=mark + code, before=before, after=after)


SHOWN = {id: list(uses(page)) for id, page in CONTRACTS.items()}


def test_the_right_use_of_every_contract_compiles(settings, tmp_path):
    """Behind the wrappers as a prompt shows them; no remark of ptxas: no wgmma made to wait, no setmaxnreg dropped."""
    tools = locate(settings)
    source = tmp_path / "uses.cu"
    parts = [source_of(id, number, code) for id, codes in SHOWN.items() for number, code in enumerate(codes)]
    assert len(parts) >= 20
    wrappers = [section.text for section in LARGEST.sections if section.kind is Kind.WRAPPERS]
    shown = [block[1] for block in FENCE_OF_CPP.finditer("\n".join(wrappers))]
    assert len(shown) >= 19
    source.write_text("".join(shown) + PRELUDE + "\n".join(parts), encoding="utf-8")
    # 177 and 550: what a use is given and does not need.
    flags = ["-std=c++17", "-arch=sm_90a", "-diag-suppress=177,550"]
    done = subprocess.run(
        [str(tools.nvcc), *flags, "-cubin", str(source), "-o", str(tmp_path / "uses.cubin")],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-4000:]
