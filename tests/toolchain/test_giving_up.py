"""Builds that are given up: for their size, because nobody waits any more, or because the machine killed the compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ptxbench.core.errors import Cancelled, InfrastructureError
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, locate_host

SLOW = """
template <int A, int B> struct F { static const int v = F<A - 1, B * 2>::v + F<A - 1, B * 2 + 1>::v; };
template <int B> struct F<0, B> { static const int v = B; };
int slow = F<22, 0>::v;
"""
"""Four million types: minutes for any compiler."""


def cpp(text: str) -> Candidate:
    source = Source(path="kernel.cpp", content=text)
    return Candidate(sources=(source,), entry_point="kernel.cpp::run", language=Language.CPP, arch="cpu")


def test_a_candidate_that_no_person_would_write_is_refused_before_any_compiler(settings):
    result = Builder(settings).build(cpp("int x;\n" * 400_000))
    assert not result.build.ok and result.build.diagnostics[0].code == "source_size"
    assert result.build.toolchain.host_compiler is None


def test_a_cancelled_build_ends_its_compiler_and_leaves_nothing(tmp_path):
    cancel = threading.Event()
    builder = Builder(Settings(cache_dir=tmp_path))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(builder.build, cpp(SLOW), cancel=cancel)
        while not any("kernel.cpp" in files for _, _, files in os.walk(tmp_path)):
            assert not running.done(), running.result()
            os.sched_yield()
        cancel.set()
        with pytest.raises(Cancelled):
            running.result(timeout=60)
    assert not list(tmp_path.rglob("kernel.cpp"))


def test_a_compiler_that_something_else_killed_is_no_fault_of_the_candidate(tmp_path):
    """A stage that dies by SIGKILL with CPU time left: a machine out of memory does that, and no limit of ours."""
    real = shutil.which("g++")
    assert real is not None
    compiler = tmp_path / "g++"
    compiler.write_text('#!/bin/sh\ncase "$*" in *--version*) exec ' + real + " --version;; esac\nkill -9 $$\n")
    compiler.chmod(0o755)
    builder = Builder(Settings(cache_dir=tmp_path / "cache", host_compiler=str(compiler)))
    with pytest.raises(InfrastructureError, match="killed from outside"):
        builder.build(cpp("int x;\n"))


def test_an_installation_in_a_folder_with_a_space_builds_cuda(tmp_path, settings):
    """The headers' path goes through nvcc and a shell; a space in it must not break the command."""
    installed = locate_host(settings).tvm_include.parent
    site = tmp_path / "my projects" / "site"
    site.mkdir(parents=True)
    (site / "tvm_ffi").symlink_to(installed, target_is_directory=True)
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from ptxbench.core.settings import Settings\n"
        "from ptxbench.schema import Candidate, Language, Source\n"
        "from ptxbench.toolchain import Builder, locate\n"
        "settings = Settings(cache_dir=Path(sys.argv[1]))\n"
        "assert ' ' in str(locate(settings).tvm_include)\n"
        "source = Source(path='k.cu', content='__global__ void k(float* x) { x[0] = 1; }')\n"
        "made = Builder(settings).build(\n"
        "    Candidate(sources=(source,), entry_point='k.cu::run', language=Language.CUDA, arch='sm_90a')\n"
        ")\n"
        "print(made.build.ok, made.build.diagnostics)\n"
    )
    env = {**os.environ, "PYTHONPATH": f"{site}:{Path(__file__).parents[2] / 'src'}"}
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "cache")], capture_output=True, text=True, env=env)
    assert done.stdout.startswith("True"), done.stdout + done.stderr
