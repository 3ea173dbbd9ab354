"""Which candidates may take the slim TVM-FFI headers: what could tell them from the full ones, or reach into them, may not."""

from __future__ import annotations

import dataclasses

import pytest

from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import locate
from ptxbench.toolchain.fitness import fit_macros
from ptxbench.toolchain.headers import header_identifiers, headers_digest, slim_stands_in_for

INCLUDE = "#include <tvm/ffi/tvm_ffi.h>\n"
FITTING = {
    "plain": "void run(tvm::ffi::TensorView x) { TVM_FFI_ICHECK_EQ(x.ndim(), 2) << x.shape(); }",
    "alias": "namespace ffi = tvm::ffi;\nusing ffi::TensorView;",
    "own condition": "#define TILE 64\n#if TILE > 32 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n#endif",
    "condition that nobody defines": "#ifdef DEBUG_PRINT\n#endif",
    "own macro behind the includes": '#define CUDA_CHECK(x) TVM_FFI_CHECK((x) == 0, RuntimeError) << #x " failed"',
    "own namespace": "namespace mine { int x; }\nusing namespace mine;",
    "alias of CUDA's": "namespace p = cuda::ptx;\nusing namespace p;",
    "compiler and debug conditions": "#if defined(NDEBUG) || defined(_MSC_VER)\n#endif",
    "cooperative groups": "using namespace cooperative_groups;",
    "members of that name": "struct A { int detail; }; int f(A a) { return a.detail; }",
    "shift": "int f(int a) { return a << 3; }",
    "words in comments": "// using namespace tvm::ffi; __COUNTER__ TypeTraits",
}
UNFIT = {
    "no TVM-FFI at all": "int x;",
    "container": INCLUDE + "#include <tvm/ffi/container/map.h>",
    "extra": INCLUDE + "#include <tvm/ffi/extra/module.h>",
    "computed include": INCLUDE + "#define WHERE <tvm/ffi/any.h>\n#include WHERE",
    "include_next": INCLUDE + "#include_next <tvm/ffi/tvm_ffi.h>",
    "using directive": INCLUDE + "using namespace tvm::ffi;",
    "using directive in a function": INCLUDE + "void f() { using namespace tvm; }",
    "using directive by alias": INCLUDE + "namespace ffi = tvm::ffi;\nusing namespace ffi;",
    "using std": INCLUDE + "using namespace std;",
    "alias of std": INCLUDE + "namespace s = std;",
    "text in the namespace": INCLUDE + "namespace tvm { namespace ffi { struct Mine {}; } }",
    "text in the nested namespace": INCLUDE + "namespace tvm::ffi { struct Mine {}; }",
    "text in std": INCLUDE + "namespace std { struct Mine {}; }",
    "own trait": INCLUDE + "template <> struct tvm::ffi::TypeTraits<int[3]>;",
    "details": INCLUDE + "using tvm::ffi::details::Arg2Str;",
    "unknown class": INCLUDE + "void f(tvm::ffi::Array<int> x);",
    "unknown macro": INCLUDE + "void f() { TVM_FFI_LOG_AND_THROW(ValueError) << 1; }",
    "unknown class in a macro": INCLUDE + "#define LIST ::tvm::ffi::Array<int>",
    "guard": INCLUDE + "#ifdef TVM_FFI_ANY_H_\n#endif",
    "guard of ours": INCLUDE + "#ifndef PTXBENCH_SLIM_SLOT_H_\n#endif",
    "guard of a standard header": INCLUDE + "#ifdef _GLIBCXX_VECTOR\n#endif",
    "has_include": INCLUDE + "#if __has_include(<tvm/ffi/any.h>)\n#endif",
    "counter": INCLUDE + "int x = __COUNTER__;",
    "macro before": "#define TVM_FFI_ALWAYS_LOG_BEFORE_THROW 1\n" + INCLUDE,
    "macro before with a word of headers": "#define Args int\n" + INCLUDE,
    "macro before with a body": "#define MINE inline\n" + INCLUDE,
    "macro undefined": INCLUDE + "#undef TVM_FFI_ICHECK",
    "macro redefined": INCLUDE + "#define TVM_FFI_THROW(x) abort(), std::cerr",
    "macro pushed": INCLUDE + '#pragma push_macro("TVM_FFI_THROW")',
    "stream operator": INCLUDE + "struct A {};\nstd::ostream& operator<<(std::ostream& s, A) { return s; }",
    "forged line": INCLUDE + '#line 1 "other.cu"',
    "forged marker": INCLUDE + '# 1 "other.cu"',
    "entry by hand": INCLUDE + 'extern "C" int __tvm_ffi_run(void*, const TVMFFIAny*, int, TVMFFIAny*);',
}


def fit(text: str, **others: str) -> tuple[str, ...] | None:
    sources = (Source(path="kernel.cu", content=text), *(Source(path=f"{name}.h", content=more) for name, more in others.items()))
    candidate = Candidate(sources=sources, entry_point="kernel.cu::run", language=Language.CUDA, arch="sm_90a")
    return fit_macros(candidate, locate(Settings()))


@pytest.mark.parametrize("text", FITTING.values(), ids=FITTING)
def test_what_kernels_say_fits(text):
    assert fit(INCLUDE + text) == ()


@pytest.mark.parametrize("text", UNFIT.values(), ids=UNFIT)
def test_what_could_tell_the_headers_apart_does_not_fit(text):
    assert fit(text) is None


def test_every_file_of_a_candidate_counts():
    entry = f'#include "part.h"\n{INCLUDE}'
    assert fit(entry, part="int x;") == () and fit(entry, part="using namespace tvm::ffi;") is None
    assert fit('#include "part.h"\n', part=INCLUDE) == () and fit(entry, part="#define MINE inline") is None


def test_standard_names_that_the_full_headers_bring_are_asked_for():
    text = INCLUDE + "std::vector<int> f() { std::string s = std::to_string(3); return {}; }\nint g = std::max(1, 2);\n"
    assert fit(text) == ("PTXBENCH_STD_STRING", "PTXBENCH_STD_VECTOR")
    assert fit(INCLUDE + "#define SORT(x) std::sort(x, x + 3)") == ("PTXBENCH_STD_ALGORITHM",)


def test_other_headers_than_those_compared_are_never_stood_in_for(tmp_path):
    tools = locate(Settings())
    other = tmp_path / "include"
    (other / "tvm" / "ffi").mkdir(parents=True)
    (other / "tvm" / "ffi" / "tvm_ffi.h").write_text("#pragma once\nint newer;\n")
    changed = dataclasses.replace(tools, tvm_include=other)
    assert slim_stands_in_for(tools) and not slim_stands_in_for(changed)
    assert headers_digest(other) != headers_digest(tools.tvm_include) and "newer" in header_identifiers(other)
