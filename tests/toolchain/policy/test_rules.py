"""Tables, verdicts and binaries: what does not need a candidate of its own."""

from __future__ import annotations

import ctypes.util
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.core.errors import InfrastructureError
from ptxbench.schema import Candidate, Language, Profile, Source
from ptxbench.toolchain.policy import Evidence, inspect, refused_headers, screen, verdict
from ptxbench.toolchain.policy.binary import read_binary
from ptxbench.toolchain.policy.content import judge_tokens
from ptxbench.toolchain.policy.directives import read_raw
from ptxbench.toolchain.policy.headers import opened, spelled
from ptxbench.toolchain.policy.injected import injected
from ptxbench.toolchain.policy.inspection import device_wide_kernel
from ptxbench.toolchain.policy.passes import file_in, read_pass
from ptxbench.toolchain.policy.rules import MOST_BREACHES, TEXT_LIMIT, breach, rules, table
from ptxbench.toolchain.policy.symbol_places import SymbolPlaces
from ptxbench.toolchain.policy.symbols import called, imported, needed, overridden, reserved

DOCUMENT = Path(__file__).parents[3] / "docs" / "policy.md"


def cpp(text: str) -> Candidate:
    source = Source(path="kernel.cpp", content=text)
    return Candidate(sources=(source,), entry_point="kernel.cpp::run", language=Language.CPP, arch="cpu")


def compiled(folder: Path, text: str, *flags: str) -> Path:
    """Build a shared library from C++ with the host compiler, with flags that a candidate cannot give."""
    source, library = folder / "kernel.cpp", folder / "kernel.so"
    source.write_text(text, encoding="utf-8")
    subprocess.run(["g++", "-shared", "-fPIC", "-o", library, source, *flags], check=True, capture_output=True)
    return library


REFUSED = {
    "vendor_library": "cublasGemmEx cublasLtMatmul cudnnCreate cusparseSpMM",
    "runtime_compilation": "nvrtcCompileProgram cuLinkCreate_v2 cuModuleLoadDataEx cudaLibraryLoadData __nvJitLinkCreate_13_0",
    "libtorch": "_ZN2at6matmulERKNS_6TensorES2_ _ZN3c104cuda20getCurrentCUDAStreamEa",
    "python_embedding": "PyGILState_Ensure _Py_Dealloc",
    "dynamic_loading": "dlopen dlvsym __libc_dlsym _r_debug dl_iterate_phdr",
    "driver_entry": "__real_cudaGetDriverEntryPoint cudaGetDriverEntryPoint@libcudart.so.13 cuGetProcAddress_v2 "
    "__cudaGetProcAddress cudaGetExportTable cuMemAlloc_v2",
    "ffi_registry": "TVMFFIFunctionGetGlobal TVMFFIFunctionSetGlobal TVMFFIEnvModLookupFromImports",
    "process_control": "syscall mmap mprotect execvp posix_spawn sigaction socket process_vm_writev",
    "unknown_import": "write read open getpid environ setenv _ZN5judge5stateE",
}
ALLOWED = """
cudaLaunchKernelExC cudaGetDriverEntryPointByVersion_ptsz __cudaRegisterFunction __cudaLaunchKernel_ptsz
cuTensorMapEncodeIm2col cuGetErrorString TVMFFIErrorSetRaised TVMFFIEnvGetStream TVMFFIEnvTensorAlloc
memcpy __memcpy_chk __printf_chk __isoc23_strtol pthread_create clock_gettime sincosf __expf_finite fmaf stderr
_Znwm _ZdlPvSt11align_val_t _ZTVN10__cxxabiv120__si_class_type_infoE _ZSt4cout __tls_get_addr __stack_chk_fail
_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE2atEm _ZNSt6chrono3_V212steady_clock3nowEv _Unwind_Resume
__cxa_throw_bad_array_new_length __gxx_personality_v0 __extendhfsf2 __udivti3
"""


@pytest.mark.parametrize(("rule", "symbol"), [(rule, name) for rule, names in REFUSED.items() for name in names.split()])
def test_import_is_refused_under_its_rule(rule: str, symbol: str) -> None:
    assert imported(symbol) == rule


@pytest.mark.parametrize("symbol", ALLOWED.split())
def test_import_of_the_language_or_the_runtime_is_allowed(symbol: str) -> None:
    assert imported(symbol) is None


def test_names_in_a_source_that_did_not_compile_are_judged_by_their_own_rule_only() -> None:
    assert called("cublasGemmEx") == "vendor_library" and called("dlopen") == "dynamic_loading"
    assert [
        called(name) for name in ("pipe", "send", "system", "cudnn_like", "cublas", "my_function", "cuTensorMapEncodeTiled")
    ] == [None] * 7


def test_needed_libraries_and_defined_names_have_allow_lists() -> None:
    assert needed("libcudart.so.13") and needed("libstdc++.so.6") and needed("ld-linux-x86-64.so.2")
    assert not needed("libcublas.so.13") and not needed("libcuda.so.1") and not needed("libdl.so.2") and not needed("libcXso.6")
    assert overridden("cudaMalloc") and overridden("cuptiActivityEnable") and not overridden("current") and not overridden("run")
    assert reserved("__cudaRegisterFatBinary") == "runtime_compilation" and reserved("cudaRegisterLike") is None


def test_library_that_needs_another_is_refused(tmp_path: Path) -> None:
    zlib = ctypes.util.find_library("z")
    if zlib is None:
        pytest.skip("no libz on this machine")
    library = compiled(tmp_path, 'extern "C" int run() { return 0; }', "-Wl,--no-as-needed", f"-l:{zlib}")
    found = inspect(Evidence(candidate=cpp("int x;"), folder=tmp_path, library=library))
    assert [one.rule for one in found] == ["needed_library"]
    assert zlib in found[0].text


def test_section_of_its_own_is_seen_in_the_object_alone(tmp_path: Path) -> None:
    text = '__attribute__((section("mine"))) int x = 3; extern "C" int run() { return x; }'
    assembled = compiled(tmp_path, text, "-c")
    found = inspect(Evidence(candidate=cpp("int x;"), folder=tmp_path, object=assembled))
    assert [(one.rule, one.file) for one in found] == [("section_attribute", None)]


def test_file_that_is_no_elf_is_our_fault(tmp_path: Path) -> None:
    broken = tmp_path / "kernel.o"
    broken.write_bytes(b"not an object")
    with pytest.raises(InfrastructureError, match=r"kernel\.o"):
        read_binary(broken)


@pytest.mark.parametrize(
    ("path", "rule", "paper"),
    [
        ("/opt/cuda/include/cublas_v2.h", "vendor_library", True),
        ("cudnn_ops_v9.h", "vendor_library", True),
        ("/x/cusparseLt.h", "vendor_library", False),
        ("/x/include/torch/extension.h", "libtorch", False),
        ("/usr/include/python3.11/Python.h", "python_embedding", False),
    ],
)
def test_header_is_refused_by_the_path_that_was_opened(path: str, rule: str, paper: bool) -> None:
    refusal = opened(path)
    assert refusal is not None and (refusal.rule, refusal.paper) == (rule, paper)


def test_folders_of_this_machine_do_not_look_like_libraries() -> None:
    for path in (
        "/x/torch/cute/cutlass/include/cuda_runtime.h",
        "/x/my_cublas_v2.h",
        "/x/cublas_v2.hpp",
        "/python3/torch/stdio.h",
    ):
        assert opened(path) is None
    assert spelled("my/cutlass.h") is None and spelled("./cutlass//gemm/x.h") is not None and spelled("cute/tensor.hpp") is not None


def test_every_listed_header_has_a_marker_that_still_includes_the_real_one() -> None:
    for entry in table("headers")["header"]:
        for name in entry["files"]:
            if name.startswith("tvm_ffi_python"):
                continue  # Installed with TVM-FFI, so its include is always seen.
            text = (refused_headers() / name).read_text(encoding="utf-8")
            assert f"#include_next <{name}>" in text and entry["rule"] in text
    markers = {str(path.relative_to(refused_headers())) for path in refused_headers().rglob("*") if path.is_file()}
    assert markers <= {name for entry in table("headers")["header"] for name in entry["files"]}


def test_device_wide_kernels_are_told_from_block_wide_ones_by_their_symbols() -> None:
    cub = "_ZN3cub17CUB_300001_SM_9006detail"
    for name in ("6reduceL18DeviceReduceKernelINS2_10policy_hubE", "8for_eachL13static_kernelINS2_E"):
        assert device_wide_kernel(cub + name)
    assert device_wide_kernel("_ZN4mine3cub6detail4scanL16DeviceScanKernelIE")
    assert device_wide_kernel("_ZN6thrust23THRUST_300001_SM_900_NS8cuda_cub4core6detail13_kernel_agentIE")
    for name in (
        cub + "L11EmptyKernelIvEEvv",
        "_ZN3cub17CUB_300001_SM_90022DeviceCountCachedValueEv",
        "_Z12DeviceReducePf",
        "_Z6kernelIN3cub3SumEEvT_",
    ):
        assert not device_wide_kernel(name)


def test_verdict_lists_a_breach_once_and_keeps_the_wider_one() -> None:
    narrow = breach("vendor_library", "a.cu", 3, "imports")
    wide = breach("vendor_library", "a.cu", 3, "#include <cublas_v2.h>", paper=True)
    loading = breach("dynamic_loading", None, None, "the binary imports dlopen")
    other = breach("dynamic_loading", None, None, "the binary imports dlsym")
    paper = verdict([narrow, loading, wide, other, loading], Profile.PAPER)
    assert not paper.ok and paper.violations == (wide,) and paper.flags == (loading, other)
    strict = verdict([narrow, loading, wide, other, loading], Profile.STRICT)
    assert strict.violations == (wide, loading, other) and strict.flags == ()
    assert verdict([], Profile.STRICT).ok


def test_long_line_is_cut_and_unknown_rule_is_an_error() -> None:
    assert len(breach("incbin", "a.cu", 1, "x" * 100_000).text) < 300
    with pytest.raises(KeyError):
        breach("no_such_rule", None, None, "")


def test_marker_inside_a_raw_string_does_not_hide_what_follows(tmp_path: Path) -> None:
    lines = [
        '# 1 "kernel.cpp"',
        'const char *s = R"(',
        '# 1 "/usr/include/a.h" 1 3',
        ')";',
        "int seen;",
        f'# 1 "{tmp_path}/x.h" 1',
        "int own;",
        '# 9 "kernel.cpp" 2',
        "int after;",
        '# 1 "/usr/include/b.h" 1 3',
        "int hidden;",
    ]
    found = read_pass("\n".join(lines), file_in(tmp_path))
    names = {(one.token.text, one.file, one.token.line) for one in found.tokens if one.token.kind == "identifier"}
    assert {("seen", "kernel.cpp", 4), ("own", "x.h", 1), ("after", "kernel.cpp", 9)} <= names
    assert "hidden" not in {one.token.text for one in found.tokens}
    assert (found.entered[0].path, found.entered[0].place) == (f"{tmp_path}/x.h", ("kernel.cpp", 8))


def test_python_too_deep_to_parse_is_refused_and_broken_python_is_not_judged() -> None:
    def rules_of(text: str) -> set[str]:
        source = Source(path="k.py", content=text)
        return {
            one.rule for one in screen(Candidate(sources=(source,), entry_point="k.py::run", language=Language.PYTHON, arch="cpu"))
        }

    assert rules_of("x = " + "not " * 100_000 + "1") == {"unreadable_source"}
    assert rules_of("import os\ndef run(:") == set()
    assert rules_of("import os\ndef run(): pass") == {"python_import"}


def test_document_names_every_rule_and_no_other() -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    named = {line.split("`")[1] for line in lines if line.startswith("| `")}
    assert named == set(rules())


@pytest.mark.parametrize("module", ["os", "ctypes", "torch"])
def test_own_module_does_not_open_the_door_to_a_real_one_of_its_name(module: str) -> None:
    sources = (Source(path="kernel.py", content=f"import {module}\nimport tiles\n"), Source(path=f"{module}.py", content=""))
    sources += (Source(path="tiles.py", content=""),)
    candidate = Candidate(sources=sources, entry_point="kernel.py::run", language=Language.PYTHON, arch="cpu")
    assert [(one.rule, one.line) for one in screen(candidate)] == [("python_import", 1)]


HOSTILE = {
    "nested assembly": "asm(", "assembly without end": "asm ", "nested brackets": "[", "attributes": "__attribute__(",
    "lambdas in brackets": "a[[](){", "strings": '"a"', "splices": "\\\n", "spliced raw strings": 'R"(\\\n)"\\\n',
}  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_reading_costs_no_more_than_the_length(piece: str) -> None:
    """Ten times the text is ten times the steps: a scan to the end from every token would be a hundred times."""

    def steps(count: int) -> int:
        taken = 0

        def count_line(frame: object, event: str, _argument: object) -> object:
            nonlocal taken
            taken += event == "line"
            return count_line

        sys.settrace(count_line)
        try:
            candidate = cpp(piece * count)
            screen(candidate)
            tokens = read_pass('# 1 "kernel.cpp"\n' + piece * count, lambda path: path).tokens
            tuple(judge_tokens(tokens, lambda rule, placed: breach(rule, placed.file, placed.token.line, "x")))
            SymbolPlaces(tokens).find("_Z6absentv")
        finally:
            sys.settrace(None)
        return taken

    assert steps(2000) < 30 * steps(200)


def test_breaches_of_one_rule_are_bounded() -> None:
    found = screen(cpp("#line 1\n" * 1000 + "#include </x>\n" * 1000))
    assert {rule: sum(one.rule == rule for one in found) for rule in ("forged_lines", "include_path")} == {
        "forged_lines": MOST_BREACHES,
        "include_path": MOST_BREACHES,
    }


def test_a_line_of_a_megabyte_is_shown_short() -> None:
    (found,) = screen(cpp("#include </x>" + " " * 10 + "/* */" * 200_000))
    assert len(found.text) <= TEXT_LIMIT


def test_macros_by_the_thousand_cost_no_more_than_their_number(tmp_path: Path) -> None:
    header = tmp_path / "system.h"
    header.write_text("int m7; int other;\n", encoding="utf-8")

    def steps(count: int) -> int:
        taken = 0

        def count_line(frame: object, event: str, _argument: object) -> object:
            nonlocal taken
            taken += event == "line"
            return count_line

        text = (
            "".join(f"#define m{index} m{index + 1}\n" for index in range(count)) + f"#define m{count} asm\n#include <system.h>\n"
        )
        files = {"kernel.cpp": read_raw(text)}
        sys.settrace(count_line)
        try:
            found = list(injected(files, "kernel.cpp", [header]))
        finally:
            sys.settrace(None)
        assert [(rule, file, definition.line) for rule, file, definition, _ in found] == [("host_asm", "kernel.cpp", 8)]
        return taken

    assert steps(1000) < 20 * steps(100)
