"""Executed instructions of one call, counted in the process: the same as arithmetic knows."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from ptxbench import arch
from ptxbench.evaluate.proof import counts, decide
from ptxbench.evaluate.sandbox.claims import Counts, Timings
from ptxbench.evaluate.sandbox.launch import Program
from ptxbench.schema import Language

pytestmark = pytest.mark.gpu

COUNTED = Path(__file__).with_name("counted.cu")
SECONDS = 20.0


def test_counts_after_timing_equal_the_analytic_ones(gemm_bench, gemm, loaded):
    m, n, k = 1024, 1024, 512
    bench = gemm_bench(m, n, k)
    listing = json.loads(gemm.artifact("sass").read_text())
    hopper = arch.get("sm_90a")
    with bench.child(Program(Language.CUDA, "run", gemm.library.read_bytes())) as child:
        timed = loaded(child).time([0], 1, 3, "cupti", SECONDS)
        assert isinstance(timed, Timings) and timed.launches
        begun = time.monotonic()
        counted = child.prove(0, SECONDS)
        print(json.dumps({"prove_s": time.monotonic() - begun}))
    expected = bench.inputs[0].astype(np.float32) @ bench.inputs[1].astype(np.float32).T
    assert np.allclose(bench.result().astype(np.float32), expected, atol=1e-2, rtol=1e-2)
    assert isinstance(counted, Counts) and counted.why is None and counted.dropped == 0, counted
    kernels = counts.join(counted, listing, timed.launches)
    assert counts.foreign(kernels) == () and {one.name: one.launches for one in kernels} == timed.launches
    proof = decide.prove(kernels, hopper, "cupti", 2 * m * n * k, present=[op for ops in listing.values() for op in ops])
    assert proof.status == "qualified" and proof.compute and proof.data_movement
    assert proof.work_share == 1.0
    print(proof.model_dump_json())


def test_a_function_that_is_not_inlined_is_counted_with_its_kernel(new_bench, build, loaded):
    result = build(COUNTED)
    bench = new_bench([np.ones(4096, np.float32)], np.zeros(4096, np.float32))
    with bench.child(Program(Language.CUDA, "run", result.library.read_bytes())) as child:
        counted = loaded(child).prove(0, SECONDS)
    assert isinstance(counted, Counts) and counted.why is None, counted
    (kernel,) = counts.join(counted, json.loads(result.artifact("sass").read_text()), {})
    assert (kernel.executed["MUFU.RSQ"].warp, kernel.executed["MUFU.RSQ"].thread_true) == (128, 2048)
    assert counts.foreign([kernel]) == ()
