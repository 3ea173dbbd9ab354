"""NVIDIA's tools around a process on a GPU: the findings of faults, counts that arithmetic knows, where kernels hang."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxbench.evaluate.sandbox.child import Answer
from ptxbench.evaluate.tools import debug, locate, ncu, sanitizer
from ptxbench.evaluate.tools.core_dump import core_dump
from ptxbench.schema import ExecutedCount, Limits, RunFailure

pytestmark = pytest.mark.gpu

FAULTS = Path(__file__).parents[1] / "evaluate" / "tools" / "recorded" / "faults.cu"
N = 1000
LIMITS = Limits(sanitize_s=60, prove_s=60, run_s=5)


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(FAULTS.read_text().splitlines(), 1) if text in line)


@pytest.mark.parametrize("entry", ["clean", "handled", "nothing"])
def test_memcheck_accuses_no_clean_call(starting, entry):
    """``handled`` gets an error from ``cudaMalloc`` that it expects."""
    found = sanitizer.memcheck(starting(entry), LIMITS)
    assert (found.status, found.why) == ("clean", None)


@pytest.mark.parametrize(
    ("entry", "kind", "kernel", "text"),
    [
        ("oob_read", "invalid_global_read", "oob_read", "x[i * 2]"),
        ("oob_write", "invalid_global_write", "oob_write", "y[i + Step] = v;"),
        ("misaligned", "misaligned_global_write", "misaligned", "make_float4"),
        ("shared_oob", "invalid_shared_write", "shared_oob", "tile[threadIdx.x + n]"),
        ("null_write", "invalid_global_write", "null_write", "uintptr_t(threadIdx.x)*4"),
        ("bulk_oob", "invalid_global_read", "bulk_oob", "cp.async.bulk"),
        ("trap", "trace_breakpoint_trap", "trap", "y[threadIdx.x] = 1.f;"),  # the hardware names the instruction after it
        ("host_crash", "invalid_global_write", "oob_write", "y[i + Step] = v;"),
        ("exits", "invalid_global_write", "oob_write", "y[i + Step] = v;"),
    ],
)
def test_memcheck_names_kind_kernel_and_line(starting, built, entry, kind, kernel, text):
    found = sanitizer.memcheck(starting(entry), LIMITS, kernels=built.build.kernels)
    assert found.status == "findings", found.why
    first = found.findings[0]
    assert (first.kind, first.kernel, first.file, first.line) == (kind, kernel, "src/faults.cu", line_of(text)), first
    assert first.thread is not None and first.block is not None


def test_memcheck_says_how_far_outside_an_access_was(starting):
    """One float behind an output of exactly 4000 bytes: tensors have allocations of their own."""
    (found,) = sanitizer.memcheck(starting("oob_write"), LIMITS).findings
    assert (found.bytes, found.buffer, found.offset) == (4, "y", 4 * N)
    assert f"(right past the end of y ({4 * N} bytes))" in found.text


def test_a_race_is_found_by_racecheck(starting):
    found = sanitizer.check("racecheck", starting("race"), LIMITS)
    assert found.status == "findings" and found.findings[0].kind == "race_write_read", found


def test_a_hang_under_memcheck_is_unknown_and_leaves_a_usable_gpu(starting):
    found = sanitizer.memcheck(starting("spin"), LIMITS.model_copy(update={"sanitize_s": 4.0}))
    assert (found.status, found.why) == ("unknown", "it took longer than 4 s")
    assert sanitizer.memcheck(starting("clean"), LIMITS).status == "clean"


def test_ncu_counts_what_arithmetic_says(starting, built):
    found = ncu.count(starting("clean"), built.build.kernels, LIMITS)
    assert found.why is None, found.why
    (kernel,) = found.kernels
    assert kernel.name == "_ZN6faults5scaleEPKfPfi" and kernel.launches == 1
    assert kernel.executed["STG.E"] == ExecutedCount(warp=32, thread_true=N)
    (opcodes,) = [one.opcodes for one in built.build.kernels if one.mangled == kernel.name]
    assert kernel.executed.keys() <= opcodes.keys()


def test_ncu_counts_every_launch_of_the_call(starting, built):
    (kernel,) = ncu.count(starting("thrice"), built.build.kernels, LIMITS).kernels
    assert kernel.launches == 3 and kernel.executed["STG.E"] == ExecutedCount(warp=96, thread_true=3 * N)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("nothing", "the call launched no kernel"),
        ("null_write", "the candidate failed under it"),
        ("host_crash", "the candidate failed under it"),
    ],
)
def test_ncu_without_counts_is_unknown(starting, built, entry, why):
    found = ncu.count(starting(entry), built.build.kernels, LIMITS)
    assert found.kernels == () and found.why is not None and found.why.startswith(why), found.why


def test_ncu_gives_up_a_hang(starting, built):
    found = ncu.count(starting("spin"), built.build.kernels, LIMITS.model_copy(update={"prove_s": 5.0}))
    assert (found.kernels, found.why) == ((), "it took longer than 5 s")


def test_an_illegal_address_is_explained_with_its_line(starting):
    with starting("null_write")() as child:
        assert isinstance(child.load(), Answer)
        failure = child.call([0], 10)
    assert isinstance(failure, RunFailure) and failure.kind == "cuda_error", failure
    found = debug.explain(failure, None, starting("null_write"), LIMITS)
    assert found is not None and found.kind == "cuda_error"
    assert f"in null_write at src/faults.cu:{line_of('uintptr_t(threadIdx.x)*4')}" in found.text


def test_a_hang_is_explained_with_kernel_block_thread_and_line(starting, settings):
    locate.cuda_gdb(settings)
    found = debug.explain(RunFailure(kind="timeout", text="the call took longer than 5 s"), None, starting("bad_barrier"), LIMITS)
    assert found is not None and found.text.startswith("the call took longer than 5 s; 256 threads of faults::bad_barrier")
    (stuck,) = found.stuck
    assert (stuck.kernel, stuck.grid, stuck.block_dim) == ("faults::bad_barrier()", (4, 1, 1), (64, 1, 1))
    assert (stuck.file, stuck.line, stuck.threads) == ("src/faults.cu", line_of("mbarrier.try_wait"), 256)
    assert (stuck.block, stuck.thread) == ((0, 0, 0), (0, 0, 0))


def test_a_child_whose_driver_may_dump_is_confined_like_any_other(starting):
    with core_dump() as dump, starting("clean")(dump.tool) as child:
        held = child.protections
    assert held["limits"] and held["no_new_privs"] and held["landlock"] and held["seccomp"]
    assert held["user"] is not None or not held["root"]


def test_tools_say_their_versions(hopper_gpu, settings):
    for program in (locate.compute_sanitizer(settings), locate.ncu(settings), locate.cuda_gdb(settings)):
        assert locate.version(program) is not None, program
