"""Bad input gets one clear line, a next step where there is one, the right exit code, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

IMPORT_PATH = os.pathsep.join(filter(None, (str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH"))))
"""This source tree, and whatever the tests themselves import from."""
KERNEL = 'extern "C" __global__ void k(float* x) { x[0] = 1; }\n'


@pytest.fixture
def ptxbench(tmp_path, build_cache):
    """Run the real command in an empty folder, with an environment of its own."""
    folder = tmp_path / "work"
    folder.mkdir()

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PTXBENCH_CACHE_DIR": str(build_cache),
            "PYTHONPATH": IMPORT_PATH,
            **environment,
        }
        return subprocess.run(
            [sys.executable, "-m", "ptxbench", *arguments], capture_output=True, text=True, cwd=folder, env=env, timeout=250
        )

    call.folder = folder  # type: ignore[attr-defined]
    return call


def one_error(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, done.stderr
    for word in words:
        assert word in done.stderr, (word, done.stderr)


def test_a_missing_file(ptxbench):
    one_error(ptxbench("compile", "nothing.cu"), 2, "nothing.cu")


def test_a_folder_in_place_of_a_file(ptxbench):
    one_error(ptxbench("compile", "."), 2)


def test_an_unknown_task_names_the_nearest(ptxbench):
    (ptxbench.folder / "k.cu").write_text(KERNEL)
    one_error(ptxbench("eval", "k.cu", "--task", "gemm_n7168_k512"), 2, "gemm_n7168_k5120")


def test_an_unknown_workload(ptxbench):
    (ptxbench.folder / "k.cu").write_text(KERNEL)
    one_error(ptxbench("eval", "k.cu", "--task", "gemm_n7168_k5120@1234"), 2, "1234")


@pytest.mark.parametrize("command", [("compile", "k.cu"), ("eval", "k.cu", "--task", "gemm_n7168_k5120")])
def test_an_unknown_architecture_names_the_known_ones(ptxbench, command):
    (ptxbench.folder / "k.cu").write_text(KERNEL)
    one_error(ptxbench(*command, "--arch", "sm_90"), 2, "sm_90a")


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"", "empty"), (b"// \xff\xfe\n", "UTF-8"), (b"// x\n" * (2 << 20), "too large"), (b"int x;\0\n", "NUL")],
    ids=["empty", "not-utf8", "10MB", "nul"],
)
def test_a_source_that_cannot_be_used(ptxbench, content, word):
    (ptxbench.folder / "k.cu").write_bytes(content)
    one_error(ptxbench("compile", "k.cu"), 2, "k.cu", word)


def test_a_source_that_includes_itself_is_one_clear_diagnostic(ptxbench):
    (ptxbench.folder / "k.cu").write_text('#include "k.cu"\n' + KERNEL)
    done = ptxbench("compile", "k.cu", "--json")
    assert done.returncode == 1, done.stderr
    errors = [item for item in json.loads(done.stdout)["build"]["diagnostics"] if item["severity"] == "error"]
    assert len(errors) == 1 and "k.cu" in (errors[0]["file"] or "") + errors[0]["text"]


def test_no_compiler_says_how_to_get_one(ptxbench):
    (ptxbench.folder / "k.cu").write_text(KERNEL)
    done = ptxbench("compile", "k.cu", PTXBENCH_TOOLKIT=str(ptxbench.folder))
    one_error(done, 3, "next: ")


def test_no_host_compiler_says_how_to_get_one(ptxbench):
    (ptxbench.folder / "k.cpp").write_text("int run() { return 0; }\n")
    done = ptxbench("compile", "k.cpp", "--arch", "cpu", PTXBENCH_HOST_COMPILER="no-such-compiler")
    one_error(done, 3, "no-such-compiler", "next: ")


def test_a_gpu_that_is_asked_for_and_absent(ptxbench):
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has an NVIDIA driver")
    (ptxbench.folder / "k.cu").write_text(KERNEL)
    one_error(ptxbench("eval", "k.cu", "--task", "gemm_n7168_k5120", "--backend", "gpu"), 3, "GPU", "next: ")


def test_an_unknown_backend(ptxbench):
    (ptxbench.folder / "k.cu").write_text(KERNEL)
    one_error(ptxbench("eval", "k.cu", "--task", "gemm_n7168_k5120", "--backend", "tpu"), 2, "tpu")


def test_an_unknown_model_and_a_missing_recording(ptxbench):
    one_error(ptxbench("run", "--task", "cpu_softmax_n1024", "--model", "gpt", "--out", "r"), 2, "gpt")
    one_error(ptxbench("run", "--task", "cpu_softmax_n1024", "--model", "replay/none.jsonl", "--out", "r"), 2, "none.jsonl")
    assert not (ptxbench.folder / "r").exists()


def test_a_report_on_a_folder_without_a_run(ptxbench):
    (ptxbench.folder / "empty").mkdir()
    one_error(ptxbench("report", "empty"), 2, "empty holds no run", "next: ")


@pytest.mark.parametrize(
    "command",
    [
        ("report", "nothing"),
        ("report", "nothing", "--html", "page.html"),
        ("view", "nothing"),
        ("compare", "nothing", "nothing"),
        ("export", "atif", "nothing", "--out", "made"),
        ("packs", "check", "--data", "nothing"),
    ],
    ids=lambda command: command[0],
)
def test_a_folder_that_is_not_there_is_said_not_to_be_there(ptxbench, command):
    one_error(ptxbench(*command), 2, "error: there is no folder nothing", "next: ")
    assert list(ptxbench.folder.iterdir()) == []


def test_a_file_where_a_run_directory_is_wanted_is_said_to_be_one(ptxbench):
    (ptxbench.folder / "notes.md").write_text("notes\n")
    one_error(ptxbench("report", "notes.md"), 2, "notes.md is a file and no run directory", "next: ")
    one_error(ptxbench("report", "none.json", "--table", "throughput"), 2, "there is no file none.json", "next: ")


def test_a_suite_that_does_not_exist_is_not_made(ptxbench):
    one_error(ptxbench("--suite", "no-suite", "tasks", "list"), 2, "no-suite")
    assert not (ptxbench.folder / "no-suite").exists()


def test_an_unwritable_cache_is_named(ptxbench):
    (ptxbench.folder / "k.cu").write_text(KERNEL)
    (ptxbench.folder / "file").write_text("")
    done = ptxbench("compile", "k.cu", PTXBENCH_CACHE_DIR=str(ptxbench.folder / "file" / "cache"))
    one_error(done, 3, "PTXBENCH_CACHE_DIR")


def test_a_run_directory_that_cannot_be_made_is_a_fault_of_the_machine_and_nothing_is_asked(ptxbench):
    (ptxbench.folder / "replies.jsonl").write_text(json.dumps({"turn": 0, "text": "I do not know."}) + "\n")
    command = ("run", "--task", "cpu_softmax_n1024", "--model", "replay/replies.jsonl", "--out", "/proc/none/r")
    done = ptxbench(*command)
    one_error(done, 3, "/proc/none/r", "next: ")
    assert "asking the model" not in done.stderr
    codes = re.findall(r"^\| (\d) \| (.*) \|$", (Path(__file__).parents[2] / "docs" / "running.md").read_text(), re.M)
    assert [code for code, means in codes if "cannot be written" in means] == ["3"]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")
def test_a_full_disk_is_said_and_leaves_nothing_half_written(ptxbench, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"this machine does not let root mount a tmpfs: {mount.stderr.strip()}")
    try:
        (ptxbench.folder / "k.cu").write_text(KERNEL)
        one_error(ptxbench("compile", "k.cu", PTXBENCH_CACHE_DIR=str(disk)), 3, "space")
        assert [path for path in disk.rglob("*") if path.is_file() and path.name.startswith(".tmp")] == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_errors_are_json_for_machines(ptxbench):
    done = ptxbench("compile", "nothing.cu", "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)
    assert error["error"] == "bad_source" and "nothing.cu" in error["message"]


def test_a_misspelt_option_is_wrong_usage(ptxbench):
    done = ptxbench("compile", "k.cu", "--archh", "sm_90a")
    assert done.returncode == 2 and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["", "doctor", "quickstart", "tasks", "tasks list", "compile", "eval", "run", "report"])
def test_help_teaches(ptxbench, command):
    done = ptxbench(*command.split(), "--help")
    assert done.returncode == 0 and "Usage" in done.stdout and len(done.stdout) > 200
