"""PTX of our own becomes machine code for every architecture that has a judge, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxbench.core.errors import InfrastructureError
from ptxbench.core.settings import Settings
from ptxbench.evaluate.local import FILL_SHARED
from ptxbench.toolchain import Builder, locate
from ptxbench.toolchain.disassembly import disassemble


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_the_filling_kernel_stores_sixteen_bytes_at_a_time(settings: Settings, arch: str) -> None:
    cubin = Builder(settings).assemble(FILL_SHARED, arch)
    (function,) = disassemble(cubin, locate(settings))
    assert function.name == "fill_shared" and "STS.128" in function.opcodes


def test_what_was_assembled_is_remembered(settings: Settings) -> None:
    first, again = (Builder(settings).assemble(FILL_SHARED, "sm_90a") for _ in range(2))
    assert first == again and first.stat().st_ino == again.stat().st_ino


def test_ptx_that_ptxas_refuses_is_our_own_fault(settings: Settings, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ptx"
    broken.write_text(".version 8.0\n.target sm_90\nnonsense\n")
    with pytest.raises(InfrastructureError, match=r"broken\.ptx"):
        Builder(settings).assemble(broken, "sm_90a")
