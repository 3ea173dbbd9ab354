"""The code of the schedules is whole kernels: each compiles alone for sm_90a, without spills and without a word from ptxas."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ptxbench.core.errors import ToolMissing
from ptxbench.packs.loading import DATA, load
from ptxbench.packs.manifest import Kind
from ptxbench.packs.page import Page
from ptxbench.packs.programs import build, found, run
from ptxbench.packs.snippets import expand, snippet_files
from ptxbench.toolchain import locate

FOLDER = DATA / "schedules" / "snippets"
PROGRAMS = Path(__file__).parents[1] / "gpu" / "schedules"
KERNELS = {
    "cluster_multicast.cu": {"UTMALDG.2D.MULTICAST", "HGMMA.64x256x16.F32.BF16", "UCGABAR_WAIT", "SYNCS.ARRIVE.TRANS64.RED.A1T0"},
    "warp_specialised.cu": {"UTMALDG.2D", "HGMMA.64x256x16.F32.BF16", "USETMAXREG.DEALLOC", "USETMAXREG.TRY_ALLOC"},
    "ping_pong.cu": {"UTMALDG.2D", "HGMMA.64x64x16.F32.BF16", "BAR.ARV", "MUFU.EX2", "USETMAXREG.TRY_ALLOC"},
    "ping_pong_pipelined.cu": {"UTMALDG.2D", "HGMMA.64x64x16.F32.BF16", "BAR.ARV", "MUFU.EX2", "USETMAXREG.TRY_ALLOC"},
    "backward.cu": {"UTMALDG.2D", "HGMMA.64x64x16.F32.BF16", "UBLKCP.S.G", "MUFU.EX2", "USETMAXREG.TRY_ALLOC"},
}
"""File to opcodes that must be in its machine code."""
SAMPLED = ("cluster_multicast.cu", "ping_pong_pipelined.cu")


def compiled(tools, source: Path, target: Path) -> str:
    """Compile with warnings as errors; return the machine code after a look at what ptxas said."""
    command = [
        tools.nvcc,
        "-std=c++17",
        "-arch=sm_90a",
        "-Werror=all-warnings",
        f"-I{DATA / 'include'}",
        f"-I{FOLDER}",
        "-Xptxas=-v",
    ]
    done = subprocess.run(
        [*map(str, command), "-cubin", "-o", str(target), str(source)], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    # C7508: a register change ignored; C7510 to C7519: products serialised, or waits added.
    assert "(C7" not in said, said
    assert re.findall(r"(\d+) bytes spill stores", said) and set(re.findall(r"(\d+) bytes spill", said)) == {"0"}, said
    listed = subprocess.run([str(tools.nvdisasm), "-c", str(target)], capture_output=True, text=True, check=True, timeout=60)
    return listed.stdout


def check(name: str, tmp_path: Path, settings) -> None:
    try:
        tools = locate(settings)
    except ToolMissing as missing:
        pytest.skip(missing.message)
    sass = compiled(tools, FOLDER / name, tmp_path / "snippet.cubin")
    assert {opcode for opcode in KERNELS[name] if opcode not in sass} == set()


@pytest.mark.parametrize("name", SAMPLED)
def test_a_snippet_compiles_and_the_compiler_adds_and_drops_nothing(name, tmp_path, settings):
    check(name, tmp_path, settings)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(KERNELS) - set(SAMPLED)))
def test_every_other_snippet_too(name, tmp_path, settings):
    check(name, tmp_path, settings)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.cuh")))
def test_what_snippets_share_compiles_alone(name, tmp_path, settings):
    source = tmp_path / "alone.cu"
    source.write_text(f'#include "{name}"\n__global__ void kernel() {{}}\n')
    compiled(locate(settings), source, tmp_path / "alone.cubin")


def test_every_file_of_snippets_is_compiled_and_every_page_shows_one():
    assert {path.name for path in FOLDER.glob("*.cu")} == set(KERNELS)
    library = load()
    shown: set[str] = set()
    for name in library.below("schedules/"):
        fragment = library.fragment(name)
        assert fragment.kind is Kind.SCHEDULE and isinstance(fragment.content, Page)
        files = list(snippet_files(fragment.content.body))
        assert files, name
        shown |= set(files)
    included = {
        name for path in FOLDER.iterdir() if path.is_file() for name in re.findall(r'#include "([^/"]+)"', path.read_text())
    }
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == shown | included


@pytest.mark.slow
@pytest.mark.parametrize("program", found(PROGRAMS), ids=lambda path: path.stem)
def test_a_program_that_tries_a_snippet_on_a_device_compiles(program, tmp_path, settings):
    binary = tmp_path / program.stem
    assert build(locate(settings), program, binary) is None
    answers = run(binary, "--model-only")
    assert answers.fault is None and answers.checks == ()


def test_every_snippet_has_a_program_that_tries_it_on_a_device():
    tried = {name for path in found(PROGRAMS) for name in re.findall(r'#include ".*/snippets/([^"]+)"', path.read_text())}
    assert tried == set(KERNELS)


def test_shown_code_begins_at_the_margin_though_directives_always_do():
    page = load().fragment("schedules/two-kernel").content
    assert isinstance(page, Page)
    (code,) = re.findall(r"^```cpp\n(.*?)^```$", expand(page.body, FOLDER, "here"), re.M | re.S)
    assert code.startswith("issue_abt<") and "\n#pragma unroll\nfor (" in code and "\n  const int column" in code
