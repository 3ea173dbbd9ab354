"""Reports of ncu, as recorded on a GPU, become executed counts per kernel; what is no such report becomes none."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ptxbench.evaluate.tools.ncu_report import MOST_BYTES, THREADS, WARPS, Launch, UnreadableReport, join, launches, read_report
from ptxbench.schema import ExecutedCount, KernelBuild

GEMM = "_Z4gemmPK13__nv_bfloat16S1_PS_iii"
HGMMA = "HGMMA.64x64x16.F32.BF16"

FAKE_NCU_REPORT = Path(__file__).with_name("stand_in_ncu_report.py").read_text()


@pytest.fixture
def kernels(recorded) -> list[KernelBuild]:
    return [KernelBuild(**one) for one in json.loads((recorded / "ncu_gemm_kernels.json").read_text())]


def kernel(mangled: str, **opcodes: int) -> KernelBuild:
    nothing = dict.fromkeys(("registers", "spill_bytes", "stack_bytes", "shared_bytes"))
    return KernelBuild(
        name=mangled, mangled=mangled, opcodes={key.replace("__", ":"): count for key, count in opcodes.items()}, **nothing
    )


def test_executions_of_the_recorded_gemm_are_those_of_arithmetic(recorded, kernels):
    (proof,), mixed = join(launches((recorded / "ncu_gemm.json").read_text()), kernels)
    assert (proof.name, proof.launches, mixed) == (GEMM, 1, ())
    warps = 4 * 1024 * 512 * 512 // (64 * 64 * 16)
    assert proof.executed[HGMMA] == ExecutedCount(warp=warps, thread_true=32 * warps)


def test_opcodes_of_ncu_are_those_of_the_census(recorded, kernels):
    (proof,), _ = join(launches((recorded / "ncu_gemm.json").read_text()), kernels)
    assert proof.executed.keys() <= kernels[0].opcodes.keys()
    assert kernels[0].opcodes.keys() - proof.executed.keys() == {"LDC.64", "NOP"}, "what never executes"


def test_a_kernel_that_did_not_finish_is_no_proof_of_anything(recorded):
    """ncu writes a launch without counts for a kernel that faulted."""
    with pytest.raises(UnreadableReport, match="it counted nothing in the kernel _ZN6faults10null_writeEPf"):
        launches((recorded / "ncu_fault.json").read_text())


def test_launches_of_a_kernel_are_counted_and_added():
    one = Launch("k", {"FADD": 3, "NOP": 0}, {"FADD": 90, "NOP": 0})
    (proof,), _ = join([one, one, one], [kernel("k", FADD=1, NOP=1)])
    assert proof.launches == 3 and proof.executed == {"FADD": ExecutedCount(warp=9, thread_true=270)}


def test_what_is_all_bookkeeping_gets_the_prefix():
    launch = Launch("k", {"HGMMA.64x8x16.F16": 4, "HGMMA.64x64x16.F32": 8}, {"HGMMA.64x8x16.F16": 0, "HGMMA.64x64x16.F32": 256})
    build = kernel("k").model_copy(update={"opcodes": {"bookkeeping:HGMMA.64x8x16.F16": 1, "HGMMA.64x64x16.F32": 2}})
    (proof,), mixed = join([launch], [build])
    assert set(proof.executed) == {"bookkeeping:HGMMA.64x8x16.F16", "HGMMA.64x64x16.F32"} and mixed == ()


def test_what_is_some_bookkeeping_is_left_and_named():
    launch = Launch("k", {"HGMMA.64x8x16.F16": 4}, {"HGMMA.64x8x16.F16": 128})
    build = kernel("k").model_copy(update={"opcodes": {"bookkeeping:HGMMA.64x8x16.F16": 1, "HGMMA.64x8x16.F16": 1}})
    (proof,), mixed = join([launch], [build])
    assert set(proof.executed) == {"HGMMA.64x8x16.F16"} and mixed == ("HGMMA.64x8x16.F16 in k",)


def test_bookkeeping_in_a_function_called_by_address_is_known_too():
    launch = Launch("k", {"HGMMA.64x8x16.F16": 4}, {"HGMMA.64x8x16.F16": 128})
    device = kernel("f").model_copy(update={"opcodes": {"bookkeeping:HGMMA.64x8x16.F16": 1}})
    (proof,), _ = join([launch], [kernel("k", CALL=1), device])
    assert set(proof.executed) == {"bookkeeping:HGMMA.64x8x16.F16"}


def test_kernels_that_the_build_does_not_hold_execute_something_unknown():
    (proof,), _ = join([Launch("other", {"HGMMA": 4, "FADD": 1}, {"HGMMA": 128, "FADD": 32})], [kernel("k", HGMMA=1)])
    assert proof.executed == {"?": ExecutedCount(warp=5, thread_true=160)}


GOOD = [["FADD", 1]]


@pytest.mark.parametrize(
    "document",
    [
        None, [], "x", {}, {"kernels": None}, {"kernels": {}}, {"kernels": [None]}, {"kernels": [{}]},
        {"kernels": [{"name": "", WARPS: GOOD, THREADS: GOOD}]},
        {"kernels": [{"name": "k" * 5000, WARPS: GOOD, THREADS: GOOD}]},
        {"kernels": [{"name": "k\n", WARPS: GOOD, THREADS: GOOD}]},
        {"kernels": [{"name": 5, WARPS: GOOD, THREADS: GOOD}]},
        {"kernels": [{"name": "k", WARPS: GOOD}]},
        {"kernels": [{"name": "k", WARPS: None, THREADS: GOOD}]},
        {"kernels": [{"name": "k", WARPS: [], THREADS: []}]},
        *({"kernels": [{"name": "k", WARPS: GOOD, THREADS: [["FADD", count]]}]} for count in (-1, 1.5, True, "1", None, 1 << 64)),
        *({"kernels": [{"name": "k", WARPS: [pair], THREADS: GOOD}]} for pair in (None, [], ["FADD"], [1, 1], ["FADD", 1, 1])),
    ],
)  # fmt: skip
def test_other_documents_are_unreadable(document):
    with pytest.raises(UnreadableReport):
        launches(json.dumps(document))


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_other_texts_are_unreadable(text):
    with pytest.raises(UnreadableReport):
        launches(text)


@pytest.fixture
def reader(tmp_path):
    """Make a folder with an ``ncu_report`` of the test's own."""

    def make(name: str, code: str = FAKE_NCU_REPORT) -> Path:
        (tmp_path / name).mkdir()
        (tmp_path / name / "ncu_report.py").write_text(code)
        return tmp_path / name

    return make


def test_a_report_is_read_by_the_first_library_that_can(recorded, reader):
    wrong = reader("newer", "def load_report(name): raise RuntimeError('made by a newer version')\n")
    found = read_report(recorded / "ncu_gemm.json", [wrong, reader("fitting")])
    assert found == launches((recorded / "ncu_gemm.json").read_text())


def test_a_library_that_cannot_says_why(recorded, reader):
    with pytest.raises(UnreadableReport, match="made by a newer version"):
        read_report(
            recorded / "ncu_gemm.json", [reader("newer", "def load_report(name): raise RuntimeError('made by a newer version')\n")]
        )
    with pytest.raises(UnreadableReport, match="cannot be read: it said nothing"):
        read_report(recorded / "ncu_gemm.json", [reader("dies", "import os\nos.kill(os.getpid(), 9)\n")])


def test_a_library_that_prints_for_ever_is_bounded(recorded, reader):
    noisy = reader("noisy", "import sys\nfor _ in range(70): sys.stdout.write('x' * (1 << 20))\n" + FAKE_NCU_REPORT)
    with pytest.raises(UnreadableReport):
        read_report(recorded / "ncu_gemm.json", [noisy])


def test_a_report_without_the_metric_is_unreadable(tmp_path, reader):
    (tmp_path / "report").write_text(json.dumps({"kernels": [{"name": "k", WARPS: GOOD}]}))
    with pytest.raises(UnreadableReport, match="counted nothing in the kernel k"):
        read_report(tmp_path / "report", [reader("fitting")])


def test_no_report_and_a_huge_one_are_unreadable(tmp_path):
    with pytest.raises(UnreadableReport, match="it wrote no report"):
        read_report(tmp_path / "none", [])
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)
    with pytest.raises(UnreadableReport, match="larger than 256 MiB"):
        read_report(tmp_path / "huge", [])


def test_the_judge_never_loads_the_library(recorded, reader):
    read_report(recorded / "ncu_gemm.json", [reader("fitting")])
    assert "ncu_report" not in sys.modules
