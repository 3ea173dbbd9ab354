"""The quickstart on a machine that fails while it plays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from ptxbench.toolchain import locate

IMPORT_PATH = os.pathsep.join(filter(None, (str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH"))))
LOSES_PTXAS = """#!/bin/sh
case "$*" in *kernel.cu*) rm -f {root}/bin/ptxas;; esac
[ -e {root}/bin/ptxas ] || exit 1
exec {nvcc} "$@"
"""
"""A compiler that breaks its toolkit when it meets the first candidate: from then on there is no ptxas."""


def test_a_fault_that_lasts_is_told_with_a_next_step_and_ends_in_no_traceback(settings, tmp_path):
    tools = locate(settings)
    root = tmp_path / "toolkit"
    (root / "bin").mkdir(parents=True)
    for entry in tools.root.iterdir():
        if entry.name != "bin":
            (root / entry.name).symlink_to(entry)
    (root / "bin" / "ptxas").symlink_to(tools.ptxas)
    (root / "bin" / "nvcc").write_text(LOSES_PTXAS.format(root=root, nvcc=tools.nvcc))
    (root / "bin" / "nvcc").chmod(0o755)
    env = os.environ | {
        "PTXBENCH_TOOLKIT": str(root),
        "PTXBENCH_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": IMPORT_PATH,
    }
    command = [sys.executable, "-m", "ptxbench", "quickstart", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3 and "Traceback" not in done.stderr, done.stderr
    assert f"not judged: {root} holds nvcc but no ptxas" in done.stdout.replace("\n", " ")
    assert "ptxbench doctor says what is missing or broken here" in done.stdout
    # The other part needs no nvcc.
    journal = (tmp_path / "out" / "cpu" / "journal.jsonl").read_text().splitlines()
    assert sum(json.loads(line).get("kind") == "turn" for line in journal) == 3
