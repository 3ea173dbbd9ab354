"""Which orders of products in flight ptxas takes as they are, and that the contracts say so."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ptxbench.packs.loading import load
from ptxbench.toolchain import locate

HERE = Path(__file__).parent / "headers"
LIBRARY = load()
SERIALISED = "Potential Performance Loss: wgmma.mma_async instructions are serialized"
ARRIVE = "warpgroup.arrive is injected"
REMARKS = {
    "one_round": set(),
    "one_round_branch": set(),
    "one_fence": set(),
    "wait_behind_fence": {("C7519", ARRIVE)},
    "loop_behind_fence": {("C7519", ARRIVE)},
    "two_rounds": {("C7514", SERIALISED)},
    "two_rounds_branch": {("C7514", SERIALISED)},
    "two_rounds_untouched": set(),
    "two_rounds_wait_for_all": set(),
    "no_loop": set(),
}
"""Kernel of ``in_flight.cu`` to what ptxas says of it: number and beginning."""


@pytest.fixture(scope="module")
def said(settings, tmp_path_factory) -> str:
    """Return what nvcc and ptxas said of the file."""
    target = tmp_path_factory.mktemp("in-flight") / "in_flight.cubin"
    flags = ["-std=c++17", "-arch=sm_90a", f"-I{LIBRARY.root / 'include'}", f"-I{HERE}"]
    command = [str(locate(settings).nvcc), *flags, "-cubin", str(HERE / "in_flight.cu"), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("kernel", REMARKS)
def test_ptxas_says_of_an_order_of_products_what_the_contracts_say(kernel, said):
    remarks = [line for line in said.splitlines() if line.endswith(f"'{kernel}'") or f"'{kernel}' in" in line]
    found = {match.groups() for line in remarks for match in re.finditer(rf"\((C\d+)\) ({SERIALISED}|{ARRIVE})", line)}
    assert found == REMARKS[kernel] and (bool(remarks) == bool(found)), remarks


def test_no_other_kernel_is_spoken_of(said):
    kernels = re.findall(r"^(?:BEGIN|ONE_ROUND|TWO_ROUNDS)\((\w+)", (HERE / "in_flight.cu").read_text(encoding="utf-8"), re.M)
    assert sorted(set(kernels) - {"name"}) == sorted(REMARKS)
    assert set(re.findall(r"in (?:the )?function '(\w+)'", said)) == {name for name, remarks in REMARKS.items() if remarks}


def test_the_contracts_name_what_ptxas_says_and_the_symptoms_too():
    bodies = {name: " ".join(LIBRARY.fragment(name).text.split()) for name in ("contracts/wgmma/wgmma-accumulator", "debug/hopper")}
    for text in bodies.values():
        assert "wgmma.mma_async instructions are serialized" in text and "C7519" in text
    assert "C7514" in bodies["contracts/wgmma/wgmma-accumulator"]
    protocol = " ".join(LIBRARY.fragment("contracts/wgmma/wgmma-protocol").text.split())
    assert "a loop between fence and products" in protocol and "C7519" in protocol
