"""Every way in which a source fails to compile comes back as a record that says what is wrong and where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, read_candidate
from ptxbench.toolchain.diagnostics import MAX_RECORDS

FAILING = sorted((Path(__file__).parent / "failing").glob("*.cu"))


def candidate(text: str, arch: str = "sm_90a", **others: str) -> Candidate:
    name, language = ("kernel.cpp", Language.CPP) if arch == "cpu" else ("kernel.cu", Language.CUDA)
    sources = (Source(path=name, content=text), *(Source(path=path, content=content) for path, content in others.items()))
    return Candidate(sources=sources, entry_point=f"{name}::run", language=language, arch=arch)


@pytest.fixture(scope="module")
def builder(settings) -> Builder:
    return Builder(settings)


@pytest.mark.parametrize("path", FAILING, ids=[path.stem for path in FAILING])
def test_a_failing_source_is_explained_at_its_place(path, builder):
    severity, stage, file, line, column, text = path.read_text().partition("\n")[0].removeprefix("// expect: ").split(" ", 5)
    result = builder.build(read_candidate(path, arch="sm_90a"))
    assert not result.build.ok and result.library is None and not result.build.artifacts
    first = result.build.diagnostics[0]
    place = (path.name if file == "@" else None if file == "-" else file, *(None if n == "-" else int(n) for n in (line, column)))
    assert (first.severity, first.stage, first.file, first.line, first.column) == (severity, stage, *place)
    assert text in first.text


def test_no_record_names_a_folder_of_this_machine(builder, settings):
    for path in FAILING:
        for record in builder.build(read_candidate(path, arch="sm_90a")).build.diagnostics:
            assert not any(text.startswith("/") for text in f"{record.file} {record.text}".split()), record


def test_more_errors_than_anyone_reads_are_left_out_and_counted(builder):
    names = "\n".join(f"  p[{n}] = __float2int_rn(unknown{n % 7}, {n});" for n in range(300))
    lines = "\n".join(f"#warning number {n}" for n in range(300))
    build = builder.build(candidate(f"{lines}\n__global__ void kernel(int* p) {{\n{names}\n}}\n")).build
    assert len(build.diagnostics) == MAX_RECORDS
    assert build.diagnostics[-1].severity == "note" and "more messages left out" in build.diagnostics[-1].text
    assert any(record.severity == "error" for record in build.diagnostics)


def test_an_error_deep_in_templates_says_where_it_was_asked_for(builder):
    path = Path(__file__).parent / "failing" / "in_instantiation.cu"
    texts = [record.text for record in builder.build(read_candidate(path, arch="sm_90a")).build.diagnostics]
    assert any("at line 8" in text for text in texts)


def test_a_warning_of_either_pass_is_recorded_once_and_does_not_fail_the_build(builder):
    build = builder.build(candidate("__global__ void kernel(float* p) {\n  int unused = 3;\n  p[0] = 1.0f;\n}\n")).build
    (record,) = build.diagnostics
    assert build.ok and (record.severity, record.file, record.line, record.code) == ("warning", "kernel.cu", 2, "177")


def test_a_serialised_wgmma_is_a_performance_warning(builder):
    body = "\n".join(
        f'  asm volatile("wgmma.fence.sync.aligned;");\n'
        f'  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{%0, %1, %2, %3}}, %4, %4, 1, 1, 1, 0, 0;"'
        f' : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a + {n}));\n  d[{n}] += 1.0f;'
        for n in range(2)
    )
    text = f"__global__ void kernel(float* p, unsigned long long a) {{\n  float d[4] = {{}};\n{body}\n"
    build = builder.build(candidate(text + "  for (int i = 0; i < 4; ++i) p[i] = d[i];\n}\n")).build
    assert build.ok, build.diagnostics
    waits, serialised = build.warnings[:-1], build.warnings[-1]
    assert serialised.severity == "warning" and serialised.code and re.fullmatch(r"C75\d\d", serialised.code)
    assert "wgmma.mma_async instructions are serialized" in serialised.text and "'kernel(float*" in serialised.text
    assert [(wait.code, wait.file) for wait in waits] == [("C7517", "kernel.cu")] * 2 and waits[0].line == 5


@pytest.mark.parametrize(
    ("text", "stage", "line", "wanted"),
    [
        ("int run( {\n", "host", 1, "expected"),
        ("#include <nothing_there.h>\n", "host", 1, "nothing_there.h: No such file"),
        ("int other();\nextern \"C\" int run() { return other(); }\n", "link", None, "undefined reference to `other()'"),
        ('extern "C" int run() {\n  static_assert(sizeof(int) == 3);\n  return 0;\n}\n', "host", 2, "static assertion failed"),
    ],
)  # fmt: skip
def test_a_failing_c_plus_plus_source_is_explained_too(builder, text, stage, line, wanted):
    build = builder.build(candidate(text, arch="cpu")).build
    first = build.diagnostics[0]
    assert not build.ok and (first.stage, first.line) == (stage, line) and wanted in first.text


def test_a_python_source_that_does_not_parse_is_a_compile_error():
    from ptxbench.toolchain.python_source import python_diagnostics

    source = Source(path="kernel.py", content="def run(x):\n    return x +\n")
    (record,) = python_diagnostics(Candidate(sources=(source,), entry_point="kernel.py::run", language=Language.PYTHON, arch="cpu"))
    assert (record.severity, record.file, record.line) == ("error", "kernel.py", 2)


def test_includes_that_end_are_left_to_the_compiler(builder):
    guarded = '#pragma once\n#include "a.h"\n__device__ inline float one() { return 1.0f; }\n'
    text = '#include "a.h"\n#include "a.h"\n__global__ void kernel(float* p) { p[0] = one(); }\n'
    assert builder.build(candidate(text, **{"a.h": guarded})).build.ok
    counted = "#ifndef A\n#define A\n#include \"a.h\"\n__device__ inline float one() { return 1.0f; }\n#endif\n"  # fmt: skip
    assert builder.build(candidate(text, **{"a.h": counted})).build.ok


def test_two_files_that_include_each_other_without_guard_are_one_clear_error(builder):
    build = builder.build(
        candidate('#include "a.h"\n', **{"a.h": '/* #pragma once */\n#include "b.h"\n', "b.h": '#include "a.h"\n'})
    ).build
    (record,) = build.diagnostics
    assert (record.file, record.line) == ("b.h", 1) and "a.h -> b.h -> a.h" in record.text
