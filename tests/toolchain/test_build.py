"""A build is what the protocol says: the right architecture, clean imports, the same bytes everywhere, nothing left behind."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
import subprocess
from pathlib import Path

import pytest

from ptxbench import arch as architectures
from ptxbench.core.errors import SourceError, UnknownArch
from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Limits, Source
from ptxbench.toolchain import Builder, locate, read_candidate

KERNELS = Path(__file__).parents[2] / "kernels"
HOPPER = KERNELS / "sm_90a" / "tma_wgmma_tile" / "kernel.cu"
BLACKWELL = KERNELS / "sm_100a" / "tcgen05_tile" / "kernel.cu"

PLAIN = """
namespace {
__global__ void kernel(float* p) { p[threadIdx.x] = float(__LINE__); }
}
extern "C" __attribute__((visibility("default"))) const char* __tvm_ffi_run(float* p) {
  kernel<<<1, 32>>>(p);
  return __FILE__;
}
"""
WITH_HEADERS = f"#include <cuda_bf16.h>\n{PLAIN}\n__global__ void other(__nv_bfloat16* p) {{ p[0] = __float2bfloat16(2.0f); }}\n"
HOST = 'extern "C" __attribute__((visibility("default"))) int __tvm_ffi_run() { return __FILE__[0]; }\n'


def candidate(text: str, arch: str = "sm_90a") -> Candidate:
    name, language = ("kernel.cpp", Language.CPP) if arch == "cpu" else ("kernel.cu", Language.CUDA)
    return Candidate(sources=(Source(path=name, content=text),), entry_point=f"{name}::run", language=language, arch=arch)


@pytest.fixture(scope="module")
def builder(settings) -> Builder:
    return Builder(settings)


@pytest.mark.parametrize(
    ("path", "arch", "wanted", "predicates"),
    [
        (HOPPER, "sm_90a", {"HGMMA.64x64x16.F32.BF16": 4, "UTMALDG.2D": 4, "UTMASTG.2D": 1}, (True, True)),
        (BLACKWELL, "sm_100a", {"UTCHMMA": 4, "LDTM.x16": 4, "UTMALDG.2D": 2}, (True, True)),
    ],
    ids=["sm_90a", "sm_100a"],
)  # fmt: skip
def test_the_sample_kernels_show_their_architecture_s_instructions(builder, path, arch, wanted, predicates):
    result = builder.build(read_candidate(path, arch=arch))
    assert result.build.ok and result.library, result.build.diagnostics
    (kernel,) = result.build.kernels
    target = architectures.get(arch)
    assert kernel.name == "gemm_tile" and kernel.spill_bytes == 0 and kernel.stack_bytes == 0
    assert 40 <= (kernel.registers or 0) <= 128 and (kernel.shared_bytes or 0) > 24_000
    assert target.qualifying(kernel.opcodes) == wanted and target.predicates(kernel.opcodes) == predicates
    assert (
        set(result.build.artifacts) == {"library", "cubin", "ptx", "sass"}
        and not result.build.warnings
        and not result.build.diagnostics
    )


def test_a_candidate_imports_no_loader_and_leaves_the_driver_to_be_found_at_load(builder):
    library = builder.build(read_candidate(HOPPER, arch="sm_90a")).library
    listed = subprocess.run(["nm", "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=True).stdout
    undefined = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    assert "cuTensorMapEncodeTiled" in undefined and "__cudaLaunchKernel" in undefined
    assert not undefined & {"dlopen", "dlsym", "mprotect", "socket", "cuInit"}


def test_the_library_exports_the_entry_point_and_can_be_loaded(builder, settings):
    result = builder.build(candidate(PLAIN))
    assert result.build.ok and result.library, result.build.diagnostics
    tools = locate(settings)
    for needed in (tools.cudart, tools.tvm_library):
        ctypes.CDLL(str(needed), mode=ctypes.RTLD_GLOBAL)
    assert ctypes.CDLL(str(result.library)).__tvm_ffi_run


def test_only_sass_of_exactly_the_target_is_inside(builder, settings):
    library = builder.build(candidate(PLAIN)).library
    tool = locate(settings).cuobjdump
    if tool is None:
        pytest.skip("cuobjdump is not installed")
    elf = subprocess.run([str(tool), "-lelf", str(library)], capture_output=True, text=True, check=True).stdout
    ptx = subprocess.run([str(tool), "-lptx", str(library)], capture_output=True, text=True, check=False).stdout
    assert elf.count("sm_90a.cubin") == 1 == elf.count(".cubin") and ".ptx" not in ptx


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a", "cpu"])
def test_the_same_source_gives_the_same_bytes_in_another_folder(tmp_path, builder, arch):
    source = candidate(HOST if arch == "cpu" else WITH_HEADERS, arch)
    elsewhere = tmp_path / "a folder with [odd] names" / "and.a" / "longer+path"
    first, second = builder.build(source), Builder(Settings(cache_dir=elsewhere)).build(source)
    assert first.build.ok and not second.build.cached, first.build.diagnostics
    assert first.build.artifacts == second.build.artifacts and first.build.key == second.build.key
    assert first.library and second.library and first.library != second.library
    for name, digest in second.build.artifacts.items():
        data = builder.cache.blobs.get(digest)
        for leak in (str(builder.settings.cache_dir), str(elsewhere), "site-packages", str(Path.home()) + "/"):
            assert leak.encode() not in data, (name, leak)


def test_equal_kernels_of_different_candidates_keep_names_apart(builder):
    names = {builder.build(candidate(PLAIN + extra)).build.kernels[0].mangled for extra in ("", "// other\n")}
    assert len(names) == 2


def test_the_users_environment_does_not_reach_the_compiler(tmp_path, monkeypatch):
    (tmp_path / "trap").mkdir()
    (tmp_path / "trap" / "cuda_bf16.h").write_text("#error this header is not the toolkit's\n")
    for name, value in {
        "NVCC_PREPEND_FLAGS": "-DBROKEN=(",
        "NVCC_APPEND_FLAGS": "--no-such-flag",
        "CPATH": str(tmp_path / "trap"),
        "CPLUS_INCLUDE_PATH": str(tmp_path / "trap"),
        "GCC_EXEC_PREFIX": str(tmp_path),
        "LD_PRELOAD": "",
        "NVCC_CCBIN": "/nowhere",
    }.items():
        monkeypatch.setenv(name, value)
    result = Builder(Settings(cache_dir=tmp_path / "cache")).build(candidate(WITH_HEADERS))
    assert result.build.ok, result.build.diagnostics


def test_nothing_is_left_behind(tmp_path):
    builder = Builder(Settings(cache_dir=tmp_path))
    for text in (HOST, "this does not compile\n"):
        builder.build(candidate(text, "cpu"))
    assert not list((tmp_path / "builds" / "scratch").iterdir())
    assert not list(tmp_path.rglob(".tmp-*"))


def test_a_bare_commit_group_is_not_counted_as_a_multiplication(builder):
    text = 'namespace a { __global__ void decoy(float* p) { asm volatile("wgmma.commit_group.sync.aligned;"); p[0] = 1.0f; } }\n'
    (kernel,) = builder.build(candidate(text)).build.kernels
    assert kernel.opcodes["bookkeeping:HGMMA.64x8x16.F16"] == 1
    assert architectures.get("sm_90a").predicates(kernel.opcodes) == (False, False)


def test_functions_that_were_not_inlined_count_with_their_kernel(builder):
    text = (
        "__device__ __noinline__ float root(float x) { return sqrtf(x) * 3.0f; }\n"
        "template <int N> __global__ void many(float* p) { for (int i = 0; i < N; ++i) p[i] = root(p[i]); }\n"
        "template __global__ void many<7>(float*);\n"
        "__global__ void spills(float* p) { float a[500]; for (int i = 0; i < 500; ++i) a[i] = p[i]; p[0] = a[int(p[1])]; }\n"
    )
    kernels = {kernel.name: kernel for kernel in builder.build(candidate(text)).build.kernels}
    assert set(kernels) == {"many<7>", "spills"} and kernels["spills"].stack_bytes == 2000
    assert any(name.startswith("MUFU") for name in kernels["many<7>"].opcodes) and kernels["spills"].mangled == "_Z6spillsPf"


def test_limits_end_a_compilation_and_are_not_remembered(tmp_path):
    builder = Builder(Settings(cache_dir=tmp_path))
    memory = [(Limits(compile_bytes=size << 20), "memory") for size in (60, 120)]
    for limits, code in ((Limits(compile_s=0.05), "time"), *memory):
        (record,) = builder.build(candidate(WITH_HEADERS), limits).build.diagnostics
        assert (record.stage, record.code, record.severity) == ("limit", code, "error")
    again = builder.build(candidate(WITH_HEADERS))
    assert again.build.ok and not again.build.cached


def test_a_source_that_unfolds_without_bound_hits_the_file_limit(builder, monkeypatch):
    monkeypatch.setattr("ptxbench.toolchain.compile.FILE_BYTES", 4 << 20)
    lines = ['#define A0 "sixty-four bytes of text that nobody will ever see in a binary"']
    lines += [f"#define A{n + 1} A{n} A{n}" for n in range(20)]
    (record,) = builder.build(candidate("\n".join([*lines, "const char* text = A20;", ""]), "cpu")).build.diagnostics
    assert (record.stage, record.code) == ("limit", "file_size")


def test_a_source_cannot_pretend_that_a_limit_was_hit(builder):
    text = "#error cc1plus: out of memory allocating; died due to signal 9 ; File too large\n"
    (record,) = builder.build(candidate(text, "cpu")).build.diagnostics
    assert record.stage == "host" and record.text.startswith("#error")


@pytest.mark.parametrize("name", ["a b.cu", "$(touch x).cu", "-o.cu", "a;b.cu", 'q".cu', "ü.cu"])
def test_a_file_name_that_a_shell_could_read_never_reaches_one(builder, name):
    source = Candidate(
        sources=(Source(path=name, content=PLAIN),), entry_point=f"{name}::run", language=Language.CUDA, arch="sm_90a"
    )
    build = builder.build(source).build
    assert not build.ok and build.diagnostics[0].file == name


def test_what_reads_the_machines_files_is_never_compiled(builder, tmp_path):
    secret = tmp_path / "secret.h"
    secret.write_text("#error the compiler has read this\n")
    result = builder.build(candidate(f'#include "{secret}"\n{HOST}', "cpu"))
    assert not result.build.ok and any(violation.rule == "include_path" for violation in result.violations)
    assert not any("has read this" in record.text for record in result.build.diagnostics)


def test_a_language_and_an_architecture_that_do_not_fit_are_wrong_usage(builder):
    with pytest.raises(SourceError, match="cannot be built for cpu"):
        builder.build(
            Candidate(sources=(Source(path="a.cu", content=PLAIN),), entry_point="a.cu::run", language=Language.CUDA, arch="cpu")
        )
    with pytest.raises(UnknownArch):
        builder.build(candidate(PLAIN, "sm_99z"))


def test_a_python_candidate_needs_no_compiler(builder):
    source = Source(path="kernel.py", content="def run(x, y):\n    y[:] = x\n")
    result = builder.build(Candidate(sources=(source,), entry_point="kernel.py::run", language=Language.PYTHON, arch="cpu"))
    assert result.build.ok and result.library is None and result.build.artifacts == {} and not result.violations


def test_the_cached_library_is_the_one_that_was_built(builder):
    first, second = builder.build(candidate(HOST, "cpu")), builder.build(candidate(HOST, "cpu"))
    assert second.build.cached and first.library == second.library and second.library
    digest = hashlib.sha256(second.library.read_bytes()).hexdigest()
    assert second.build.artifacts["library"] == f"sha256:{digest}" and os.access(second.library, os.R_OK)


def test_a_name_that_spells_out_to_gigabytes_stays_as_it_is():
    from ptxbench.toolchain.demangle import demangle, short_name

    assert short_name("_ZN12_GLOBAL__N_14gemmILi128ELi64EEEvPKf") == "gemm<128, 64>"
    assert short_name("plain_c_kernel") == "plain_c_kernel" and short_name("_ZnotAName") == "_ZnotAName"
    lengths = [len(demangle(_doubling(steps))) for steps in range(8)]
    assert all(later > 1.7 * earlier for earlier, later in itertools.pairwise(lengths[2:])) and lengths[-1] < 10_000
    assert demangle(_doubling(40)) == _doubling(40)


def _doubling(steps: int) -> str:
    """Mangle ``f(A<int, int>, B<…>, …)`` in which every parameter's type holds the one before it twice."""
    return "_Z1f1AIiiE1BIS0_S0_E" + "".join(f"S1_IS{_base36(n + 1)}_S{_base36(n + 1)}_E" for n in range(1, steps + 1))


def _base36(number: int) -> str:
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return digits[number] if number < 36 else _base36(number // 36) + digits[number % 36]


def test_sources_that_cannot_lie_side_by_side_are_a_compile_error(builder):
    sources = (Source(path="kernel.cpp", content=HOST), Source(path="a", content="\n"), Source(path="a/b.h", content="\n"))
    build = builder.build(Candidate(sources=sources, entry_point="kernel.cpp::run", language=Language.CPP, arch="cpu")).build
    assert not build.ok and build.diagnostics[0].file == "a/b.h"
