"""A candidate's process on a GPU without a judge around it: the memory that it is lent, and small candidates to run in it.

The judge's side is a few calls of the driver here, so that no torch is needed.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ptxbench.core.settings import Settings
from ptxbench.evaluate.cupti import locate as locate_cupti
from ptxbench.evaluate.sandbox.child import Answer, Child
from ptxbench.evaluate.sandbox.launch import DeviceSetup, LentBuffer, Program
from ptxbench.schema import Candidate, Language, Limits, Source
from ptxbench.toolchain import Builder, BuildResult, locate

CANDIDATES = Path(__file__).with_name("candidates.cu")
GEMM = Path(__file__).parents[3] / "kernels" / "sm_90a" / "gemm_bf16" / "kernel.cu"
N = 1 << 20
GUARD = 4096


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
            for number, (buffer, array) in enumerate([*((0, array) for array in inputs), (1, output)]):
                offset = room[buffer] + GUARD
                room[buffer] = -(-(offset + array.nbytes + GUARD) // 256) * 256
                place = {"name": f"argument{number}", "buffer": buffer, "offset": offset}
                slot.append({**place, "shape": list(array.shape), "dtype": array.dtype.name})
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
    """What a candidate is linked with."""
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
def new_bench(gpu: Gpu, libraries: tuple[str, ...]) -> Iterator[Callable[..., Bench]]:
    """Lend memory for inputs and an output, and give it back at the end."""
    made = []

    def make(inputs: list[np.ndarray], output: np.ndarray, slots: int = 1) -> Bench:
        made.append(Bench(gpu, libraries, inputs, output, slots))
        return made[-1]

    yield make
    for bench in made:
        bench.close()


@pytest.fixture
def vectors(new_bench: Callable[..., Bench]) -> Bench:
    """Two sets of a vector to read and one to write."""
    one = np.random.default_rng(0).standard_normal(N, np.float32)
    return new_bench([one], np.zeros(N, np.float32), slots=2)


@pytest.fixture
def gemm_bench(new_bench: Callable[..., Bench]) -> Callable[[int, int, int], Bench]:
    """Matrices of a product: bfloat16, the second one transposed."""

    def make(m: int, n: int, k: int) -> Bench:
        chance = np.random.default_rng(1)
        a, b = (chance.standard_normal(shape, np.float32).astype(ml_dtypes.bfloat16) for shape in ((m, k), (n, k)))
        return new_bench([a, b], np.zeros((m, n), ml_dtypes.bfloat16))

    return make


def built(settings: Settings, path: Path) -> BuildResult:
    """Build a file in CUDA."""
    source = Source(path="kernel.cu", content=path.read_text())
    candidate = Candidate(sources=(source,), entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a")
    result = Builder(settings).build(candidate)
    assert result.build.ok and result.library, result.build.diagnostics
    return result


@pytest.fixture(scope="module")
def gemm(settings: Settings) -> BuildResult:
    """Our reference GEMM."""
    return built(settings, GEMM)


@pytest.fixture(scope="module")
def build(settings: Settings) -> Callable[[Path], BuildResult]:
    """Build a file in CUDA."""
    return lambda path: built(settings, path)


@pytest.fixture(scope="session")
def loaded() -> Callable[[Child], Child]:
    """Load a child's candidate."""

    def load(child: Child) -> Child:
        assert isinstance(child.load(), Answer)
        return child

    return load
