"""What can be relied on, on a GPU: how steady a speedup is, what a turn costs, the same verdict again, what holding data saves.

usage: python benchmarks/gpu_trust.py OUT.json [--part PART …]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evidence
from gpu_judge import REFERENCE, Bench, all_hold, candidate, progress
from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions, LocalEvaluator
from ptxbench.evaluate.gpu import visible_gpus
from ptxbench.schema import Evaluation, Source
from ptxbench.toolchain import Builder, locate

EVALUATIONS = 20
STEADY = 0.01
"""The interquartile range of the paired ratio over its median."""
HELD_SAVES = 2.24
"""Throughput that the published service gains by reusing baselines (paper, section on the evaluation service)."""
PUBLISHED_TURN_S, PUBLISHED_PROOF_S = 39.0, 15.0
AGAIN = ("gemm_bf16", "plain", "wrong_swizzle", "illegal_address", "decoy_wgmma", "host_crash")
RUNS = 3


def spread(values: list[float]) -> dict[str, float]:
    """Return median, extremes and the interquartile range over the median."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {
        "median": round(middle, 4),
        "min": round(min(values), 4),
        "max": round(max(values), 4),
        "iqr_over_median": round((high - low) / middle, 5),
    }


async def steadiness(bench: Bench) -> dict[str, Any]:
    """Time the reference GEMM again and again, each time in a child of its own."""
    await bench.evaluate(REFERENCE, stages=("compare", "time"))
    found = [(await bench.evaluate(REFERENCE, stages=("compare", "time"))).latency for _ in range(EVALUATIONS)]
    latencies = [one for one in found if one is not None]
    paired = spread([one.paired_speedup for one in latencies if one.paired_speedup])
    return {
        "evaluations": len(latencies),
        "paired_speedup": paired,
        "speedup": spread([one.speedup for one in latencies if one.speedup]),
        "candidate_us": spread([one.candidate_us for one in latencies if one.candidate_us]),
        "reference_us": spread([one.reference_us for one in latencies if one.reference_us]),
        "clocks": latencies[-1].clocks.model_dump() if latencies[-1].clocks else None,
        "holds": len(latencies) == EVALUATIONS and paired["iqr_over_median"] < STEADY,
    }


async def holding(bench: Bench) -> dict[str, Any]:
    """Compare a judge that holds nothing, started for one evaluation, with one that holds the workload; the artifact is built."""
    gpu = visible_gpus().devices[0]

    async def cold() -> tuple[float, Evaluation]:
        started = time.monotonic()
        evaluator = LocalEvaluator(Builder(bench.settings), gpus=[gpu])
        options = EvaluateOptions(stages=("compare", "time"))
        result = await evaluator.evaluate(candidate(REFERENCE), bench.task, options)
        seconds = time.monotonic() - started
        await evaluator.close()
        return seconds, result

    async def warm() -> tuple[float, Evaluation]:
        started = time.monotonic()
        result = await bench.evaluate(REFERENCE, stages=("compare", "time"))
        return time.monotonic() - started, result

    warm_runs = [await warm() for _ in range(6)]
    cold_runs = [await cold() for _ in range(2)]
    seconds = {name: statistics.median(s for s, _ in runs) for name, runs in (("cold_s", cold_runs), ("warm_s", warm_runs))}
    ratio = seconds["cold_s"] / seconds["warm_s"]
    outcomes = sorted({str(result.outcome) for _, result in (*warm_runs, *cold_runs)})
    return {
        **{name: round(value, 3) for name, value in seconds.items()},
        "ratio": round(ratio, 2),
        "outcomes": outcomes,
        "holds": ratio >= HELD_SAVES and outcomes == ["correct"],
    }


async def turn(bench: Bench, repeats: int = 5) -> dict[str, Any]:
    """Measure a model's turn: a source never seen before, compiled, checked for memory errors, compared, timed; the proof apart.

    One turn before those that count: a run's first finds neither the compiler nor the reference's results in memory.
    """
    turns, proofs, stages = [], [], []
    for number in range(-1, repeats):
        fresh = candidate(REFERENCE)
        sources = (Source(path=fresh.sources[0].path, content=f"// turn {number}\n{fresh.sources[0].content}"), *fresh.sources[1:])
        started = time.monotonic()
        options = EvaluateOptions(stages=("sanitize", "compare", "time", "prove"))
        result = await bench.evaluator.evaluate(fresh.model_copy(update={"sources": sources}), bench.task, options)
        wall = time.monotonic() - started
        proof = result.seconds.get("prove") or 0.0
        if result.build.cached or result.outcome != "correct" or result.proof is None or result.proof.status != "qualified":
            return {"outcome": result.outcome, "cached": result.build.cached, "holds": False}
        if number < 0:
            continue
        turns.append(wall - proof)
        proofs.append(proof)
        stages.append({"build": round(result.build.seconds, 3), **{name: round(s, 3) for name, s in result.seconds.items() if s}})
    whole, proof = statistics.median(turns), statistics.median(proofs)
    return {
        "turns": repeats,
        "turn_s": round(whole, 3),
        "proof_s": round(proof, 3),
        "stages_s": stages,
        "published_turn_over_ours": round(PUBLISHED_TURN_S / whole, 1),
        "published_proof_over_ours": round(PUBLISHED_PROOF_S / proof, 1),
        "holds": whole <= PUBLISHED_TURN_S / 10 and proof <= 0.5,
    }


async def again(bench: Bench) -> dict[str, Any]:
    """Evaluate each candidate several times with the same seed."""
    found: dict[str, Any] = {}
    for name in AGAIN:
        results = [await bench.evaluate(name, seed=7) for _ in range(RUNS)]
        verdicts = {(str(r.outcome), r.correct.paper, r.correct.strict, r.proof.status if r.proof else None) for r in results}
        found[name] = {"runs": RUNS, "verdicts": sorted(map(list, verdicts), key=str), "holds": len(verdicts) == 1}
    return found


PARTS: dict[str, Callable[[Bench], Any]] = {"steadiness": steadiness, "turn": turn, "again": again, "holding": holding}


async def measure(parts: tuple[str, ...], out: Path) -> dict[str, Any]:
    """Run the parts; what is known is written after each, should the machine be taken away."""
    gpus, settings = visible_gpus(), Settings()
    bench = Bench(settings, gpus.devices[0])
    figures: dict[str, Any] = {
        "gpu": {"name": gpus.devices[0].name, "driver": gpus.driver, "kernel": os.uname().release},
        "toolchain": locate(settings).versions.model_dump(),
        "task": bench.task.name,
    }
    try:
        await bench.build()
        for name in parts:
            figures[name] = await PARTS[name](bench)
            progress(name, figures[name])
            evidence.write(out.with_suffix(".partial"), figures)
    finally:
        await bench.evaluator.close()
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what can be relied on, on this machine's GPU.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--part", action="append", choices=tuple(PARTS))
    arguments = parser.parse_args()
    figures = asyncio.run(measure(tuple(arguments.part or PARTS), arguments.out))
    arguments.out.with_suffix(".partial").unlink(missing_ok=True)
    figures["holds"] = all_hold(figures)
    evidence.write(arguments.out, figures)
    return 0 if figures["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
