"""NVIDIA's tools are found by their files, in a known order, and a tool that is missing says what to do."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.core.errors import ToolMissing
from ptxbench.core.settings import Settings
from ptxbench.evaluate.tools import locate

FINDERS = {"compute-sanitizer": locate.compute_sanitizer, "ncu": locate.ncu, "cuda-gdb": locate.cuda_gdb}
SCRIPT = "#!/bin/sh\n"
ELF = "\x7fELF and more"


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch, tmp_path):
    """No tool of the machine that the tests run on."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(locate, "_TOOLKITS", (tmp_path / "cuda",))
    monkeypatch.setattr(locate, "_NSIGHT", tmp_path / "nsight-compute")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])


@pytest.mark.parametrize("name", FINDERS)
def test_places_are_looked_at_in_order(tmp_path, program, name, monkeypatch):
    setting = name.replace("-", "_")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    places = ["cuda/bin", "home/bin", "site/nvidia/cu13/bin", "path"]
    for place in places:
        path = program(tmp_path / place / name, SCRIPT)
        importlib.invalidate_caches()
        assert FINDERS[name](Settings()) == path
    named = program(tmp_path / "named", SCRIPT)
    assert FINDERS[name](Settings(**{setting: named})) == named


@pytest.mark.parametrize("name", FINDERS)
def test_a_missing_tool_says_what_to_do(name):
    with pytest.raises(ToolMissing) as missing:
        FINDERS[name](Settings())
    assert name in missing.value.message and f"PTXBENCH_{name.upper().replace('-', '_')}" in str(missing.value.next_step)


@pytest.mark.parametrize("name", FINDERS)
def test_a_setting_that_names_no_program_is_an_error_and_not_ignored(tmp_path, program, name):
    program(tmp_path / "path" / name, SCRIPT)
    plain = tmp_path / "plain"
    plain.write_text("")
    for wrong in (tmp_path / "none", plain, tmp_path):
        with pytest.raises(ToolMissing, match="which is no program"):
            FINDERS[name](Settings(**{name.replace("-", "_"): wrong}))


def test_files_that_cannot_be_run_are_passed_over(tmp_path, program):
    (tmp_path / "site/nvidia/cu13/bin").mkdir(parents=True)
    (tmp_path / "site/nvidia/cu13/bin/ncu").write_text("")
    found = program(tmp_path / "cuda/bin/ncu", SCRIPT)
    assert locate.ncu(Settings()) == found


def test_the_newest_wheel_and_the_newest_nsight_compute_come_first(tmp_path, program):
    program(tmp_path / "nsight-compute/2025.3.1/ncu", SCRIPT)
    newer = program(tmp_path / "nsight-compute/2025.10.0/ncu", SCRIPT)
    assert locate.ncu(Settings()) == newer
    program(tmp_path / "site/nvidia/cu13/bin/cuda-gdb", SCRIPT)
    newest = program(tmp_path / "site/nvidia/cu14/bin/cuda-gdb", SCRIPT)
    importlib.invalidate_caches()
    assert locate.cuda_gdb(Settings()) == newest


def test_a_sanitizer_that_cannot_start_programs_is_passed_over(tmp_path, program):
    """The wheel of 13.0 holds the program without its launcher."""
    broken = program(tmp_path / "site/nvidia/cu13/bin/compute-sanitizer", ELF)
    importlib.invalidate_caches()
    with pytest.raises(ToolMissing, match=locate.LAUNCHER) as missing:
        locate.compute_sanitizer(Settings())
    assert "13.5" in str(missing.value.next_step)
    whole = program(tmp_path / "cuda/compute-sanitizer/compute-sanitizer", ELF)
    program(tmp_path / "cuda/compute-sanitizer" / locate.LAUNCHER, ELF)
    assert locate.compute_sanitizer(Settings()) == whole
    program(broken.with_name(locate.LAUNCHER), ELF)
    assert locate.compute_sanitizer(Settings()) == broken


def test_the_launcher_is_looked_for_beside_the_program_that_a_link_leads_to(tmp_path, program):
    program(tmp_path / "real/compute-sanitizer", ELF)
    program(tmp_path / "real" / locate.LAUNCHER, ELF)
    (tmp_path / "path").mkdir()
    (tmp_path / "path/compute-sanitizer").symlink_to(tmp_path / "real/compute-sanitizer")
    assert locate.compute_sanitizer(Settings()) == tmp_path / "path/compute-sanitizer"


def test_ncu_report_comes_from_the_package_then_from_nsight_compute(tmp_path, program):
    with pytest.raises(ToolMissing) as missing:
        locate.ncu_report_folders(Settings())
    assert "pip install ncu-report" in str(missing.value.next_step)
    program(tmp_path / "nsight-compute/2025.3.1/extras/python/ncu_report.py", "")
    program(tmp_path / "elsewhere/ncu", SCRIPT)
    program(tmp_path / "elsewhere/extras/python/ncu_report.py", "")
    program(tmp_path / "site/ncu_report/__init__.py", "raise SystemExit('imported')")
    importlib.invalidate_caches()
    settings = Settings(ncu=tmp_path / "elsewhere/ncu")
    wanted = [tmp_path / "site", tmp_path / "elsewhere/extras/python", tmp_path / "nsight-compute/2025.3.1/extras/python"]
    assert list(locate.ncu_report_folders(settings)) == wanted


def test_a_version_is_what_the_tool_says(tmp_path, program):
    texts = {
        "NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1.0 (build 36400806) (public-release)": "2025.3.1.0",
        "NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 36398880)": "2025.3.1.0",
        "exec: cuda-gdb-python3.12-tui --version\nNVIDIA (R) cuda-gdb 13.0\nBased on GNU gdb 14.2": "13.0",
        "no number": None,
    }
    for number, (text, wanted) in enumerate(texts.items()):
        assert locate.version(program(tmp_path / f"tool{number}", f"#!/bin/sh\ncat <<'X'\n{text}\nX\n")) == wanted
    assert locate.version(program(tmp_path / "failing", "#!/bin/sh\necho Version 1.2; exit 1\n")) is None
    with pytest.raises(ToolMissing):
        locate.version(tmp_path / "none")


def test_nothing_is_imported_or_started(tmp_path):
    code = (
        "import subprocess, sys\n"
        "from ptxbench.core.settings import Settings\n"
        "from ptxbench.core.errors import ToolMissing\n"
        "from ptxbench.evaluate.tools import locate\n"
        "def refuse(*_): raise SystemExit('started')\n"
        "sys.addaudithook(lambda event, _: event in ('subprocess.Popen', 'os.posix_spawn', 'os.exec') and refuse())\n"
        "for find in (locate.compute_sanitizer, locate.ncu, locate.cuda_gdb, locate.ncu_report_folders):\n"
        "    try: find(Settings())\n"
        "    except ToolMissing: pass\n"
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('torch', 'cupti', 'ncu_report', 'cuda')))\n"
    )
    source = Path(locate.__file__).parents[3]
    found = [*map(str, map(Path, ORIGINAL_PATH)), str(source)]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": ":".join(found)})
    assert done.stdout.strip() == "[]", done.stderr


ORIGINAL_PATH = tuple(entry for entry in sys.path if entry)
