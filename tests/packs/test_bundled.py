"""The packs that come with ptxbench: what is here is sound, and their code, pasted together, compiles."""

from __future__ import annotations

import re
import subprocess

import pytest

from ptxbench.arch import get
from ptxbench.core.errors import ToolMissing
from ptxbench.packs.check import check
from ptxbench.packs.compiling import not_compiled
from ptxbench.packs.listing import listing, source_tree
from ptxbench.packs.loading import load
from ptxbench.packs.manifest import Arm, Kind
from ptxbench.packs.page import Level, Status
from ptxbench.packs.render import render
from ptxbench.packs.standing import standings
from ptxbench.toolchain import locate

LIBRARY = load()


@pytest.mark.parametrize("arm", [Arm.WRAPPERS, Arm.CONTRACTS, Arm.REPRESENTATIVE])
def test_the_wrappers_of_the_text_paste_together_and_compile(arm, tmp_path, settings):
    try:
        tools = locate(settings)
    except ToolMissing as missing:
        pytest.skip(missing.message)
    made = render(LIBRARY, "hopper", arm=arm)
    blocks = [re.search(r"^```cpp\n(.*?)^```$", one.text, re.M | re.S) for one in made.sections if one.kind is Kind.WRAPPERS]
    source = tmp_path / "pasted.cu"
    source.write_text("".join(block[1] for block in blocks if block) + "__global__ void kernel() {}\n")
    assert '#include "' not in source.read_text()
    gencode = ["-gencode", get("sm_90a").gencode]
    command = [
        str(tools.nvcc),
        *gencode,
        "-std=c++17",
        "-diag-suppress=177",
        "-cubin",
        "-o",
        str(tmp_path / "k.cubin"),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-3000:]


def test_every_header_compiles_alone_and_its_functions_are_assembled(settings):
    try:
        tools = locate(settings)
    except ToolMissing as missing:
        pytest.skip(missing.message)
    assert not_compiled(LIBRARY, tools) == []


def test_the_wrappers_arm_has_no_comment_in_its_code():
    for section in render(LIBRARY, "hopper", arm=Arm.WRAPPERS).sections:
        if section.kind is Kind.WRAPPERS:
            assert re.search(r"^\s*//|/\*", section.text, re.M) is None, section.fragment


def test_the_list_shows_every_pack_and_the_tests_of_contracts_can_be_looked_for():
    assert [row.id for row in listing(LIBRARY)] == list(LIBRARY.manifest.packs)
    tree = source_tree()
    assert tree is not None and (tree / "tests" / "packs").is_dir()


def test_packs_check_is_green_and_the_lock_fits():
    report = check(load(), source_tree())
    assert [one for one in report.findings if one.severity == "error"] == [] and report.ok and report.lock == "fits"


def test_every_must_of_the_hopper_pack_is_executed_or_says_why_not():
    """Of the headers as they are: whoever changes their code runs the contract programs again."""
    musts = [row for row in standings(LIBRARY, "hopper") if row.level is Level.MUST]
    assert len(musts) > 30
    assert [row.contract for row in musts if row.status is not Status.EXECUTED and row.reason is None] == []
