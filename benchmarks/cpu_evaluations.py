"""200 evaluations of CPU candidates, alternating good, wrong, crashing and hanging ones: verdicts, leaks, throughput.

    python benchmarks/cpu_evaluations.py OUT.json [--evaluations 200] [--slots 2]

The figures are taken after every candidate was evaluated once (so that judges and builds exist) and again at the end. Exits with
status 1 when a verdict is wrong or a descriptor, process, file, or more than a little memory is left.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evidence import write
from ptxbench.core.settings import Settings
from ptxbench.evaluate import EvaluateOptions, LocalEvaluator
from ptxbench.schema import Candidate, Evaluation, Outcome, Task
from ptxbench.suite import load
from ptxbench.toolchain import Builder, read_candidate

FOLDER = Path(__file__).parent / "candidates"
EXPECTED = {"good": Outcome.CORRECT, "wrong": Outcome.WRONG_VALUE, "crash": Outcome.RUNTIME_ERROR, "hang": Outcome.TIMEOUT}
RUN_SECONDS = 2.0
TASK = "cpu_softmax_n1024"
GROWTH_BYTES = 32 << 20
"""Memory that allocators may keep between the two looks; a leak of one staging buffer an evaluation would be 1.6 GB."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Evaluate good, wrong, crashing and hanging CPU candidates in turn.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--slots", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ptxbench-bench-") as cache:
        figures = asyncio.run(measure(Path(cache), arguments.evaluations, arguments.slots))
    write(arguments.out, figures)
    return 0 if figures["holds"] else 1


async def measure(cache: Path, evaluations: int, slots: int) -> dict[str, Any]:
    task = load().task(TASK)
    evaluator = LocalEvaluator(Builder(Settings(cache_dir=cache)), slots=slots)
    paths = [(name, FOLDER / f"softmax_{name}.{suffix}") for suffix in ("cpp", "py") for name in EXPECTED]
    candidates = [(name, read_candidate(path, arch="cpu")) for name, path in paths]
    try:
        await asyncio.gather(*(evaluate(evaluator, candidate, task) for _, candidate in candidates * slots))
        before = footprint(cache)
        started = time.monotonic()
        planned = [candidates[number % len(candidates)] for number in range(evaluations)]
        results = await asyncio.gather(*(evaluate(evaluator, candidate, task) for _, candidate in planned))
        seconds = time.monotonic() - started
        after = footprint(cache)
    finally:
        await evaluator.close()
    closed = footprint(cache)
    right = sum(result.outcome is EXPECTED[name] for (name, _), result in zip(planned, results, strict=True))
    growth = {name: after[name] - before[name] for name in before}
    holds = right == evaluations and growth.pop("memory_bytes") <= GROWTH_BYTES
    return {
        "task": TASK,
        "evaluations": evaluations,
        "slots": slots,
        "run_limit_s": RUN_SECONDS,
        "verdicts_right": right,
        "seconds": round(seconds, 2),
        "evaluations_per_second": round(evaluations / seconds, 2),
        "evaluations_per_second_without_hangs": round(without_hangs(planned, results, slots), 2),
        "child_start_to_first_call_ms": {
            suffix: round(statistics.median(start_ms(result) for result in of_language(planned, results, suffix)), 1)
            for suffix in ("cpp", "python")
        },
        "before": before,
        "after": after,
        "closed": closed,
        "holds": holds and not any(growth.values()) and closed["processes"] == 0,
    }


async def evaluate(evaluator: LocalEvaluator, candidate: Candidate, task: Task) -> Evaluation:
    return await evaluator.evaluate(candidate, task, EvaluateOptions(run_s=RUN_SECONDS))


def of_language(planned: list[tuple[str, Candidate]], results: list[Evaluation], language: str) -> list[Evaluation]:
    return [result for (_, candidate), result in zip(planned, results, strict=True) if candidate.language == language]


def start_ms(result: Evaluation) -> float:
    return 1e3 * ((result.seconds["start"] or 0.0) + (result.seconds["load"] or 0.0))


def without_hangs(planned: list[tuple[str, Candidate]], results: list[Evaluation], slots: int) -> float:
    """Return evaluations a second over the slots, counting only the time of those that do not hang."""
    stages = ("start", "load", "compare", "time")
    times = [
        sum(result.seconds.get(stage) or 0.0 for stage in stages)
        for (name, _), result in zip(planned, results, strict=True)
        if name != "hang"
    ]
    return slots * len(times) / sum(times)


def footprint(cache: Path) -> dict[str, int]:
    """Return what this process and everything below it hold now."""
    own, below = Path("/proc/self"), descendants()
    processes = [own, *(Path(f"/proc/{process}") for process in below)]
    return {
        "descriptors": sum(len(list((process / "fd").iterdir())) for process in processes),
        "memory_bytes": sum(resident(process) for process in processes),
        "processes": len(below),
        "files": sum(path.is_file() for path in cache.rglob("*")),
        "disk_bytes": sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()),
        "shared_memory_files": len(list(Path("/dev/shm").iterdir())),
    }


def descendants() -> list[int]:
    found: list[int] = []
    pending = ["self"]
    while pending:
        for path in Path(f"/proc/{pending.pop()}/task").glob("*/children"):
            children = path.read_text().split()
            found += map(int, children)
            pending += children
    return found


def resident(process: Path) -> int:
    lines = (process / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    sys.exit(main())
