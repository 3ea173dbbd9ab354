"""Small tables of turns from which every kind of table and figure can be made, the same on every machine."""

from ptxbench.metrics import NotReached, Plan
from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.turn_columns import Resources
from ptxbench.report.evidence import Evidence
from ptxbench.report.sources import Sources
from ptxbench.schema import CellKey, CorrectVerdict, Outcome, TokenCount, Turn, TurnHashes, TurnProof

CUBLAS = "cuBLAS 13.1.0 (torch 2.11.0)"
GEMM, BWD = "gemm_n7168_k5120", "mha_bwd_d128"


def key(**changes):
    named = {
        "model": "openai/A_1", "arch": "sm_90a", "device": "h200", "task": GEMM, "workload": "0123456789", "language": "cuda",
        "pack": "hopper", "arm": "contracts", "protocol": "strict", "run": "r-a-gemm",
    }  # fmt: skip
    return CellKey(**named | changes)


def turn(key, trajectory, index, outcome, speedup=None, proof=None, *, tokens=(100, 50, 20), gpu=1.5, evaluation=None):
    known = outcome is not None
    correct = outcome is Outcome.CORRECT if known else None
    sent, replied, reasoned = tokens or (None, None, None)
    return Turn(
        key=key,
        variant=trajectory.split("-")[0] or None,
        trajectory=trajectory,
        turn=index,
        outcome=outcome,
        undecided=None if known else "no GPU",
        blame=None,
        correct=CorrectVerdict(paper=correct, strict=correct, reasons=()),
        speedup=speedup,
        candidate_us=None,
        reference_us=None,
        proof=proof and TurnProof(status=proof, compute=None, data_movement=None, work_share=None),
        hashes=TurnHashes(prompt="p", reply="r", source="s", evaluation=evaluation, task="t"),
        tokens=TokenCount(input=sent, output=replied, reasoning=reasoned),
        cost_usd=0.01 * index + 0.02,
        seconds={"time": gpu, "model": 3.0},
    )


OUTCOMES = {
    "x": Outcome.COMPILE_ERROR,
    "w": Outcome.WRONG_VALUE,
    "t": Outcome.TIMEOUT,
    "?": None,
}


def turns(key, **trajectories):
    """``turns(key, a_0="x w q0.5 n0.7 u0.9 ?")``: q is qualified, n not executed, u unproven, each with its speedup."""
    proofs = {"q": "qualified", "n": "not_executed", "u": "unknown"}
    made = []
    for name, words in trajectories.items():
        for index, word in enumerate(words.split()):
            trajectory = name.replace("_", "-")
            if word in OUTCOMES:
                made.append(turn(key, trajectory, index, OUTCOMES[word]))
            else:
                speedup = float(word[1:]) if word[1:] else None
                made.append(turn(key, trajectory, index, Outcome.CORRECT, speedup, proofs[word[0]], evaluation=f"e{index}"))
    return made


def plan(variants=("a", "b"), trajectories=1, turns=4, baseline=CUBLAS, **changes):
    settings = {"feedback": "full", "judge": "11111111", "pack text": "22222222", "turns": str(turns)}
    return Plan(
        variants=variants, trajectories=trajectories, turns=turns, baseline=baseline, device_name="NVIDIA H200", settings=settings
    ).model_copy(update=changes)


def comparable_runs(gemm=GEMM, bwd=BWD):
    """Two models on two workloads: unknown proofs, an undecided turn, a full context, nothing correct."""
    a_gemm, b_gemm = key(task=gemm), key(task=gemm, model="B & co", run="r-b-gemm")
    a_bwd, b_bwd = key(task=bwd, run="r-a-bwd"), key(model="B & co", task=bwd, run="r-b-bwd")
    made = [
        *turns(a_gemm, a_0="x q0.5 n0.75 q1.25", b_0="w x q0.5 u1.5"),
        *turns(b_gemm, a_0="x x w q0.25", b_0="x ?"),
        *turns(a_bwd, a_0="x t w x", b_0="x x q0.125 x"),
        *turns(b_bwd, a_0="x x x x", b_0="x x x x"),
    ]
    planned = {
        a_gemm: plan(),
        b_gemm: plan(not_reached=(NotReached(trajectory="b-0", variant="b", first=2),)),
        a_bwd: plan(baseline="cuDNN 9.20.0"),
        b_bwd: plan(baseline=None),
    }
    return made, planned


def incomparable_runs():
    """The same model and workload with another of each thing that keeps runs apart."""
    apart = {
        "device": key(device="h100", run="r-h100"),
        "protocol": key(protocol="paper", run="r-paper"),
        "harness": key(harness="other", run="r-other"),
        "arm": key(arm="wrappers", run="r-wrappers"),
        "language": key(language="triton", pack="triton-hopper", run="r-triton"),
        "condition": key(condition="guidance:expert", run="r-guided"),
        "checkpoint": key(checkpoint="s1", run="r-s1"),
    }
    made = [row for each in apart.values() for row in turns(each, a_0="x q0.5 q0.75 x", b_0="x x n1.5 x")]
    names = {"h100": "NVIDIA H100"}
    return made, {each: plan(device_name=names.get(each.device, "NVIDIA H200")) for each in apart.values()}


def sources(*runs, evidence=()):
    made, planned = [], {}
    for some, plans in runs:
        made += some
        planned |= plans
    resources = {f"e{index}": Resources(160 + index, 8 * index, 12.5) for index in range(8)}
    return Sources(TurnFrame.of(made, planned, resources=resources), tuple(evidence))


def evidence():
    points = [
        {"series": "rollouts", "concurrency": at, "rate": rate, "unit": "trajectories/h"} for at, rate in ((4, 10.0), (48, 27.8))
    ]
    gpu = {"name": "NVIDIA H200", "driver": "1"}
    common = {"command": "python benchmarks/x.py", "commit": "0123456789abcdef", "date": "2026-11-29T00:00:00+00:00"}
    return (
        Evidence(name="service", machine={"processor": "X", "cores": 4}, figures={"gpu": gpu, "throughput": points}, **common),
        Evidence(name="cpu", machine={"processor": "X", "cores": 4}, figures={"evaluations_per_second": 2.5}, **common),
    )
