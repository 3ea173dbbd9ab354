"""A candidate's process on a GPU: what it is lent, what it answers, what it cannot do, and what is left of it.

The judge's side is a few calls of the driver here, so that no torch is needed.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxbench import arch
from ptxbench.core.errors import DeviceMemoryFull, JudgeError
from ptxbench.core.settings import Settings
from ptxbench.evaluate.cupti import locate as locate_cupti
from ptxbench.evaluate.proof import counts, decide
from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.claims import Counts, Timings
from ptxbench.evaluate.sandbox.launch import DeviceSetup, LentBuffer, Program
from ptxbench.schema import Candidate, Language, Limits, RunFailure, Source
from ptxbench.toolchain import Builder, BuildResult, locate

pytestmark = pytest.mark.gpu

CANDIDATES = Path(__file__).parent / "child" / "candidates.cu"
COUNTED = CANDIDATES.with_name("counted.cu")
GEMM = Path(__file__).parents[2] / "kernels" / "sm_90a" / "gemm_bf16" / "kernel.cu"
N = 1 << 20
GUARD = 4096
SECONDS = 20.0


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", _Location),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class Gpu:
    """The judge's side: memory that can be lent, written and read."""

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context, uuid, major = ctypes.c_int(), ctypes.c_void_p(), (ctypes.c_ubyte * 16)(), ctypes.c_int()
        self.run("cuInit", 0)
        self.run("cuDeviceGet", ctypes.byref(device), 0)
        self.run("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
        self.run("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.run("cuCtxSetCurrent", context)
        self.run("cuDeviceGetUuid_v2", uuid, device)
        text = bytes(uuid).hex()
        self.major = major.value
        self.uuid = "GPU-" + "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def run(self, name: str, *arguments: Any) -> None:
        code = self.cuda[name](*arguments)
        assert code == 0, f"{name} gave error {code}"

    def free_bytes(self) -> int:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.run("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value


class Memory:
    """One allocation with a descriptor that can be lent."""

    def __init__(self, gpu: Gpu, size: int) -> None:
        self._gpu = gpu
        self.size = -(-size // (2 << 20)) * (2 << 20)
        properties = _Properties(type=1, handles=1, location=_Location(1, 0))
        self._handle, self.address, descriptor = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_int()
        length, none = ctypes.c_size_t(self.size), ctypes.c_uint64(0)
        gpu.run("cuMemCreate", ctypes.byref(self._handle), length, ctypes.byref(properties), none)
        gpu.run("cuMemAddressReserve", ctypes.byref(self.address), length, ctypes.c_size_t(0), none, none)
        gpu.run("cuMemMap", self.address, length, ctypes.c_size_t(0), self._handle, none)
        access = _Access(_Location(1, 0), 3)
        gpu.run("cuMemSetAccess", self.address, length, ctypes.byref(access), ctypes.c_size_t(1))
        gpu.run("cuMemExportToShareableHandle", ctypes.byref(descriptor), self._handle, 1, none)
        self.descriptor = descriptor.value

    def write(self, offset: int, data: np.ndarray) -> None:
        data = np.ascontiguousarray(data)
        source = ctypes.c_void_p(data.ctypes.data)
        self._gpu.run("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address.value + offset), source, ctypes.c_size_t(data.nbytes))

    def read(self, offset: int, count: int, dtype: Any) -> np.ndarray:
        data = np.empty(count, dtype)
        source = ctypes.c_uint64(self.address.value + offset)
        self._gpu.run("cuMemcpyDtoH_v2", ctypes.c_void_p(data.ctypes.data), source, ctypes.c_size_t(data.nbytes))
        return data

    def close(self) -> None:
        os.close(self.descriptor)
        length = ctypes.c_size_t(self.size)
        self._gpu.run("cuMemUnmap", self.address, length)
        self._gpu.run("cuMemAddressFree", self.address, length)
        self._gpu.run("cuMemRelease", self._handle)


class Bench:
    """Inputs and outputs of one candidate in lent memory, ``slots`` sets of them, and the child to run it."""

    def __init__(self, gpu: Gpu, libraries: tuple[str, ...], inputs: list[np.ndarray], output: np.ndarray, slots: int = 1) -> None:
        self._libraries, self._gpu = libraries, gpu
        self.inputs, self.output, self.slots = inputs, output, slots
        self.arguments: list[list[dict[str, Any]]] = []
        room = [0, 0]
        for _ in range(slots):
            slot = []
            for buffer, array in [*((0, array) for array in inputs), (1, output)]:
                offset = room[buffer] + GUARD
                room[buffer] = -(-(offset + array.nbytes + GUARD) // 256) * 256
                slot.append({"buffer": buffer, "offset": offset, "shape": list(array.shape), "dtype": array.dtype.name})
            self.arguments.append(slot)
        self.memory = [Memory(gpu, size) for size in room]
        for slot in range(slots):
            self.write(slot)

    def write(self, slot: int) -> None:
        for argument, array in zip(self.arguments[slot], self.inputs, strict=False):
            self.memory[0].write(argument["offset"], array)
        self.memory[1].write(self.arguments[slot][-1]["offset"], np.full(self.output.nbytes, 0xFF, np.uint8))

    def result(self, slot: int = 0) -> np.ndarray:
        return (
            self.memory[1].read(self.arguments[slot][-1]["offset"], self.output.size, self.output.dtype).reshape(self.output.shape)
        )

    def setup(self, **changes: Any) -> DeviceSetup:
        given: dict[str, Any] = {
            "uuid": self._gpu.uuid,
            "buffers": tuple(LentBuffer(one.descriptor, one.size, bool(place)) for place, one in enumerate(self.memory)),
            "arguments": self.arguments,
            "flush_bytes": 128 << 20,
            "exact": False,
            "cupti": locate_cupti(Settings()),
            "libraries": self._libraries,
        }
        return DeviceSetup(**given | changes)

    def child(self, program: Program, limits: Limits | None = None, **changes: Any) -> Child:
        return Child(program, None, limits or Limits(), device=self.setup(**changes))

    def close(self) -> None:
        for one in self.memory:
            one.close()


@pytest.fixture(scope="module")
def gpu() -> Gpu:
    """The first GPU; the tests are skipped, by name, where there is none of compute capability 9.0."""
    try:
        one = Gpu()
    except (OSError, AssertionError) as error:
        pytest.skip(f"no GPU can be used: {error}")
    if one.major != 9:
        pytest.skip(f"the GPU has compute capability {one.major}.x, not 9.0")
    return one


@pytest.fixture(scope="module")
def libraries(settings: Settings) -> tuple[str, ...]:
    return (str(locate(settings).cudart),)


@pytest.fixture(scope="module")
def program(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Program]:
    """A program that calls one of the small candidates; they are compiled once, without the policy in front of them."""
    tools = locate(settings)
    library = tmp_path_factory.mktemp("candidates") / "candidates.so"
    command = [str(tools.nvcc), "-O3", "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-shared", "-cudart", "none"]
    command += ["-Xcompiler", "-fPIC", "-isystem", str(tools.tvm_include), f"-L{tools.cudart.parent}", f"-l:{tools.cudart.name}"]
    subprocess.run([*command, "-ccbin", str(tools.host_compiler), str(CANDIDATES), "-o", str(library)], check=True)
    data = library.read_bytes()
    return lambda name: Program(Language.CUDA, name, data)


@pytest.fixture
def vectors(gpu: Gpu, libraries: tuple[str, ...]) -> Iterator[Bench]:
    """Two sets of a vector to read and one to write."""
    one = np.random.default_rng(0).standard_normal(N, np.float32)
    bench = Bench(gpu, libraries, [one], np.zeros(N, np.float32), slots=2)
    yield bench
    bench.close()


def built(settings: Settings, path: Path) -> BuildResult:
    source = Source(path="kernel.cu", content=path.read_text())
    candidate = Candidate(sources=(source,), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a")
    result = Builder(settings).build(candidate)
    assert result.build.ok and result.library, result.build.diagnostics
    return result


@pytest.fixture(scope="module")
def gemm(settings: Settings) -> BuildResult:
    return built(settings, GEMM)


def loaded(child: Child) -> Child:
    assert isinstance(child.load(), Answer)
    return child


def test_reads_what_is_lent_and_writes_where_the_judge_looks(vectors, program):
    with vectors.child(program("add")) as child:
        loaded(child)
        assert child.first_launch_s is None
        for slot in range(2):
            answer = child.call([slot], SECONDS)
            assert isinstance(answer, Answer) and answer.pending is None and answer.claimed_ns[0] > 0
            assert np.array_equal(vectors.result(slot), vectors.inputs[0] + 1)
        assert child.first_launch_s is not None and child.first_launch_s > 0
        assert child.protections["limits"] and child.protections["no_new_privs"]
        print(json.dumps({"start_s": child.start_s, "first_launch_s": child.first_launch_s, "protections": child.protections}))


def test_times_by_activity_whatever_stream_the_work_is_on(vectors, program):
    with vectors.child(program("spreads")) as child:
        found = loaded(child).time([0, 1], 3, 20, "cupti", SECONDS)
        assert isinstance(found, Timings) and found.why is None, found
        assert found.method == "cupti" and len(found.ns) == 20 and min(found.ns) > 0
        assert sum(found.launches.values()) == 2 and all("add_one" in name for name in found.launches)
        assert found.late == found.empty == 0
        again = child.time([0], 0, 1, "cupti", SECONDS)
        assert isinstance(again, Timings) and len(again.ns) == 1


def test_outputs_are_poisoned_before_each_timed_call_and_written_by_it(vectors, program):
    with vectors.child(program("add")) as child:
        assert isinstance(loaded(child).time([0], 0, 2, "cupti", SECONDS), Timings)
        assert np.array_equal(vectors.result(), vectors.inputs[0] + 1)
    with vectors.child(program("idles")) as child:
        assert isinstance(loaded(child).time([1], 0, 2, "cupti", SECONDS), Timings)
        assert np.isnan(vectors.result(1)).all()


def test_events_and_activity_tell_the_same_time_of_a_long_kernel(gpu, libraries, gemm):
    bench = gemm_bench(gpu, libraries, 4096, 4096, 4096)
    with bench.child(Program(Language.CUDA, "run", gemm.library.read_bytes())) as child:
        loaded(child)
        by = {method: child.time([0], 3, 10, method, SECONDS) for method in ("cupti", "events")}
    bench.close()
    assert all(isinstance(found, Timings) and found.method == method for method, found in by.items()), by
    medians = {method: float(np.median(found.ns)) for method, found in by.items()}
    assert medians["events"] == pytest.approx(medians["cupti"], rel=0.2)


def test_calls_that_do_nothing_are_counted_as_empty(vectors, program):
    with vectors.child(program("idles")) as child:
        found = loaded(child).time([0], 1, 5, "cupti", SECONDS)
        assert isinstance(found, Timings)
        assert found.ns == (0,) * 5 and found.empty == 5 and found.launches == {} and found.late == 0


def test_work_outside_of_every_call_is_late(vectors, program):
    with vectors.child(program("lingers")) as child:
        found = loaded(child).time([0], 1, 20, "cupti", SECONDS)
        assert isinstance(found, Timings) and found.late > 0


def test_without_cupti_there_is_a_reason_and_events_still_work(vectors, program):
    with vectors.child(program("add"), cupti=None) as child:
        found = loaded(child).time([0], 0, 2, "cupti", SECONDS)
        assert isinstance(found, Timings) and found.method is None and "not installed" in (found.why or "")
        assert isinstance(child.time([0], 0, 2, "events", SECONDS), Timings)
        counted = child.prove(0, SECONDS)
        assert isinstance(counted, Counts) and counted.why and not counted.functions and not counted.permission


def gemm_bench(gpu, libraries, m, n, k):
    import ml_dtypes

    chance = np.random.default_rng(1)
    a, b = (chance.standard_normal(shape, np.float32).astype(ml_dtypes.bfloat16) for shape in ((m, k), (n, k)))
    return Bench(gpu, libraries, [a, b], np.zeros((m, n), ml_dtypes.bfloat16))


def test_counts_after_timing_equal_the_analytic_ones(gpu, libraries, gemm):
    m, n, k = 1024, 1024, 512
    bench = gemm_bench(gpu, libraries, m, n, k)
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
    bench.close()
    assert isinstance(counted, Counts) and counted.why is None and counted.dropped == 0, counted
    kernels = counts.join(counted, listing, timed.launches)
    assert counts.foreign(kernels) == () and {one.name: one.launches for one in kernels} == timed.launches
    proof = decide.prove(kernels, hopper, "cupti", 2 * m * n * k, present=[op for ops in listing.values() for op in ops])
    assert proof.status == "qualified" and proof.compute and proof.data_movement
    assert proof.work_share == 1.0
    print(proof.model_dump_json())


def test_a_function_that_is_not_inlined_is_counted_with_its_kernel(gpu, libraries, settings):
    result = built(settings, COUNTED)
    bench = Bench(gpu, libraries, [np.ones(4096, np.float32)], np.zeros(4096, np.float32))
    with bench.child(Program(Language.CUDA, "run", result.library.read_bytes())) as child:
        counted = loaded(child).prove(0, SECONDS)
    bench.close()
    assert isinstance(counted, Counts) and counted.why is None, counted
    (kernel,) = counts.join(counted, json.loads(result.artifact("sass").read_text()), {})
    assert (kernel.executed["MUFU.RSQ"].warp, kernel.executed["MUFU.RSQ"].thread_true) == (128, 2048)
    assert counts.foreign([kernel]) == ()


def test_a_fault_is_named_and_the_gpu_goes_on(vectors, program):
    with vectors.child(program("faults")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and failure.kind == "cuda_error"
        assert failure.text.startswith("CUDA error 700 (CUDA_ERROR_ILLEGAL_ADDRESS): ")
        assert child.call([0], SECONDS) is failure
    with vectors.child(program("add")) as child:
        assert isinstance(loaded(child).call([0], SECONDS), Answer)
        assert np.array_equal(vectors.result(), vectors.inputs[0] + 1)


def test_a_hang_costs_its_process_and_gives_the_memory_back(gpu, vectors, program):
    free = gpu.free_bytes()
    with vectors.child(program("hangs")) as child:
        failure = loaded(child).call([0], 1.0)
        assert isinstance(failure, RunFailure) and failure.kind == "timeout"
        assert gpu.free_bytes() < free
    assert not Path(f"/proc/{child.pid}").exists()
    assert gpu.free_bytes() == free
    with vectors.child(program("add")) as child:
        assert isinstance(loaded(child).call([1], SECONDS), Answer)
        assert np.array_equal(vectors.result(1), vectors.inputs[0] + 1)


def test_what_a_candidate_raises_and_how_it_ends_is_told(vectors, program):
    with vectors.child(program("raises")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and (failure.kind, failure.text) == ("exception", "ValueError: not today")
    with vectors.child(program("exits")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and (failure.kind, failure.exit_code) == ("exit", 7)
    with vectors.child(program("greedy")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and "out of memory" in failure.text
    with vectors.child(program("nowhere")) as child:
        failure = child.load()
        assert isinstance(failure, RunFailure) and failure.kind == "missing_symbol"


def test_a_launch_that_was_refused_is_told_though_the_candidate_did_not_look(vectors, program):
    with vectors.child(program("refused")) as child:
        answer = loaded(child).call([0], SECONDS)
        assert isinstance(answer, Answer) and "cudaErrorInvalid" in (answer.pending or "")
        assert np.isnan(vectors.result()).all()


def test_clusters_pools_and_plain_allocations_work_in_the_sandbox(vectors, program):
    with vectors.child(program("clusters")) as child:
        for slot in (0, 1, 0):
            answer = loaded(child).call([slot], SECONDS) if child.first_launch_s is None else child.call([slot], SECONDS)
            assert isinstance(answer, Answer), answer
            assert np.array_equal(vectors.result(slot), vectors.inputs[0] + 1)


def test_inputs_are_read_only(vectors, program):
    with vectors.child(program("writes_input")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure) and failure.kind == "cuda_error"
    assert np.array_equal(vectors.memory[0].read(vectors.arguments[0][0]["offset"], N, np.float32), vectors.inputs[0])


def test_rights_that_a_candidate_gives_itself_change_only_what_the_judge_compares(vectors, program):
    with vectors.child(program("widens")) as child:
        answer = loaded(child).call([0], SECONDS)
        seen = vectors.memory[0].read(vectors.arguments[0][0]["offset"], N, np.float32)
        assert np.array_equal(seen, vectors.inputs[0]) is isinstance(answer, RunFailure)


def test_a_candidate_finds_every_door_closed_in_all_its_threads(vectors, program):
    with vectors.child(program("pries")) as child:
        failure = loaded(child).call([0], SECONDS)
        assert isinstance(failure, RunFailure)
        if child.protections["root"] and child.protections["landlock"] >= 6 and child.protections["seccomp"]:
            assert failure.text == "Report"


def test_exact_copies_leave_the_lent_memory_alone(vectors, program):
    with vectors.child(program("add"), exact=True, flush_bytes=0) as child:
        assert isinstance(loaded(child).call([0], SECONDS), Answer)
        assert np.isnan(vectors.result()).all()


def test_a_child_that_is_let_go_ends_by_itself(vectors, program):
    with vectors.child(program("add")) as child:
        loaded(child).call([0], SECONDS)
        assert child.finish(SECONDS) == 0
    assert not Path(f"/proc/{child.pid}").exists()


def test_what_cannot_be_lent_or_allocated_is_our_failure(vectors, program):
    short = LentBuffer(vectors.memory[0].descriptor, vectors.memory[0].size * 64, False)
    with pytest.raises(JudgeError, match="CUDA error"):
        vectors.child(program("add"), buffers=(short, vectors.setup().buffers[1]))
    with pytest.raises(DeviceMemoryFull, match="CUDA_ERROR_OUT_OF_MEMORY"):
        vectors.child(program("add"), flush_bytes=1 << 43)
    with pytest.raises(JudgeError, match=r"CUDA_ERROR_(NO|INVALID)_DEVICE"):
        vectors.child(program("add"), uuid="GPU-00000000-0000-0000-0000-000000000000")


def test_a_child_ends_with_its_judge_even_in_a_kernel_that_never_ends(gpu, vectors, program, tmp_path):
    free = gpu.free_bytes()
    judge = os.fork()
    if judge == 0:  # a judge of its own: it inherits what is lent, and never touches the GPU
        with vectors.child(program("hangs")) as child:
            loaded(child)
            (tmp_path / "started").write_text(str(child.pid))
            (tmp_path / "started").rename(tmp_path / "pid")
            child.call([0], 600.0)
        os._exit(0)
    try:
        while not (tmp_path / "pid").exists() or gpu.free_bytes() == free:
            os.sched_yield()
        waited = os.pidfd_open(int((tmp_path / "pid").read_text()))
    finally:
        os.kill(judge, signal.SIGKILL)
        os.waitpid(judge, 0)
    import select

    poll = select.poll()
    poll.register(waited, select.POLLIN)
    assert poll.poll(20_000), "the child outlived its judge"
    os.close(waited)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
