"""The guarded look-up, in a library that was built and is loaded for real: a name decoded at run time gets nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptxbench.core.settings import Settings
from ptxbench.schema import Candidate, Language, Source
from ptxbench.toolchain import Builder, locate
from ptxbench.toolchain.policy import driver_entry
from ptxbench.toolchain.policy.driver_entry import WRAPPED
from ptxbench.toolchain.policy.symbols import driver_entries

SOURCE = """
#define EXPORT extern "C" __attribute__((visibility("default")))
extern "C" cudaError_t cudaGetDriverEntryPoint_ptsz(const char *, void **, unsigned long long, cudaDriverEntryPointQueryResult *);
extern "C" cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *, void **, unsigned int, unsigned long long,
                                                             cudaDriverEntryPointQueryResult *);
// The name comes in encoded, so that nothing can be read from this source.
EXPORT int look_up(int how, const char *coded, void **function, int *status) {
    char name[128] = {};
    for (int i = 0; coded[i] && i < 127; ++i) name[i] = coded[i] ^ 1;
    auto *found = reinterpret_cast<cudaDriverEntryPointQueryResult *>(status);
    switch (how) {
        case 0: return cudaGetDriverEntryPoint(name, function, cudaEnableDefault, found);
        case 1: return cudaGetDriverEntryPoint_ptsz(name, function, cudaEnableDefault, found);
        case 2: return cudaGetDriverEntryPointByVersion(name, function, 12000, cudaEnableDefault, found);
        case 3: return cudaGetDriverEntryPointByVersion_ptsz(name, function, 12000, cudaEnableDefault, found);
        case 4: return cudaGetDriverEntryPointByVersion(nullptr, function, 12000, cudaEnableDefault, found);
        default: return cudaGetDriverEntryPointByVersion(name, function, 12000, cudaEnableDefault, nullptr);
    }
}
"""

CALLER = """
import ctypes, json, sys
runtime, library, *names = sys.argv[1:]
ctypes.CDLL(runtime, mode=ctypes.RTLD_GLOBAL)
candidate = ctypes.CDLL(library)
answers = {}
for name in names:
    for how in range(6):
        function, status = ctypes.c_void_p(1234), ctypes.c_int(-1)
        coded = bytes(letter ^ 1 for letter in name.encode())
        code = candidate.look_up(how, coded, ctypes.byref(function), ctypes.byref(status))
        answers[f"{name}/{how}"] = [code, status.value, function.value]
print(json.dumps(answers))
"""

SYMBOL_NOT_FOUND = 500
STATUS_NOT_FOUND = 1
NULL_NAME, NO_STATUS = 4, 5


@pytest.fixture(scope="module")
def answers(settings: Settings) -> dict[str, list[int | None]]:
    """Ask the built candidate for allowed and refused names in every way, in a process of its own."""
    source = Source(path="kernel.cu", content=SOURCE)
    candidate = Candidate(sources=(source,), entry_point="kernel.cu::look_up", language=Language.CUDA, arch="sm_90a")
    result = Builder(settings).build(candidate)
    assert result.library is not None, result.build.diagnostics
    assert not result.violations
    names = ["cuTensorMapEncodeTiled", "cuModuleLoadData", "cuTensorMapEncodeTiledX", "cuTensorMapEncodeTile", "c" * 100]
    command = [sys.executable, "-c", CALLER, str(locate(settings).cudart), str(result.library), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, list[int | None]] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("how", range(4))
@pytest.mark.parametrize("name", ["cuModuleLoadData", "cuTensorMapEncodeTiledX", "cuTensorMapEncodeTile", "c" * 100])
def test_refused_name_gets_no_function_whatever_spelling_of_the_look_up(
    answers: dict[str, list[int | None]], name: str, how: int
) -> None:
    assert answers[f"{name}/{how}"] == [SYMBOL_NOT_FOUND, STATUS_NOT_FOUND, None]


def test_null_name_and_missing_status_are_survived(answers: dict[str, list[int | None]]) -> None:
    assert answers[f"cuModuleLoadData/{NULL_NAME}"] == [SYMBOL_NOT_FOUND, STATUS_NOT_FOUND, None]
    assert answers[f"cuModuleLoadData/{NO_STATUS}"] == [SYMBOL_NOT_FOUND, -1, None]


@pytest.mark.parametrize("how", [0, 1, 2, 3, NO_STATUS])
def test_allowed_name_is_passed_on_to_the_driver(answers: dict[str, list[int | None]], how: int) -> None:
    code, _, function = answers[f"cuTensorMapEncodeTiled/{how}"]
    assert code != SYMBOL_NOT_FOUND, "our own refusal; without a driver the runtime says something else"
    assert function is not None or code != 0


def test_every_look_up_that_the_runtime_exports_is_guarded(settings: Settings) -> None:
    exported = set(re.findall(rb"cudaGetDriverEntryPoint\w*", locate(settings).cudart.read_bytes()))
    assert {name.encode() for name in WRAPPED} == exported
    (flag,) = driver_entry().link_flags
    assert flag.split(",")[1:] == [f"--wrap={name}" for name in WRAPPED]


def test_allowed_names_are_functions_of_the_driver(settings: Settings) -> None:
    header = (locate(settings).root / "include" / "cuda.h").read_text(encoding="utf-8", errors="replace")
    missing = [name for name in driver_entries() if not re.search(rf"\b{name}\(", header)]
    assert not missing
    assert {"cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col"} <= driver_entries()
    assert Path(driver_entry().source).parent.joinpath("driver_entries.inc").is_file()
