"""The doctor finds what is here and does not work."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxbench.app.doctor import DoctorReport, examine
from ptxbench.core.settings import Settings
from ptxbench.toolchain import locate


def without_headers(folder: Path) -> Path:
    """The machine's toolkit again, as links, without the CUDA runtime's headers: every tool answers, and nothing compiles."""
    for entry in locate(Settings()).root.iterdir():
        if entry.name != "include":
            (folder / entry.name).symlink_to(entry)
    return folder


def lines(report: DoctorReport) -> dict[str, tuple[str, str | None]]:
    return {check.name: (check.status, check.fix) for check in report.checks}


def test_a_compiler_that_answers_and_compiles_nothing_is_not_fine(tmp_path):
    toolkit = tmp_path / "toolkit"
    toolkit.mkdir()
    report = examine(Settings(toolkit=without_headers(toolkit), cache_dir=tmp_path / "cache"))
    found = lines(report)
    status, fix = found["nvcc"]
    assert status == "failed" and "unset PTXBENCH_TOOLKIT" in fix and not report.usable
    assert found["ptxas"][0] == found["host compiler"][0] == "ok" and "nvcc" in report.summary
    assert not (tmp_path / "cache").exists()


def test_a_host_compiler_that_compiles_nothing_is_not_fine(tmp_path):
    script = tmp_path / "g++"
    script.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "g++ 12" && exit 0\necho "cannot open headers" >&2\nexit 1\n')
    script.chmod(0o755)
    report = examine(Settings(host_compiler=str(script), cache_dir=tmp_path / "cache"))
    status, fix = lines(report)["host compiler"]
    assert status == "failed" and "cannot open headers" in fix and "PTXBENCH_HOST_COMPILER" in fix and not report.usable


@pytest.mark.parametrize("place", ["/proc/nowhere/cache", "file/cache"])
def test_a_cache_that_cannot_be_written_is_named_and_nothing_else_is_blamed(place, tmp_path):
    (tmp_path / "file").touch()
    report = examine(Settings(cache_dir=tmp_path / place))
    failed = {check.name: check for check in report.checks if check.required and check.status != "ok"}
    assert set(failed) == {"disk"} and not report.usable
    assert failed["disk"].value.startswith("not writable: ")
    assert "make " in failed["disk"].fix and "PTXBENCH_CACHE_DIR" in failed["disk"].fix and "space" not in failed["disk"].fix
    assert report.summary == "Not usable yet: fix these lines first: disk."
