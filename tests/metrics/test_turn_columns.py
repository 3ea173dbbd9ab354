"""What an evaluation says of its kernels' resources."""

import pytest

from ptxbench.metrics.turn_columns import Resources
from ptxbench.schema import Build, Counters, Evaluation, KernelBuild, KernelCounters, ToolchainVersions


@pytest.fixture
def evaluation():
    """``evaluation(kernels, counters)``: an evaluation with a build of these kernels; None is no build."""

    def make(kernels=(), counters=None):
        build = None
        if kernels is not None:
            versions = ToolchainVersions(nvcc=None, ptxas=None, host_compiler=None, nvdisasm=None, tvm_ffi=None)
            made = tuple(
                KernelBuild(name=str(n), mangled=str(n), registers=r, spill_bytes=s, stack_bytes=0, shared_bytes=0, opcodes={})
                for n, (r, s) in enumerate(kernels)
            )
            said = {"ok": True, "cached": False, "seconds": 1.0, "arch": "sm_90a", "header": "slim", "artifacts": {}, "key": "k"}
            build = Build(diagnostics=(), warnings=(), kernels=made, toolchain=versions, **said)
        nothing = dict.fromkeys(
            ("device", "outcome", "blame", "undecided", "policy", "sanitizer", "correctness", "latency", "proof", "debug")
        )
        hashes = {"source": "s", "task": "t", "toolchain": None, "reference": None}
        known = {"profile": "paper", "backend": "static", "task": "gemm", "workload": "w", "axes": {}, "arch": "sm_90a", "seed": 0}
        verdict = {"paper": None, "strict": None, "reasons": ()}
        rest = {"flags": (), "seconds": {}, "hashes": hashes, "correct": verdict}
        return Evaluation(**nothing, **known, **rest, build=build, counters=counters)

    return make


def test_the_most_registers_and_all_spills_of_the_kernels(evaluation):
    assert Resources.of(evaluation([(168, 0), (64, 8), (90, 16)])) == Resources(168, 24, None)


def test_what_the_compiler_did_not_say_is_unknown_and_not_zero(evaluation):
    assert Resources.of(evaluation([(None, None), (40, None)])) == Resources(40, None, None)
    assert Resources.of(evaluation([])) == Resources.of(evaluation(None)) == Resources(None, None, None)


def test_occupancy_is_that_of_the_kernel_that_took_longest(evaluation):
    counted = Counters(
        kernels=(
            KernelCounters(kernel="main", launches=1, occupancy_percent=18.75),
            KernelCounters(kernel="rest", launches=3, occupancy_percent=90.0),
        )
    )
    assert Resources.of(evaluation([(168, 0)], counted)).occupancy_percent == 18.75
    assert Resources.of(evaluation([(168, 0)], Counters(why="no ncu"))).occupancy_percent is None
