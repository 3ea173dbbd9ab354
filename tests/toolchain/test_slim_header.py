"""The slim TVM-FFI headers: what they compile is what the full ones make of it; what they do not know is left to the full ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxbench.toolchain import Builder, locate, read_candidate

CORPUS = Path(__file__).with_name("header_corpus")
KERNELS = Path(__file__).parents[2] / "kernels"
REFERENCE = [KERNELS / name / "kernel.cu" for name in ("sm_90a/gemm_bf16", "sm_90a/tma_wgmma_tile", "sm_100a/tcgen05_tile")]
"""Kernels that ship with the package: all of them take the slim headers."""
ALWAYS = {"checks", "many_arguments", "optional_tensors", "owned_tensors", "text_arguments", "throws", "transitive_standard",
          "full_array_argument", "full_stream_operator", "error_at_link"}  # fmt: skip
"""Corpus files that every test run compiles both ways; the others are slow."""


def wanted(path: Path) -> str:
    """Return which headers a corpus file says that it gets: slim, full, or error for one that compiles with neither."""
    found = re.search(r"^// header: (slim|full|error)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, path
    return found[1]


def corpus(header: str) -> list[Path]:
    return [path for path in sorted(CORPUS.glob("*.cu")) if wanted(path) == header]


def both_ways() -> list[object]:
    files = [*corpus("slim"), *REFERENCE]
    return [
        pytest.param(path, id=f"{path.parent.parent.name}-{path.parent.name}" if path in REFERENCE else path.stem,
                     marks=() if path.stem in ALWAYS else pytest.mark.slow)
        for path in files
    ]  # fmt: skip


@pytest.mark.parametrize("path", both_ways())
def test_either_header_makes_the_same_of_a_candidate(path: Path, both_headers, settings, tmp_path):
    slim, full = (both_headers.compile_with(path, header, settings, tmp_path / header) for header in ("slim", "full"))
    assert slim.reading.ok and full.reading.ok, (slim.reading.said.records, full.reading.said.records)
    assert (slim.reading.compilation.header, full.reading.compilation.header) == ("slim", "full")
    cubins = [one.reading.compilation.kept(".cubin") for one in (slim, full)]
    assert all(cubins) and cubins[0].read_bytes() == cubins[1].read_bytes()
    assert slim.reading.kernels == full.reading.kernels and slim.reading.functions == full.reading.functions
    assert slim.exported() == full.exported() and slim.violations == full.violations == ()
    tried = both_headers.calls(path)
    tools = locate(settings)
    libraries = [one.reading.compilation.library for one in (slim, full)]
    answers = [both_headers.results(tools, library, tried) for library in libraries if library is not None]
    differences = [(call, *pair) for call, *pair in zip(tried, *answers, strict=True) if pair[0] != pair[1]]
    assert not differences and len(answers) == 2
    by_call = dict(zip(tried, answers[0], strict=True))
    assert not any("Mismatched" in str(by_call[call]) for call in both_headers.good_calls(path))
    assert not tried or any("Mismatched" in str(answer) for answer in answers[0])


def test_the_corpus_is_as_wide_as_promised(both_headers):
    assert len(corpus("slim")) >= 25 and len(corpus("full")) >= 10 and len(corpus("error")) >= 5
    assert all(both_headers.calls(path) for path in [*corpus("slim"), *corpus("full")])


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in ALWAYS else pytest.mark.slow)
        for path in [*corpus("full"), *corpus("error")]
    ],
)
def test_what_the_slim_headers_do_not_know_the_full_ones_decide(path: Path, both_headers, settings, tmp_path):
    build = Builder(settings).build(read_candidate(path, arch="sm_90a")).build
    assert build.header == "full" and build.ok == (wanted(path) == "full"), build.diagnostics
    if not build.ok:
        full = both_headers.compile_with(path, "full", settings, tmp_path, how="nvcc")
        assert build.diagnostics == full.reading.said.records and any(one.severity == "error" for one in build.diagnostics)
