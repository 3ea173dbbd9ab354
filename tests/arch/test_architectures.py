"""Which SASS opcodes count as evidence, and what the device table says."""

from __future__ import annotations

import pytest

from ptxbench import arch
from ptxbench.core.errors import UnknownArch

HOPPER = arch.get("sm_90a")
BLACKWELL = arch.get("sm_100a")


@pytest.mark.parametrize(
    ("opcodes", "expected"),
    [
        (["HGMMA.64x256x16.F32.BF16"], (True, False)),
        (["QGMMA.64x64x32.F32.E4M3.E4M3"], (True, False)),
        (["IGMMA.64x8x32.S8.S8", "UTMALDG.2D"], (True, True)),
        (["UTMASTG.2D"], (False, True)),
        (["UTMAREDG.2D.ADD"], (False, True)),
        (["UBLKCP", "UBLKRED"], (False, False)),
        (
            ["UTMAPF.L2.2D", "UTMACCTL.PF", "UTMACMDFLUSH", "WARPGROUP.ARRIVE", "SYNCS.EXCH.64", "ELECT", "USETMAXREG"],
            (False, False),
        ),
        (["HMMA.16816.F32.BF16", "FFMA"], (False, False)),
    ],
)
def test_hopper_predicates(opcodes, expected):
    assert HOPPER.predicates(opcodes) == expected


@pytest.mark.parametrize(
    ("opcodes", "expected"),
    [
        (["UTCHMMA", "LDTM.x32"], (True, False)),
        (["UTCQMMA.2CTA", "LDTM.x4"], (True, False)),
        (["UTCHMMA"], (False, False)),
        (["LDTM.x32"], (False, False)),
        (["UTCBAR", "UTCATOMSWS", "UTCCP", "UTCSHIFT", "STTM.x8"], (False, False)),
        (["UTCBAR", "LDTM"], (False, False)),
        (["UTMALDG.2D"], (False, True)),
    ],
)
def test_blackwell_needs_both_an_mma_and_its_readback(opcodes, expected):
    assert BLACKWELL.predicates(opcodes) == expected


def test_an_unknown_architecture_is_told_the_known_ones():
    with pytest.raises(UnknownArch) as caught:
        arch.get("sm90a")
    assert "sm_90a" in (caught.value.next_step or "")


def test_builds_hold_sass_for_exactly_the_target_and_no_ptx():
    assert HOPPER.gencode == "arch=compute_90a,code=sm_90a" and BLACKWELL.gencode == "arch=compute_100a,code=sm_100a"
    with pytest.raises(ValueError, match="nvcc"):
        _ = arch.get("cpu").gencode


def test_every_device_figure_has_a_unit_and_a_source():
    for facts in arch.DEVICES.values():
        assert facts.arch in arch.ARCHITECTURES and facts.id in arch.get(facts.arch).devices
        for figure in vars(facts).values():
            if isinstance(figure, arch.Figure):
                assert figure.value > 0 and figure.unit and figure.source


def test_the_roofline_of_the_headline_gemm_is_bound_by_arithmetic():
    m, n, k = 8192, 7168, 5120
    flops, moved = 2 * m * n * k, 2 * (m * k + n * k + m * n)
    assert arch.DEVICES["h100"].roofline_us(flops, moved) == pytest.approx(flops / 989.4e12 * 1e6)
    assert arch.DEVICES["h100"].roofline_us(1, moved) == pytest.approx(moved / 3.35e12 * 1e6)


@pytest.mark.parametrize(
    ("opcode", "flops"),
    [
        ("HGMMA.64x256x16.F32.BF16", 2 * 64 * 256 * 16 // 4),
        ("HGMMA.64x8x16.F16", 2 * 64 * 8 * 16 // 4),
        ("QGMMA.64x64x32.F32.E4M3.E4M3", 2 * 64 * 64 * 32 // 4),
        ("IGMMA.64x8x32.S8.S8", 2 * 64 * 8 * 32 // 4),
        ("BGMMA.64x8x256.AND.POPC", 2 * 64 * 8 * 256 // 4),
        ("HGMMA", None),
        ("bookkeeping:HGMMA.64x8x16.F16", None),
        ("HMMA.16816.F32.BF16", None),
        ("UTMALDG.2D", None),
        ("FFMA", None),
    ],
)
def test_flops_of_a_warps_share_of_a_warpgroup_instruction(opcode, flops):
    assert HOPPER.mma_flops(opcode) == flops


def test_no_flops_where_the_opcode_does_not_say_its_shape():
    assert BLACKWELL.mma_flops("UTCHMMA") is None
    assert arch.get("cpu").mma_flops("HGMMA.64x256x16.F32.BF16") is None


def test_a_naive_gemm_executes_as_many_warpgroup_instructions_as_its_flops_say():
    m, n, k = 1024, 512, 512
    assert 16384 * HOPPER.mma_flops("HGMMA.64x64x16.F32.BF16") == 2 * m * n * k
