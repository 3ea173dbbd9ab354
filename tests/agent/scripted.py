"""One small task, and an evaluator that does what a comment in the candidate says. For the mechanics of the engine only."""

import re
from pathlib import Path

from ptxbench.core.canonical import content_hash
from ptxbench.core.errors import InfrastructureError, UnknownTask
from ptxbench.schema import (
    Blame,
    Build,
    Correctness,
    CorrectVerdict,
    Definition,
    Device,
    Diagnostic,
    Evaluation,
    Flag,
    Hashes,
    KernelBuild,
    Latency,
    Limits,
    MismatchPattern,
    Outcome,
    OutputCheck,
    PolicyVerdict,
    Profile,
    Proof,
    Reference,
    ReferenceVersion,
    RunFailure,
    Sampler,
    Sanitizer,
    SanitizerFinding,
    Task,
    Tolerance,
    ToolchainVersions,
    Violation,
    Workload,
    WorstElement,
)

REFERENCE = "def run(X):\n    return 2.0 * X\n"
VERSIONS = ToolchainVersions(nvcc="13.0", ptxas="13.0", host_compiler="g++ 13", nvdisasm="13.2", tvm_ffi="0.1")


def make_task(name="twice", arch="cpu"):
    definition = Definition(
        name=name,
        op_type="elementwise",
        tags=["hidden_tag"],
        axes={"M": {"type": "var"}, "N": {"type": "const", "value": 64}},
        inputs={"X": {"shape": ["M", "N"], "dtype": "float32"}, "factor": {"shape": None, "dtype": "float32"}},
        outputs={"Y": {"shape": ["M", "N"], "dtype": "float32"}},
        reference=REFERENCE.replace("run(X)", "run(X, factor)"),
    )
    workload = Workload(
        uuid=f"{name}-workload", axes={"M": 32}, inputs={"X": {"type": "random"}, "factor": {"type": "scalar", "value": 2.0}}
    )
    return Task(
        name=name,
        family="elementwise",
        arch=arch,
        definition=definition,
        workload=workload,
        reference=Reference(library="NumPy", needs="numpy"),
        tolerance=Tolerance(frobenius={"Y": 1e-6}, derivation="one rounding"),
        samplers={"X": Sampler(kind="normal")},
        limits=Limits(),
        flops=2048,
        bytes=16384,
        work_share=None,
        scale_inputs=True,
        root="/somewhere/of/this/machine",
    )


class OneSuite:
    """A suite of the task ``twice`` and, on a GPU architecture, ``twice_gpu``."""

    hash = "sha256:suite"

    def task(self, selector, arch=None):
        if selector == "twice":
            return make_task(arch=arch or "cpu")
        if selector == "twice_gpu":
            return make_task("twice_gpu", arch or "sm_90a")
        raise UnknownTask(f"unknown task {selector}")


def make_build(arch="cpu", **changes):
    kernel = KernelBuild(
        name="twice",
        mangled="_Z5twice",
        registers=40,
        spill_bytes=8,
        stack_bytes=0,
        shared_bytes=1024,
        opcodes={"HGMMA.64x64x16.F32.BF16": 4, "IADD3": 9},
    )
    fields = {
        "ok": True,
        "cached": False,
        "seconds": 0.5,
        "arch": arch,
        "header": "slim",
        "diagnostics": (),
        "warnings": (),
        "kernels": (kernel,),
        "artifacts": {},
        "toolchain": VERSIONS,
        "key": "sha256:key",
    }
    return Build(**(fields | changes))


def make_latency(speedup=0.5, roofline_us=10.0):
    return Latency(
        candidate_us=100.0,
        reference_us=100.0 * speedup,
        speedup=speedup,
        method="wall",
        trials_us=(100.0,),
        samples_us=(100.0,),
        reference_samples_us=(100.0 * speedup,),
        reference=ReferenceVersion(library="NumPy", version="2.4"),
        clocks=None,
        roofline_us=roofline_us,
    )


def make_evaluation(outcome=Outcome.CORRECT, *, source="sha256:source", task=None, profile=Profile.STRICT, **changes):
    task = task or make_task()
    correct = outcome is Outcome.CORRECT
    decided = None if outcome is None else correct
    fields = {
        "profile": profile,
        "backend": "scripted",
        "task": task.name,
        "workload": task.workload.uuid,
        "axes": task.axes,
        "arch": task.arch,
        "device": Device(name="CPU", id="cpu", driver=None),
        "outcome": outcome,
        "blame": None if correct or outcome is None else Blame.CANDIDATE,
        "undecided": "this machine has no GPU" if outcome is None else None,
        "correct": CorrectVerdict(paper=decided, strict=decided, reasons=()),
        "policy": PolicyVerdict(profile=profile, ok=True, violations=()),
        "build": make_build(task.arch),
        "sanitizer": None,
        "correctness": None,
        "latency": make_latency() if correct else None,
        "proof": None,
        "debug": None,
        "flags": (),
        "hashes": Hashes(source=source, task="sha256:task", toolchain="sha256:toolchain", reference="sha256:reference"),
        "seed": 0,
        "seconds": {"build": 0.5, "compare": 0.1},
    }
    return Evaluation(**(fields | changes))


LOG = "first line\n/usr/lib/python3/site-packages/runner/child.py: abort\nlast line"


def make_failing(outcome, *, task=None):
    """Return a telling evaluation of every outcome; texts hold a path that no model may see."""
    task = task or make_task()
    path = "/secret/host/dir"
    one = {
        Outcome.POLICY_VIOLATION: {
            "policy": PolicyVerdict(
                profile=Profile.STRICT,
                ok=False,
                violations=(
                    Violation(
                        rule="vendor_library", file="kernel.cpp", line=2, text="#include <cublas_v2.h>", profiles=(Profile.STRICT,)
                    ),
                ),
            ),
            "build": None,
        },
        Outcome.COMPILE_ERROR: {
            "build": make_build(
                ok=False,
                diagnostics=(
                    Diagnostic(severity="warning", file="kernel.cpp", line=1, column=1, code=None, text="a warning"),
                    Diagnostic(
                        severity="error", file="kernel.cpp", line=2, column=5, code="20", text='identifier "foo" is undefined'
                    ),
                    Diagnostic(
                        severity="error", file="kernel.cpp", line=3, column=5, code="20", text='identifier "foo" is undefined'
                    ),
                    Diagnostic(
                        severity="error",
                        file=None,
                        line=None,
                        column=None,
                        code=None,
                        text=f"cannot find {path}/libx.so",
                        stage="link",
                    ),
                ),
            )
        },
        Outcome.LOAD_ERROR: {"debug": RunFailure(kind="load", text=f"undefined symbol in {path}/library.so", output=LOG)},
        Outcome.SANITIZER_ERROR: {
            "sanitizer": Sanitizer(
                tool="memcheck",
                status="findings",
                findings=tuple(
                    SanitizerFinding(
                        kind="invalid_global_write",
                        kernel="twice",
                        file="kernel.cpp",
                        line=2,
                        address="0x7f",
                        bytes=4,
                        block=(0, 0, 0),
                        thread=(thread, 0, 0),
                        text="Invalid __global__ write of size 4 bytes",
                    )
                    for thread in range(40)
                ),
            )
        },
        Outcome.RUNTIME_ERROR: {"debug": RunFailure(kind="signal", text="segmentation fault", signal="SIGSEGV", output=LOG)},
        Outcome.TIMEOUT: {"debug": RunFailure(kind="timeout", text="no answer within 10 s", output="")},
        Outcome.WRONG_SHAPE: {
            "correct": CorrectVerdict(paper=False, strict=False, reasons=("Y has shape (1, 2), expected (32, 64)",))
        },
        Outcome.WRONG_DTYPE: {
            "correct": CorrectVerdict(paper=False, strict=False, reasons=("Y has type float64, expected float32",))
        },
        Outcome.WRONG_VALUE: {
            "correct": CorrectVerdict(paper=False, strict=False, reasons=("element rule: 7 elements of Y",)),
            "correctness": Correctness(
                sets=(),
                outputs=(
                    OutputCheck(
                        name="Y",
                        max_abs=1.25,
                        max_rel=0.5,
                        mismatches=7,
                        worst=WorstElement(index=(3, 4), expected=2.5, got=1.25),
                        pattern=MismatchPattern(kind="scaled", text="got is 0.5 times expected"),
                        unwritten=0,
                    ),
                    OutputCheck(name="Z", max_abs=0.0, max_rel=0.0, mismatches=0, worst=None, pattern=None, unwritten=0),
                ),
                inputs_modified=True,
                timed_outputs_checked=0,
            ),
        },
        Outcome.TAMPERED: {"flags": (Flag(code="late_work", text="the device was busy after the call"),)},
        Outcome.CORRECT: {
            "proof": Proof(status="qualified", compute=True, data_movement=None, work_share=0.98, method="cupti", kernels=()),
            "flags": (Flag(code="slow_clock", text=f"see {path}/log"),),
        },
    }
    return make_evaluation(outcome, task=task, **one.get(outcome, {}))


class ScriptedEvaluator:
    """Does what the candidate says: ``// outcome: wrong_value``, ``// speedup: 1.5``, ``// fault: 2`` (faults before a verdict)."""

    backend = "scripted"

    def __init__(self, log: Path | None = None, on_call=None, toolchain="sha256:toolchain"):
        self.calls = []
        self.closed = False
        self._log = log
        self._on_call = on_call
        self._toolchain = toolchain
        self._faults = {}

    async def evaluate(self, candidate, task, options):
        source = candidate.sources[0].content
        self.calls.append(source)
        if self._log is not None:
            with self._log.open("a") as stream:
                stream.write(content_hash(candidate) + "\n")
        if self._on_call is not None:
            self._on_call("begin", source)
        faults = int((re.search(r"// fault: (\d+)", source) or [0, 0])[1])
        seen = self._faults[source] = self._faults.get(source, 0) + 1
        if seen <= faults:
            if seen % 2:
                raise InfrastructureError("the judge in /secret/host/dir/judge died")
            return make_evaluation(None, task=task, blame=Blame.REFERENCE, undecided="the reference failed")
        name = (re.search(r"// outcome: (\w+)", source) or [0, "correct"])[1]
        outcome = None if name == "undecided" else Outcome(name)
        speedup = float((re.search(r"// speedup: ([\d.]+)", source) or [0, "0.5"])[1])
        evaluation = make_evaluation(
            outcome,
            source=candidate.hash,
            task=task,
            profile=options.profile,
            latency=make_latency(speedup) if outcome is Outcome.CORRECT else None,
            hashes=Hashes(source=candidate.hash, task="sha256:task", toolchain=self._toolchain, reference=None),
        )
        if self._on_call is not None:
            self._on_call("end", source)
        return evaluation

    async def close(self):
        self.closed = True
