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
