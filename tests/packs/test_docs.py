"""The pack of docs/adding-a-pack.md is one: by itself with the page's commands, and among the packs that come with ptxbench."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ptxbench.core.errors import ToolMissing
from ptxbench.packs import lock
from ptxbench.packs.check import check
from ptxbench.packs.loading import DATA, load
from ptxbench.packs.render import render
from ptxbench.toolchain import locate

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-pack.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.M | re.S))
"""Every block of the page below a line that names it as a file."""
OWN, BUNDLED = (block.splitlines() for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S))
"""The commands of the page: for a folder of one's own, then for the packs that come with ptxbench."""


def written(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_the_page_has_a_file_of_each_kind_and_every_block_is_one():
    assert sorted(name.partition("/")[0] for name in FILES) == ["contracts", "include", "manifest.toml", "schedules"]
    assert len(re.findall(r"^```", PAGE, re.M)) == 2 * (len(FILES) + 2)


def test_the_commands_of_the_page_do_what_it_says(tmp_path, packs, settings):
    written(tmp_path / "my-packs")
    (tmp_path / "kernel.cu").write_text("#include <mine/clock.cuh>\n__global__ void kernel() {}\n")
    said = {}
    for line in (*OWN, *BUNDLED):
        program, group, *arguments = line.split()
        assert (program, group) == ("ptxbench", "packs")
        if "--compile" in arguments:
            try:
                locate(settings)
            except ToolMissing:
                continue
        done = packs(*arguments)
        said[line] = done.stdout
        assert done.returncode == 0, done.stdout + done.stderr
    assert "0 errors, 0 notes; lock: fits" in said[OWN[0]] and "mine: 1 wrapper;" in said[OWN[0]]
    text = next(text for line, text in said.items() if "render mine" in line)
    assert "The global timer is coarse (should, documented)" in text and "A timed loop" in text
    assert "%globaltimer" in (tmp_path / "alone.cu").read_text()


def test_in_the_package_the_pack_of_the_page_changes_no_other(tmp_path):
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    manifest = (data / "manifest.toml").read_text(encoding="utf-8")
    written(data)
    (data / "manifest.toml").write_text(manifest + FILES["manifest.toml"].replace("schema_version = 1\n", ""), encoding="utf-8")
    library = load(data)
    for name in load().manifest.packs:
        assert render(library, name).hash == render(load(), name).hash
    lock.write(library, lock.compute(library))
    report = check(load(data), None)
    assert [one for one in report.findings if one.severity == "error"] == [] and report.wrappers["mine"] == 1


@pytest.mark.parametrize("suffix", [".cuh", ".md", ".toml"])
def test_the_page_says_how_files_end(suffix):
    assert f"`{suffix}`" in PAGE and any(name.endswith(suffix) for name in FILES)
