"""The reference GEMM is written on the Hopper pack's headers, and nothing of its speed lies in between."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxbench.core.settings import Settings
from ptxbench.packs.amalgamate import amalgamate
from ptxbench.schema import Profile
from ptxbench.suite.kernels import kernel_path
from ptxbench.toolchain import Builder, BuildResult, locate, read_candidate
from ptxbench.toolchain.disassembly import disassemble
from ptxbench.toolchain.policy import verdict

KERNEL = "sm_90a/gemm_bf16/kernel.cu"
K_BLOCK = ["SYNCS.PHASECHK", "WARPGROUP.ARRIVE", "HGMMA", "HGMMA", "HGMMA", "HGMMA", "WARPGROUP.DEPBAR", "SYNCS.ARRIVE"]
"""What a consumer issues for 64 columns of K: wait for the stage, multiply, wait for all but this group, give a stage back."""
LOAD = ["SYNCS.PHASECHK", "SYNCS.ARRIVE", "UTMALDG", "UTMALDG"]
"""What the producer issues for them."""
STAGES = 4


@pytest.fixture(scope="module")
def built(settings: Settings) -> BuildResult:
    return Builder(settings).build(read_candidate(kernel_path(KERNEL), arch="sm_90a"))


@pytest.fixture(scope="module")
def issued(built: BuildResult, settings: Settings) -> list[str]:
    """What the kernel issues that others wait for or that waits for others, in the order of its code."""
    cubin = built.artifact("cubin")
    assert cubin is not None
    (kernel,) = disassemble(Path(cubin), locate(settings))
    words = re.compile(r"(HGMMA|UTMALDG|SYNCS\.PHASECHK|SYNCS\.ARRIVE|WARPGROUP\.\w+)\b")
    return [match[1] for opcode in kernel.opcodes if (match := words.match(opcode))]


def runs(issued: list[str], pattern: list[str]) -> int:
    return sum(issued[at : at + len(pattern)] == pattern for at in range(len(issued)))


def test_the_kernel_is_what_amalgamating_its_source_gives():
    path = kernel_path(KERNEL)
    made = amalgamate(path.with_name("gemm.cu"))
    command = f"ptxbench packs amalgamate kernels/{KERNEL.replace('kernel.cu', 'gemm.cu')} --out kernels/{KERNEL}"
    assert made.text.encode() == path.read_bytes(), f"a header or gemm.cu changed: {command}"
    assert not re.search(r'#include\s+"', made.text) and "asm" not in path.with_name("gemm.cu").read_text(encoding="utf-8")


def test_nothing_is_said_against_it_and_its_registers_hold_everything(built):
    assert built.build.ok and not built.build.diagnostics
    assert verdict(built.violations, Profile.STRICT).ok and not built.violations
    (kernel,) = built.build.kernels
    assert (kernel.registers, kernel.spill_bytes, kernel.stack_bytes) == (168, 0, 0)


def test_a_k_block_is_four_multiplications_in_one_group_and_nothing_else_waits(built, issued):
    (kernel,) = built.build.kernels
    multiplied = {opcode: n for opcode, n in kernel.opcodes.items() if "GMMA" in opcode}
    assert multiplied.keys() == {"HGMMA.64x256x16.F32.BF16"}
    blocks = runs(issued, K_BLOCK)
    assert issued.count("HGMMA") == 4 * blocks == sum(multiplied.values())
    # The last wait, for what is still in flight at a tile's end, is the only one outside of a block.
    assert issued.count("WARPGROUP.ARRIVE") == issued.count("WARPGROUP.DEPBAR") - 1 == blocks
    # Unrolled by the ring: a whole turn, and what steps are left over.
    assert blocks == 2 * STAGES - 1


def test_a_stage_is_two_loads_behind_one_wait(issued):
    assert issued.count("UTMALDG") == 2 * runs(issued, LOAD) == 2 * (2 * STAGES - 1)
