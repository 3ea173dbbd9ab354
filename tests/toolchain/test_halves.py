"""nvcc's steps, run by us with the device half beside the host half: the same bytes, the same messages, the same limits."""

from __future__ import annotations

import dataclasses
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ptxbench.core.errors import Cancelled, InfrastructureError
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Limits, Source
from ptxbench.toolchain import Builder, Toolchain, locate, read_candidate
from ptxbench.toolchain.compile import BuildFiles, Compilation, How, compile_candidate
from ptxbench.toolchain.policing import PolicyParts
from ptxbench.toolchain.reading import read

FAILING = Path(__file__).with_name("failing")
OFTEN = {"host_only_error", "missing_semicolon", "too_much_shared_memory", "undefined_host_function", "unknown_ptx_modifier"}
KERNELS = """
#include <cuda_fp16.h>
namespace {
__global__ void halved(__half* p) { p[threadIdx.x] = __float2half(float(__LINE__)); }
}
template <int N> __global__ void many(float* p) { for (int i = 0; i < N; ++i) p[i] = sqrtf(p[i]); }
template __global__ void many<3>(float*);
extern "C" __attribute__((visibility("default"))) const char* __tvm_ffi_run(float* p) {
  halved<<<1, 32>>>(reinterpret_cast<__half*>(p));
  many<5><<<1, 1>>>(p);
  return __FILE__;
}
"""
HOST_COMPILER_ERROR = '__global__ void k(int* p) { *p = 1; }\nvoid run() __attribute__((target("nosuch")));\nvoid run() {}\n'
"""cudafe++ takes it, the host compiler does not."""
SLOW_HOST = """
#ifndef __CUDA_ARCH__
template <int A, int B> struct F { static const int v = F<A - 1, B * 2>::v + F<A - 1, B * 2 + 1>::v; };
template <int B> struct F<0, B> { static const int v = B; };
int slow = F<22, 0>::v;
#endif
__global__ void k(int* p) { *p = 1; }
"""


def candidate(text: str) -> Candidate:
    source = Source(path="kernel.cu", content=text)
    return Candidate(sources=(source,), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a")


def compiled(one: Candidate, settings: Settings, folder: Path, how: How, tools: Toolchain | None = None) -> Compilation:
    tools = tools or locate(settings)
    folder.mkdir()
    return compile_candidate(one, tools, PolicyParts(Builder(settings).cache).inputs(tools), folder, Limits(), how=how)


@pytest.mark.parametrize("how", ["halves", "steps"])
def test_we_make_of_nvcc_s_plan_what_nvcc_makes(how, settings, tmp_path):
    ours, theirs = (compiled(candidate(KERNELS), settings, tmp_path / one, one) for one in (how, "nvcc"))
    assert ours.completed.ok and theirs.completed.ok, ours.completed.stderr
    for suffix in (".cubin", ".ptx", ".o", ".cpp1.ii", ".cpp4.ii", ".cudafe1.cpp"):
        mine, other = ours.kept(suffix), theirs.kept(suffix)
        assert mine and other and mine.read_bytes() == other.read_bytes(), suffix
    assert ours.library and theirs.library and ours.library.read_bytes() == theirs.library.read_bytes()
    tools = locate(settings)
    first, second = (read(candidate(KERNELS), tools, one, Limits()) for one in (ours, theirs))
    assert first.kernels == second.kernels and first.said == second.said and len(first.kernels) == 3


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in OFTEN else pytest.mark.slow)
        for path in sorted(FAILING.glob("*.cu"))
        if path.stem != "self_include"
    ],
)
def test_a_failure_is_told_as_nvcc_tells_it(path, settings, tmp_path):
    one = read_candidate(path, arch="sm_90a")
    told = []
    for how in ("halves", "nvcc"):
        made = compiled(one, settings, tmp_path / how, how)
        told.append(read(one, locate(settings), made, Limits()).said)
        assert not made.completed.ok or told[-1].has_error
    assert told[0] == told[1] and told[0].has_error


def test_an_error_that_only_the_host_compiler_sees_is_told_too(settings, tmp_path):
    one = candidate(HOST_COMPILER_ERROR)
    ours, theirs = (compiled(one, settings, tmp_path / how, how) for how in ("halves", "nvcc"))
    first, second = (read(one, locate(settings), made, Limits()).said for made in (ours, theirs))
    assert first == second and "nosuch" in first.records[0].text and first.records[0].stage == "host"


def test_a_host_compiler_that_ends_without_reading_the_stub_keeps_nobody_waiting(settings, tmp_path):
    tools = locate(settings)
    script = tmp_path / "g++"
    refuse = 'echo "kernel.cu:1:1: error: not today" >&2; exit 1'
    script.write_text(f'#!/bin/sh\ncase "$*" in *" -c "*cudafe1.cpp*) {refuse};; esac\nexec {tools.host_compiler} "$@"\n')
    script.chmod(0o755)
    made = compiled(candidate(KERNELS), settings, tmp_path / "out", "halves", dataclasses.replace(tools, host_compiler=script))
    assert not made.completed.ok and made.kept(".cubin") and "not today" in made.completed.stderr
    assert not made.completed.timed_out and made.library is None


class Recorded:
    """Reads nothing, and notes what could be read when: suffixes that were there at each call."""

    def __init__(self, refuse: str = "") -> None:
        self.calls: list[tuple[str, bool, bool]] = []
        self._refuse = refuse

    def _note(self, name: str, files: BuildFiles) -> None:
        self.calls.append((name, files.kept(".cubin") is not None, files.library is not None))
        if name == self._refuse:
            raise InfrastructureError(f"{name} is unreadable")

    def text(self, files: BuildFiles) -> None:
        assert files.kept(".cpp1.ii") and files.kept(".cpp4.ii") and files.kept(".cudafe1.cpp")
        self._note("text", files)

    def device_code(self, files: BuildFiles) -> None:
        self._note("device_code", files)

    def library(self, files: BuildFiles) -> None:
        self._note("library", files)


def read_by(reader: Recorded, text: str, settings: Settings, folder: Path, cancel: threading.Event | None = None) -> Compilation:
    tools = locate(settings)
    folder.mkdir()
    inputs = PolicyParts(Builder(settings).cache).inputs(tools)
    return compile_candidate(candidate(text), tools, inputs, folder, Limits(), cancel, ahead=reader)


def test_a_build_is_read_once_by_each_reader_as_far_as_it_has_come(settings, tmp_path):
    reader = Recorded()
    assert read_by(reader, KERNELS, settings, tmp_path / "out").completed.ok
    assert sorted(name for name, _, _ in reader.calls) == ["device_code", "library", "text"]
    assert {name: cubin for name, cubin, _ in reader.calls if name != "text"} == {"device_code": True, "library": True}
    assert {name: library for name, _, library in reader.calls}["library"]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param("__global__ void k(int* p) { *p = nothing; }\n", [], id="cicc"),
        pytest.param('__global__ void k() { asm volatile("no.such.instruction;"); }\n', ["text"], id="ptxas"),
    ],
)
def test_what_a_build_did_not_come_to_is_read_by_nobody(text, read, settings, tmp_path):
    reader = Recorded()
    assert not read_by(reader, text, settings, tmp_path / "out").completed.ok
    assert [name for name, _, _ in reader.calls if name != "text"] == []
    assert {name for name, _, _ in reader.calls} <= set(read)


@pytest.mark.parametrize("name", ["text", "device_code", "library"])
def test_what_goes_wrong_in_a_reader_reaches_who_asked_for_the_build(name, settings, tmp_path):
    with pytest.raises(InfrastructureError, match=f"{name} is unreadable"):
        read_by(Recorded(refuse=name), KERNELS, settings, tmp_path / "out")


def test_cancelling_ends_both_halves(settings, tmp_path):
    cancel = threading.Event()
    builder = Builder(Settings(cache_dir=tmp_path))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(builder.build, candidate(SLOW_HOST), cancel=cancel)
        # Folders of other compilations come and go meanwhile, which os.walk takes.
        while not any("kernel.cubin" in files for _, _, files in os.walk(tmp_path)):
            assert not running.done(), running.result()
            os.sched_yield()
        cancel.set()
        with pytest.raises(Cancelled):
            running.result(timeout=60)
    assert not list((tmp_path / "builds" / "scratch").iterdir())


def test_the_time_limit_is_of_all_steps_together(tmp_path):
    builder = Builder(Settings(cache_dir=tmp_path))
    (record,) = builder.build(candidate(SLOW_HOST), Limits(compile_s=3)).build.diagnostics
    assert (record.stage, record.code) == ("limit", "time")


def test_a_plan_that_we_do_not_know_is_left_to_nvcc(settings, tmp_path):
    tools = locate(settings)
    script = tmp_path / "nvcc"
    script.write_text(
        f'#!/bin/sh\ncase " $* " in *" --dryrun "*) echo "#$ something else" >&2; exit 0;; esac\nexec {tools.nvcc} "$@"\n'
    )
    script.chmod(0o755)
    made = compiled(candidate(KERNELS), settings, tmp_path / "out", "halves", dataclasses.replace(tools, nvcc=script))
    assert made.completed.ok and made.library, made.completed.stderr


def test_one_job_at_a_time_builds_the_same(settings, tmp_path):
    one = Builder(Settings(cache_dir=tmp_path, jobs=1)).build(candidate(KERNELS)).build
    assert one.ok and one.artifacts == Builder(settings).build(candidate(KERNELS)).build.artifacts
