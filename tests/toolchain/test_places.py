"""Where a checkout, a toolkit and a cache lie decides nothing: folders whose names a shell or a compiler would take apart."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ptxbench
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, locate
from ptxbench.toolchain.paths import RecordPaths

KERNEL = """
namespace { __global__ void one(int* p) { *p = 1; } }
extern "C" __attribute__((visibility("default"))) const char* __tvm_ffi_run(int* p) { one<<<1, 1>>>(p); return __FILE__; }
"""
BUILD = """
import json, sys
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate
from ptxbench.toolchain import Builder
build = Builder(Settings()).build(Candidate.model_validate_json(sys.stdin.read())).build
print(json.dumps({"package": __import__("ptxbench").__file__, "build": json.loads(build.model_dump_json())}))
"""


def kernel() -> Candidate:
    source = Source(path="kernel.cu", content=KERNEL)
    return Candidate(sources=(source,), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a")


@pytest.mark.parametrize("name", ["sp ace", "p(1) & [more]; #2"])
def test_a_checkout_a_toolkit_and_a_cache_in_any_folder_build_the_same_bytes(name, settings, tmp_path):
    folder = tmp_path / name
    shutil.copytree(Path(ptxbench.__file__).parent, folder / "ptxbench", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "toolkit").symlink_to(locate(settings).root)
    env = os.environ | {
        "PYTHONPATH": str(folder),
        "PTXBENCH_TOOLKIT": str(folder / "toolkit"),
        "PTXBENCH_CACHE_DIR": str(folder / "cache"),
    }
    run = [sys.executable, "-c", BUILD]
    done = subprocess.run(run, input=kernel().model_dump_json(), env=env, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["package"].startswith(f"{folder}/")
    here = Builder(Settings(cache_dir=tmp_path / "here")).build(kernel()).build
    assert here.ok and made["build"]["artifacts"] == json.loads(here.model_dump_json())["artifacts"]


def test_what_a_record_quotes_holds_no_folder_of_ours_whatever_its_name(tmp_path):
    tools = dataclasses.replace(locate(Settings()), root=tmp_path / "sp ace" / "cu13", tvm_include=tmp_path / "sp ace" / "include")
    paths = RecordPaths(tmp_path / "c d" / "build-1", tools)
    said = (
        f"{tools.root}/bin/..//include/cuda_runtime.h:1: included from '{tmp_path}/c d/build-1/src/kernel.cu', "
        f"{tools.tvm_include}/tvm/ffi/error.h, /usr/include/c++/12/vector and a/b"
    )
    told = "cuda_runtime.h:1: included from 'kernel.cu', tvm/ffi/error.h, c++/12/vector and a/b"
    assert paths.scrub(said) == told
