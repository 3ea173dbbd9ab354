"""The build cache survives what machines do: many writers at once, killed writers, full disks, damaged files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ptxbench.core.errors import StorageError
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, read_candidate
from ptxbench.toolchain.scratch import scratch_folder, sweep

CHILD = Path(__file__).with_name("build_once.py")
SRC = Path(__file__).parents[2] / "src"
ENV = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(SRC)}


def text(number: int) -> str:
    return f'extern "C" __attribute__((visibility("default"))) int __tvm_ffi_run() {{ return {number}; }}\n'


def candidate(number: int) -> Candidate:
    source = Source(path="kernel.cpp", content=text(number))
    return Candidate(sources=(source,), entry_point="kernel.cpp::run", language=Language.CPP, arch="cpu")


def start(cache: Path, source: Path, *prefix: str) -> subprocess.Popen[str]:
    command = [*prefix, sys.executable, str(CHILD), str(cache), str(source), "cpu"]
    return subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def leftovers(cache: Path) -> list[Path]:
    return [*(cache / "builds" / "scratch").glob("*"), *cache.rglob(".tmp-*")]


def test_eight_processes_that_build_the_same_candidate_compile_it_once(tmp_path):
    source = tmp_path / "kernel.cpp"
    source.write_text(text(1))
    children = [start(tmp_path / "cache", source) for _ in range(8)]
    found = [json.loads(child.communicate()[0]) for child in children]
    assert all(one["ok"] for one in found) and len({json.dumps(one["artifacts"]) for one in found}) == 1
    assert sorted(one["cached"] for one in found) == [False, *[True] * 7]
    assert not leftovers(tmp_path / "cache")


def test_threads_that_build_equal_and_different_candidates_do_not_disturb_each_other(tmp_path):
    builder = Builder(Settings(cache_dir=tmp_path, jobs=2))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: builder.build(candidate(n % 4)), range(16)))
    assert all(result.build.ok for result in results) and sum(not result.build.cached for result in results) == 4
    assert len({result.library for result in results}) == 4 and not leftovers(tmp_path)


def test_no_more_compilers_run_at_once_than_asked_for(tmp_path):
    # A host compiler that says when it starts and ends, and meanwhile waits for a second one to join it.
    compiler = tmp_path / "compiler"
    log = tmp_path / "log"
    compiler.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec g++ "$@"\necho start >>{log}\ng++ "$@"\ncode=$?\necho end >>{log}\nexit $code\n'
    )
    compiler.chmod(0o755)
    builder = Builder(Settings(cache_dir=tmp_path / "cache", host_compiler=str(compiler), jobs=1))
    with ThreadPoolExecutor(6) as pool:
        assert all(result.build.ok for result in pool.map(lambda n: builder.build(candidate(n)), range(6)))
    assert log.read_text().split() == ["start", "end"] * 6


def test_compile_errors_are_remembered_with_their_diagnostics(tmp_path):
    builder = Builder(Settings(cache_dir=tmp_path))
    source = Source(path="kernel.cpp", content="int run( {\n")
    broken = Candidate(sources=(source,), entry_point="kernel.cpp::run", language=Language.CPP, arch="cpu")
    first, second = builder.build(broken).build, builder.build(broken).build
    assert not first.ok and not first.cached and second.cached and first.diagnostics == second.diagnostics != ()


@pytest.mark.parametrize("damage", ["cut", "changed", "removed", "index", "record"])
def test_a_damaged_entry_is_built_anew(tmp_path, damage):
    builder = Builder(Settings(cache_dir=tmp_path))
    first = builder.build(candidate(1))
    library = first.library
    assert library
    index = next(path for path in (tmp_path / "builds" / "index").rglob("*") if path.is_file())
    if damage == "cut":
        library.write_bytes(library.read_bytes()[:100])
    elif damage == "changed":
        library.write_bytes(library.read_bytes()[:-1] + b"\xff")
    elif damage == "removed":
        library.unlink()
    elif damage == "index":
        index.write_bytes(b"\xff\xfe nonsense")
    else:
        builder.cache.blobs.path(index.read_text().strip()).write_bytes(b"{}")
    again = builder.build(candidate(1))
    assert again.build.ok and not again.build.cached and again.library == library
    assert builder.build(candidate(1)).build.cached


@pytest.mark.parametrize(
    "stage", ["scratch/*", "scratch/*/src/kernel.cpp", "scratch/*/out/kernel.o", "scratch/*/out/candidate.so", "index/*/*"]
)
def test_a_builder_killed_at_any_moment_leaves_a_cache_that_works(tmp_path, stage):
    cache = tmp_path / "cache"
    source = tmp_path / "kernel.cpp"
    source.write_text("#include <vector>\n" + text(1))
    child = start(cache, source)
    while child.poll() is None and not any((cache / "builds").glob(stage)):
        pass
    child.send_signal(signal.SIGKILL)
    child.communicate()
    builder = Builder(Settings(cache_dir=cache))
    result = builder.build(read_candidate(source, arch="cpu"))
    assert result.build.ok and result.library and (stage.startswith("index") or not result.build.cached)
    assert builder.build(read_candidate(source, arch="cpu")).build.cached
    sweep(builder.cache.scratch)
    assert not [path for path in leftovers(cache) if path.name.startswith("build-") and (path / "src" / "kernel.cpp").exists()]


def test_a_folder_in_use_is_not_swept_and_an_abandoned_one_is(tmp_path):
    (tmp_path / "build-abandoned" / "out").mkdir(parents=True)
    with scratch_folder(tmp_path) as mine:
        assert sweep(tmp_path) == 1 and mine.is_dir()
    assert not list(tmp_path.iterdir())


def small_disk() -> list[str]:
    """Return a command prefix that mounts a file system of $SIZE bytes at $DISK for what follows; skip where none may."""
    unshare, mount = shutil.which("unshare"), shutil.which("mount")
    script = f'{mount} -t tmpfs -o size=$SIZE none "$DISK" && exec "$@"'
    for flag in ("-m", "-Urm") if unshare and mount else ():
        prefix = [str(unshare), flag, "/bin/sh", "-c", script, "sh"]
        if (
            subprocess.run(
                [*prefix, "true"], env={**ENV, "SIZE": "1m", "DISK": "/mnt"}, capture_output=True, check=False
            ).returncode
            == 0
        ):
            return prefix
    pytest.skip("this user may not mount a small file system to fill")


FULL_DISK = """
import json, subprocess, sys
from pathlib import Path
child, disk, source, arch, mount = sys.argv[1:]
def build():
    done = subprocess.run([sys.executable, child, disk + "/cache", source, arch], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)
code, found = build()
left = [str(p) for p in Path(disk).rglob("*") if p.name.startswith(".tmp-") or p.parent.name == "scratch"]
entries = [str(p) for p in Path(disk).glob("cache/builds/index/*/*")]
subprocess.run([mount, "-o", "remount,size=400m", disk], check=True)
print(json.dumps({"code": code, "found": found, "left": left, "entries": entries, "after": build()}))
"""


@pytest.mark.parametrize("size", ["8k", "100k", "400k"])
def test_a_full_disk_is_an_infrastructure_error_that_leaves_nothing_half_written(tmp_path, size):
    prefix = small_disk()
    source = tmp_path / "kernel.cpp"
    source.write_text("#include <vector>\n#include <string>\nchar big[300000] = {1};\n" + text(1))
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [*prefix, sys.executable, "-c", FULL_DISK, str(CHILD), str(disk), str(source), "cpu", str(shutil.which("mount"))]
    done = subprocess.run(command, env={**ENV, "SIZE": size, "DISK": str(disk)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["code"] == 3 and found["found"]["error"] == "storage" and "space" in found["found"]["message"], found
    assert found["left"] == [] and found["entries"] == []
    code, after = found["after"]
    assert code == 0 and after["ok"] and not after["cached"]


def test_a_cache_folder_that_may_not_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError) as refused:
        Builder(Settings(cache_dir=tmp_path / "file")).build(candidate(1))
    assert refused.value.exit_code == 3 and "file" in refused.value.message
