"""What executed counts prove: joined with the listing, three-valued, with a share of the work, and compared between methods."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptxbench import arch
from ptxbench.evaluate.proof import counts, decide
from ptxbench.evaluate.sandbox.claims import Counts, FunctionCounts, read_counts
from ptxbench.schema import ExecutedCount, KernelProof, Proof

HOPPER, BLACKWELL = arch.get("sm_90a"), arch.get("sm_100a")
MMA, LOAD = "HGMMA.64x256x16.F32.BF16", "UTMALDG.2D"
LISTING = {"gemm": ["MOV", MMA, f"bookkeeping:{MMA}", LOAD, "MOV", "EXIT"], "copy": ["LDG.E", "EXIT"]}


def kernel(executed: dict[str, tuple[int, int]], name: str = "gemm") -> KernelProof:
    return KernelProof(
        name=name, launches=1, executed={key: ExecutedCount(warp=warp, thread_true=true) for key, (warp, true) in executed.items()}
    )


def prove(executed: dict[str, tuple[int, int]], target: arch.Architecture = HOPPER, **options: object) -> Proof:
    kernels = (kernel(executed),) if executed else ()
    return decide.prove(kernels, target, "cupti", 1 << 20, **options)  # type: ignore[arg-type]


def test_counts_by_pc_become_counts_by_opcode_of_the_listing():
    gemm = FunctionCounts("gemm", ((0, 4, 128), (16, 8, 256), (32, 8, 0), (48, 0, 0), (64, 2, 64), (80, 4, 128)))
    copy = FunctionCounts("copy", ((0, 1, 7), (16, 1, 32)))
    found = counts.join(Counts((gemm, copy)), LISTING, {"gemm": 3})
    assert [one.name for one in found] == ["gemm", "copy"] and [one.launches for one in found] == [3, 1]
    assert found[0].executed == {
        "MOV": ExecutedCount(warp=6, thread_true=192),
        MMA: ExecutedCount(warp=8, thread_true=256),
        f"bookkeeping:{MMA}": ExecutedCount(warp=8, thread_true=0),
        "EXIT": ExecutedCount(warp=4, thread_true=128),
    }
    assert counts.foreign(found) == ()


@pytest.mark.parametrize(
    "function",
    [
        FunctionCounts("somebody_elses", ((0, 1, 32),)),
        FunctionCounts("copy", ((32, 1, 32),)),
        FunctionCounts("copy", ((8, 1, 32),)),
        FunctionCounts("copy", ((1 << 60, 1, 32),)),
    ],
)
def test_what_the_listing_does_not_hold_is_counted_apart_and_named(function):
    found = counts.join(Counts((function,)), LISTING, {})
    assert found[0].executed == {"?": ExecutedCount(warp=1, thread_true=32)}
    assert counts.foreign(found) == (function.name,)


def test_functions_that_executed_nothing_are_left_out():
    assert counts.join(Counts((FunctionCounts("gemm", ((0, 0, 0),)), FunctionCounts("copy", ()))), LISTING, {}) == ()


def test_records_of_one_function_from_several_modules_add_up():
    twice = Counts((FunctionCounts("copy", ((0, 1, 32),)), FunctionCounts("copy", ((0, 2, 64),))))
    (found,) = counts.join(twice, LISTING, {"copy": 2})
    assert found.executed == {"LDG.E": ExecutedCount(warp=3, thread_true=96)}


@pytest.mark.parametrize(
    ("executed", "compute", "movement", "status"),
    [
        ({MMA: (4, 128)}, True, False, "qualified"),
        ({LOAD: (1, 1)}, False, True, "qualified"),
        ({"UTMASTG.2D": (1, 1)}, False, True, "qualified"),
        ({"UTMAREDG.2D.ADD": (1, 32)}, False, True, "qualified"),
        ({MMA: (4, 128), LOAD: (1, 1)}, True, True, "qualified"),
        ({MMA: (4, 0)}, False, False, "not_executed"),
        ({f"bookkeeping:{MMA}": (4, 128)}, False, False, "not_executed"),
        ({"FFMA": (4, 128), "UBLKCP": (1, 1), "UTMAPF.L2.2D": (1, 1), "UTMACMDFLUSH": (1, 1)}, False, False, "not_executed"),
        ({"?": (4, 128)}, None, None, "unknown"),
        ({MMA: (4, 128), "?": (1, 32)}, True, None, "qualified"),
        ({LOAD: (1, 1), "?": (1, 32)}, None, True, "qualified"),
        ({}, None, None, "unknown"),
    ],
)
def test_hopper_predicates_are_three_valued(executed, compute, movement, status):
    proof = prove(executed)
    assert (proof.compute, proof.data_movement, proof.status) == (compute, movement, status)


@pytest.mark.parametrize(
    ("executed", "compute", "status"),
    [
        ({"UTCHMMA": (1, 1), "LDTM.x32": (4, 128)}, True, "qualified"),
        ({"UTCHMMA": (1, 1)}, False, "not_executed"),
        ({"LDTM.x32": (4, 128)}, False, "not_executed"),
        ({"UTCHMMA": (1, 1), "?": (1, 32)}, None, "unknown"),
        ({"LDTM.x32": (4, 128), "?": (1, 32)}, None, "unknown"),
        ({"UTCBAR": (1, 1), "LDTM.x32": (4, 128), "UTCATOMSWS": (1, 1)}, False, "not_executed"),
        ({}, None, "unknown"),
    ],
)
def test_blackwell_needs_both_executed_and_an_unknown_readback_leaves_it_open(executed, compute, status):
    proof = prove(executed, BLACKWELL)
    assert (proof.compute, proof.status) == (compute, status)
    assert proof.work_share is None or "UTCHMMA" not in executed


def test_dropped_records_leave_what_was_not_seen_open():
    assert prove({MMA: (4, 128)}, complete=False).status == "qualified"
    assert prove({MMA: (4, 128)}, complete=False).work_share is None
    proof = prove({"FFMA": (4, 128)}, complete=False)
    assert (proof.compute, proof.data_movement, proof.status) == (None, None, "unknown")


def test_what_does_not_stand_in_the_binary_did_not_execute():
    nothing = decide.unknown("cupti", HOPPER)
    assert (nothing.status, nothing.compute, nothing.data_movement) == ("unknown", None, None)
    plain = decide.unknown("cupti", HOPPER, present=["FFMA", "LDG.E"])
    assert (plain.status, plain.compute, plain.data_movement) == ("absent", False, False)
    loads = decide.unknown("ncu", HOPPER, present=[LOAD, "FFMA"])
    assert (loads.status, loads.compute, loads.data_movement, loads.method) == ("unknown", False, None, "ncu")
    assert prove({"FFMA": (4, 128)}, present=["FFMA"]).status == "absent"
    assert prove({"FFMA": (4, 128)}, present=["FFMA", MMA]).status == "not_executed"


def test_work_share_is_executed_over_nominal_flops():
    flops = 2 * 64 * 256 * 16
    whole = decide.prove((kernel({MMA: (4, 128)}),), HOPPER, "cupti", flops)
    assert whole.work_share == 1.0
    double = decide.prove((kernel({MMA: (4, 128)}), kernel({MMA: (4, 128)}, "other")), HOPPER, "cupti", flops)
    assert double.work_share == 2.0
    decoy = decide.prove((kernel({MMA: (4, 128), "FFMA": (10**6, 10**7)}),), HOPPER, "cupti", flops * 10**4)
    assert decoy.work_share == pytest.approx(1e-4)
    switched_off = decide.prove((kernel({MMA: (400, 128)}),), HOPPER, "cupti", flops)
    assert switched_off.work_share == 1.0
    assert decide.prove((kernel({"FFMA": (4, 128)}),), HOPPER, "cupti", flops).work_share == 0.0
    assert decide.prove((kernel({MMA: (4, 128)}),), HOPPER, "cupti", None).work_share is None
    assert decide.prove((kernel({"UTCHMMA": (4, 128), "LDTM": (1, 32)}),), BLACKWELL, "cupti", flops).work_share is None


def test_methods_that_agree_make_one_proof_of_both():
    cupti = prove({MMA: (4, 128), LOAD: (1, 1), "FFMA": (9, 9)})
    ncu = decide.prove((kernel({MMA: (4, 128), LOAD: (1, 1), "FFMA": (8, 8)}, "gemm(a, b)"),), HOPPER, "ncu", 1 << 20)
    proof, flags = decide.agree(cupti, ncu, HOPPER)
    assert flags == () and proof.method == "both" and proof.status == "qualified"
    assert proof.work_share == cupti.work_share and proof.kernels == cupti.kernels


@pytest.mark.parametrize("other", [{MMA: (4, 96), LOAD: (1, 1)}, {MMA: (8, 128), LOAD: (1, 1)}, {MMA: (4, 128)}, {"FFMA": (1, 1)}])
def test_methods_that_differ_on_an_opcode_that_qualifies_prove_nothing(other):
    proof, flags = decide.agree(prove({MMA: (4, 128), LOAD: (1, 1)}), prove(other).model_copy(update={"method": "ncu"}), HOPPER)
    assert (proof.status, proof.compute, proof.data_movement, proof.work_share, proof.method) == (
        "unknown",
        None,
        None,
        None,
        "both",
    )
    (flag,) = flags
    assert flag.code == "proof_disagrees" and ("by ncu" in flag.text)


def test_a_method_that_counted_nothing_leaves_the_others_proof():
    some, none = prove({MMA: (4, 128)}), decide.unknown("ncu", HOPPER)
    assert decide.agree(some, none, HOPPER) == (some, ())
    assert decide.agree(decide.unknown("cupti", HOPPER), some, HOPPER) == (some, ())


RECORDED = json.loads((Path(__file__).parent / "recorded" / "sass_counts.json").read_text())
"""What an H200 counted of four kernels: GEMMs of M=512, N=512, K=256, and ``tests/gpu/child/counted.cu`` on 4096 elements."""


def recorded(name: str) -> tuple[tuple[KernelProof, ...], Proof]:
    one = RECORDED[name]
    listing = {function: [one["opcodes"][place] for place in places] for function, places in one["sass"].items()}
    read = read_counts(json.dumps({"kernels": one["kernels"], "dropped": one["dropped"]}).encode())
    assert read is not None
    kernels = counts.join(read, listing, one["launches"])
    present = {opcode for opcodes in listing.values() for opcode in opcodes}
    return kernels, decide.prove(kernels, HOPPER, "cupti", one["flops"], present=present)


def test_a_gemm_on_the_tensor_cores_did_all_the_work_there():
    kernels, proof = recorded("gemm")
    (gemm,) = kernels
    assert counts.foreign(kernels) == () and gemm.launches == 1
    assert gemm.executed[MMA] == ExecutedCount(warp=4 * 512 * 512 * 256 // (64 * 256 * 16), thread_true=32 * 1024)
    assert gemm.executed["UTMALDG.2D"].warp == 64
    assert (proof.status, proof.compute, proof.data_movement, proof.work_share) == ("qualified", True, True, 1.0)


def test_a_plain_gemm_holds_nothing_that_could_qualify():
    kernels, proof = recorded("plain")
    assert counts.foreign(kernels) == ()
    assert (proof.status, proof.compute, proof.data_movement, proof.work_share) == ("absent", False, False, 0.0)


def test_a_decoy_qualifies_as_published_and_its_share_gives_it_away():
    kernels, proof = recorded("decoy")
    assert kernels[0].executed["HGMMA.64x8x16.F32.BF16"].warp == 4
    assert proof.status == "qualified" and proof.work_share is not None and proof.work_share < 2e-4


def test_a_function_that_is_not_inlined_is_counted_with_its_kernel_and_by_the_threads_that_called_it():
    (kernel_proof,), _ = recorded("counted")
    assert kernel_proof.name == "_Z11every_otherPKfPf"
    assert kernel_proof.executed["MUFU.RSQ"] == ExecutedCount(warp=128, thread_true=2048)
    assert kernel_proof.executed["STG.E"] == ExecutedCount(warp=128, thread_true=4096)
    assert "?" not in kernel_proof.executed
