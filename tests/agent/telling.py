"""A telling evaluation of every outcome on a GPU, the candidate that it is of, and hardware counters."""

from ptxbench.schema import (
    Candidate,
    Correctness,
    CorrectVerdict,
    Counters,
    Device,
    Diagnostic,
    ExecutedCount,
    Flag,
    InputSetCheck,
    KernelBuild,
    KernelCounters,
    KernelProof,
    Language,
    MismatchPattern,
    Outcome,
    OutputCheck,
    PolicyVerdict,
    Profile,
    Proof,
    RunFailure,
    Sanitizer,
    SanitizerFinding,
    Source,
    Stall,
    StuckThreads,
    Violation,
    WorstElement,
)

HOST = "/srv/judge/tree/build-7"


SOURCE = """\
#include <cuda_runtime.h>
#include <cublas_v2.h>
#include <tvm/ffi/tvm_ffi.h>

template <int N>
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * N + threadIdx.x;
  while (*(volatile int*)y == 7) {
  }
  y[i] = 2.0f * x[i] + missing;
}

void run(tvm::ffi::TensorView X, tvm::ffi::TensorView Y) {
  twice<256><<<8, 256>>>((const float*)X.data_ptr(), (float*)Y.data_ptr(), 2048);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


CANDIDATE = Candidate(
    sources=(Source(path="kernel.cu", content=SOURCE),), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a"
)


KERNELS = (
    KernelBuild(
        name="twice<256>(float const*, float*, int)",
        mangled="_Z5twiceILi256EEvPKfPfi",
        registers=168,
        spill_bytes=64,
        stack_bytes=80,
        shared_bytes=49152,
        opcodes={"HGMMA.64x256x16.F32.BF16": 8, "UTMALDG.2D": 2, "IADD3": 90},
    ),
    KernelBuild(name="fill", mangled="_Z4fill", registers=None, spill_bytes=0, stack_bytes=0, shared_bytes=0, opcodes={"ST": 1}),
)


WARNING = Diagnostic(
    severity="warning",
    file="kernel.cu",
    line=10,
    column=None,
    code="C7510",
    text="Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources",
    stage="ptxas",
)


LOG = f"first line\n{HOST}/runner/child.py: abort\nlast line"


COUNTERS = Counters(
    kernels=(
        KernelCounters(
            kernel="twice<256>(float const*, float*, int)",
            launches=1,
            duration_us=1234.56,
            sm_percent=61.2,
            dram_percent=12.5,
            tensor_percent=58.75,
            occupancy_percent=18.7,
            shared_conflicts=12288,
            shared_accesses=65536,
            stalls=(Stall(reason="gmma", share=0.375), Stall(reason="barrier", share=0.1875), Stall(reason="unheard", share=0.02)),
        ),
        KernelCounters(
            kernel=f"{HOST}/fill", launches=2, duration_us=40.96, dram_percent=80.0, shared_conflicts=1, shared_accesses=1000
        ),
        KernelCounters(kernel="silent", launches=1),
    ),
    left_out=("sm__of_another_ncu.sum",),
)


def error(line, text, severity="error", file="kernel.cu", stage="front", column=5):
    return Diagnostic(severity=severity, file=file, line=line, column=column, code=None, text=text, stage=stage)


def finding(thread, line, kind="invalid_global_write", **changes):
    fields = {
        "kind": kind,
        "kernel": "twice<256>",
        "file": "kernel.cu",
        "line": line,
        "address": "0x7f0000002000",
        "bytes": 4,
        "block": (7, 0, 0),
        "thread": (thread, 0, 0),
        "text": f"global write that is out of bounds: 4 bytes at {HOST}/kernel.cu:{line}",
        "buffer": "Y",
        "offset": 8192 + 128,
    }
    return SanitizerFinding(**(fields | changes))


def records(scripted, outcome):
    """Return a telling evaluation of every outcome on a GPU; its texts hold paths of the judge's machine."""
    task = scripted.make_task(arch="sm_90a").model_copy(update={"work_share": (0.99, 1.07)})
    build = scripted.make_build("sm_90a", kernels=KERNELS, warnings=(WARNING,))
    rows = {
        Outcome.POLICY_VIOLATION: {
            "build": None,
            "policy": PolicyVerdict(
                profile=Profile.STRICT,
                ok=False,
                violations=(
                    Violation(
                        rule="vendor_library", file="kernel.cu", line=2, text="#include <cublas_v2.h>", profiles=tuple(Profile)
                    ),
                    Violation(
                        rule="vendor_library", file="kernel.cu", line=9, text="#include <cublas_v2.h>", profiles=tuple(Profile)
                    ),
                    Violation(
                        rule="vendor_library", file="kernel.cu", line=12, text="cublasCreate(&h);", profiles=(Profile.STRICT,)
                    ),
                    Violation(
                        rule="needed_library", file=None, line=None, text=f"{HOST}/libcublas.so.13", profiles=(Profile.STRICT,)
                    ),
                ),
            ),
        },
        Outcome.COMPILE_ERROR: {
            "build": scripted.make_build(
                "sm_90a",
                ok=False,
                kernels=(),
                diagnostics=(
                    error(7, 'variable "n" was declared but never referenced', "warning"),
                    error(10, 'identifier "missing" is undefined'),
                    error(14, 'detected during instantiation of "void twice<N>(...) [with N=256]"', "note"),
                    error(10, 'identifier "missing" is undefined'),
                    error(88, "a header is wrong", file=f"{HOST}/include/cuda/ptx"),
                    error(9, "Illegal modifier '.async' for instruction 'cp'", stage="ptxas", column=None),
                    error(None, f"cannot find {HOST}/libx.so", file=None, stage="link", column=None),
                ),
            )
        },
        Outcome.LOAD_ERROR: {"debug": RunFailure(kind="load", text=f"undefined symbol in {HOST}/library.so", output=LOG)},
        Outcome.SANITIZER_ERROR: {
            "sanitizer": Sanitizer(
                tool="memcheck",
                status="findings",
                findings=(
                    *(finding(thread, 10) for thread in range(3)),
                    finding(1, 8, "invalid_global_read", offset=-16, bytes=16),
                    finding(2, 7, "misaligned_global_read", buffer=None, offset=None),
                    finding(3, 6, buffer="Y", offset=8190, bytes=4),
                    finding(3, 5, buffer="unheard", offset=8190, bytes=1),
                ),
            )
        },
        Outcome.RUNTIME_ERROR: {"debug": RunFailure(kind="signal", text="segmentation fault", signal="SIGSEGV", output=LOG)},
        Outcome.TIMEOUT: {
            "correct": CorrectVerdict(paper=False, strict=False, reasons=("compare: the call took longer than 10 s",)),
            "debug": RunFailure(
                kind="timeout",
                text="the call took longer than 10 s; 2016 threads of twice<256> stand at kernel.cu:8",
                stuck=(
                    StuckThreads(
                        kernel="twice<256>",
                        grid=(8, 1, 1),
                        block_dim=(256, 1, 1),
                        file="kernel.cu",
                        line=8,
                        threads=2016,
                        block=(0, 0, 0),
                        thread=(0, 0, 0),
                    ),
                    StuckThreads(
                        kernel="twice<256>",
                        grid=(8, 1, 1),
                        block_dim=(256, 1, 1),
                        file=None,
                        line=None,
                        threads=1,
                        block=(7, 0, 0),
                        thread=(224, 0, 0),
                    ),
                ),
            ),
        },
        Outcome.WRONG_SHAPE: {
            "correct": CorrectVerdict(paper=False, strict=False, reasons=("Y has shape (1, 2), expected (32, 64)",))
        },
        Outcome.WRONG_DTYPE: {
            "correct": CorrectVerdict(paper=False, strict=False, reasons=("Y has type float64, expected float32",))
        },
        Outcome.WRONG_VALUE: {
            "correct": CorrectVerdict(
                paper=True, strict=False, reasons=("strict: Y: relative Frobenius error 0.1 is above 1e-06",)
            ),
            "correctness": Correctness(
                sets=tuple(
                    InputSetCheck(
                        name=name, seed=1, max_abs=1.0, max_rel=1.0, mismatches=9, elements=2048, paper=True, strict=strict
                    )
                    for name, strict in (("published", True), ("scaled", False), ("published", True))
                ),
                outputs=(
                    OutputCheck(
                        name="Y",
                        max_abs=1.25,
                        max_rel=0.5,
                        mismatches=700,
                        unwritten=3,
                        frobenius=0.1,
                        worst=WorstElement(index=(3, 4), expected=2.5, got=1.25),
                        pattern=MismatchPattern(kind="confined", text="700 of 2048 elements (34.2 %) wrong, all in rows 0 to 10"),
                    ),
                    OutputCheck(name="Z", max_abs=0.0, max_rel=0.0, mismatches=0, worst=None, pattern=None, unwritten=0),
                ),
                inputs_modified=True,
                timed_outputs_checked=0,
                guard_bytes_changed=16,
            ),
        },
        Outcome.TAMPERED: {
            "correct": CorrectVerdict(paper=True, strict=False, reasons=("strict: 3 timed calls did nothing on the device",)),
            "flags": (
                Flag(code="late_work", text=f"work went on after the call, see {HOST}/log"),
                Flag(code="weak_sandbox", text="x"),
            ),
        },
        Outcome.CORRECT: {
            "latency": scripted.make_latency(1.25).model_copy(update={"paired_speedup": 1.26, "method": "cupti"}),
            "proof": Proof(
                status="qualified",
                compute=True,
                data_movement=None,
                work_share=0.41,
                method="cupti",
                mutation="right",
                kernels=(
                    KernelProof(
                        name="_Z5twiceILi256EEvPKfPfi",
                        launches=1,
                        executed={
                            "HGMMA.64x256x16.F32.BF16": ExecutedCount(warp=4096, thread_true=131072),
                            "UTMALDG.2D": ExecutedCount(warp=12, thread_true=0),
                        },
                    ),
                ),
            ),
            "flags": (
                Flag(code="work_share", text="less"),
                Flag(code="movement_share", text="the tensor copies moved 12 bytes at most"),
                Flag(code="reference_drift", text="the reference changed by 3 %"),
            ),
        },
        None: {},
    }
    fields = {"build": build, "device": Device(name="NVIDIA H200", id="h200", driver="580")} | rows[outcome]
    return task, scripted.make_evaluation(outcome, task=task, **fields)
