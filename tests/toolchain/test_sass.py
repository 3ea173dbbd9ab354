"""The ``sass`` artifact: every instruction by function and pc, from the same listing as the census."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ptxbench.core.errors import StorageError
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, BuildResult, locate, read_candidate
from ptxbench.toolchain.disassembly import INSTRUCTION_BYTES, disassemble

KERNELS = Path(__file__).parents[2] / "kernels"
PARTS = """
__device__ __noinline__ float root(float x) { return sqrtf(x) * 3.0f; }
__global__ void first(float* p) { for (int i = 0; i < 3; ++i) p[i] = root(p[i]); }
__global__ void second(float* p) { p[0] = 1.0f / root(p[1]); asm volatile("wgmma.commit_group.sync.aligned;"); }
"""


def build(text: str, settings: Settings) -> BuildResult:
    source = Source(path="kernel.cu", content=text)
    return Builder(settings).build(
        Candidate(sources=(source,), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a")
    )


def read(result: BuildResult) -> dict[str, list[str]]:
    path = result.artifact("sass")
    assert path is not None
    return json.loads(path.read_bytes())


@pytest.mark.parametrize("arch, kernel", [("sm_90a", "tma_wgmma_tile"), ("sm_100a", "tcgen05_tile")])
def test_the_listing_has_what_the_census_counts(settings, arch, kernel):
    result = Builder(settings).build(read_candidate(KERNELS / arch / kernel / "kernel.cu", arch=arch))
    listed = read(result)
    (counted,) = result.build.kernels
    of_ptxas = [key for name, keys in listed.items() if name.startswith("$__internal_") for key in keys]
    assert Counter(listed[counted.mangled]) == Counter(counted.opcodes) + Counter(of_ptxas)
    assert {name for name in listed if not name.startswith("$__internal_")} == {counted.mangled}


def test_an_instruction_stands_at_sixteen_times_its_index(settings):
    result = build(PARTS, settings)
    listed, cubin = read(result), result.artifact("cubin")
    assert cubin is not None
    own = {one.name: one for one in disassemble(cubin, locate(settings))}
    assert set(listed) == set(own)
    apart = {name: keys for name, keys in listed.items() if name.startswith("$")}
    assert {"$_Z5firstPf$_Z4rootf", "$_Z6secondPf$_Z4rootf"} <= set(apart)
    for name, keys in apart.items():
        at = own[name].start // INSTRUCTION_BYTES
        owners = [kernel for kernel in ("_Z5firstPf", "_Z6secondPf") if listed[kernel][at : at + len(keys)] == keys]
        assert at and owners and keys == list(own[name].opcodes)
    assert listed["_Z6secondPf"].count("bookkeeping:HGMMA.64x8x16.F16") == 1
    assert listed["_Z5firstPf"].index("EXIT") < own["$_Z5firstPf$_Z4rootf"].start // INSTRUCTION_BYTES


def test_an_artifact_that_is_gone_or_damaged_is_never_handed_out(tmp_path):
    result = build("__global__ void k(int* x) { *x = 7; }\n", Settings(cache_dir=tmp_path))
    assert result.artifact("library") == result.library and result.artifact("nonsense") is None
    path = result.artifact("sass")
    assert path is not None
    path.write_bytes(b"{}")
    for _ in range(2):
        with pytest.raises(StorageError):
            result.artifact("sass")
