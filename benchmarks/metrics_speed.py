"""How long every metric takes over a million turns, and how much memory: in a child process of its own.

    python benchmarks/metrics_speed.py OUT.json [--turns 1000000]

The turns are those of 10,417 cells of 3 prompt variants x 4 trajectories x 8 turns. A Parquet file holds them; the child reads it,
checks it (``TurnFrame.from_flat``) and computes every figure. Its peak memory is the kernel's figure for the whole child, Python
and Polars included. ``total_s`` is from the table in memory to the last figure; the median of five runs counts.
It wants two cores to itself: on a busy machine run it with priority; ``load_before`` says how busy that was.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

VARIANTS, TRAJECTORIES, TURNS = 3, 4, 8
PER_CELL = VARIANTS * TRAJECTORIES * TURNS
CORES = 2
RUNS = 5
BY = ("model", "arch", "device", "task", "workload", "language", "pack", "harness", "protocol", "run")
"""Order of the table, which is that of a frame that was written (``TurnFrame.flat``)."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how long the metrics of a table of turns take.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        sys.stdout.write(json.dumps(measured(arguments.measure)))
        return
    from evidence import write

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "turns.parquet"
        command = [sys.executable, __file__, str(arguments.out), "--turns", str(arguments.turns)]
        made = subprocess.run([sys.executable, "-c", MAKE, str(table), str(arguments.turns)], cwd=Path(__file__).parent)
        made.check_returncode()
        environment = os.environ | {
            "POLARS_MAX_THREADS": str(CORES),
            "OMP_NUM_THREADS": str(CORES),
            "OPENBLAS_NUM_THREADS": str(CORES),
        }
        load = os.getloadavg()
        runs = []
        for _ in range(RUNS):
            child = subprocess.run([*command, "--measure", str(table)], env=environment, capture_output=True, text=True)
            if child.returncode:
                raise SystemExit(child.stderr)
            runs.append(json.loads(child.stdout))
    runs.sort(key=lambda run: run["total_s"])
    median = runs[RUNS // 2]
    figures = median | {
        "total_s_of_all_runs": [run["total_s"] for run in runs],
        "load_before": [round(load, 2) for load in load],
        "holds": median["total_s"] < 2.0 and max(run["peak_mib"] for run in runs) * 2**20 < 1e9,
    }
    write(arguments.out, figures)


MAKE = "import sys; from metrics_speed import make; make(sys.argv[1], int(sys.argv[2]))"
"""The table is made in a child too: what it takes to make it is no part of any figure."""


def make(path: str, turns: int) -> None:
    """Write a table of that many turns, equal in every run."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    index = np.arange(turns)
    cell = index // PER_CELL
    place = index % PER_CELL
    trajectory, turn = place // TURNS, place % TURNS
    outcomes = np.array(["correct", "compile_error", "wrong_value", "runtime_error", "timeout", "no_code", "not_reached"])
    outcome = rng.choice(outcomes, turns, p=[0.45, 0.2, 0.14, 0.1, 0.06, 0.03, 0.02])
    correct = outcome == "correct"
    models, tasks, archs = 25, 40, ("sm_90a", "sm_100a")
    proofs = rng.choice(np.array(["qualified", "not_executed", "absent", "unknown"]), turns, p=[0.6, 0.2, 0.1, 0.1])
    output = rng.integers(1_000, 60_000, turns)

    def named(texts: list[str], code: Any) -> pl.Series:
        return pl.Series(texts, dtype=pl.String).cast(pl.Categorical).gather(code)

    pl.DataFrame(
        {
            "model": named([f"model-{n}" for n in range(models)], cell % models),
            "arch": named(list(archs), cell // models % 2),
            "device": named(["h200", "b200"], cell // models % 2),
            "task": named([f"task_{n}_{'bwd' if n % 2 else 'fwd'}_d128" for n in range(tasks)], cell // models // 2 % tasks),
            "workload": named(["primary"], cell * 0),
            "language": named(["cuda"], cell * 0),
            "pack": named(["sm_90a-bf16", "sm_100a-bf16"], cell // models % 2),
            "harness": named(["mini"], cell * 0),
            "protocol": named(["paper"], cell * 0),
            "run": named([f"run-{n}" for n in range(int(cell[-1]) + 1)], cell),
            "trajectory": named(
                [f"{'abc'[n // TRAJECTORIES]}-{n % TRAJECTORIES}" for n in range(VARIANTS * TRAJECTORIES)], trajectory
            ),
            "variant": named(list("abc"), trajectory // TRAJECTORIES),
            "turn": turn.astype(np.int32),
            "outcome": pl.Series(outcome).cast(pl.Categorical),
            "speedup": pl.Series(np.where(correct, rng.lognormal(-0.8, 0.5, turns), np.nan)).fill_nan(None),
            "proof": pl.Series(proofs).cast(pl.Categorical),
            "input_tokens": 25_000 + 4_000 * turn,
            "output_tokens": output,
            "reasoning_tokens": output * 3 // 4,
            "cost_usd": output * 1e-5,
            "gpu_seconds": np.where(correct, 3.5, 0.4),
            "gate_passed": pl.Series(rng.random(turns) < 0.5),
            "registers": rng.integers(32, 256, turns),
            "spill_bytes": np.where(rng.random(turns) < 0.2, 64, 0),
        }
    ).sort(*BY, maintain_order=True).write_parquet(path)


def measured(path: Path) -> dict[str, Any]:
    """Return the figures of this process: it reads the table and computes everything."""
    started = time.perf_counter()
    import polars as pl

    from ptxbench.metrics.budgets import at_budgets
    from ptxbench.metrics.by_limit import by_limit
    from ptxbench.metrics.by_turn import kernels_by_turn, outcomes_by_turn, reasoning_by_turn
    from ptxbench.metrics.curves import fast_p_curves
    from ptxbench.metrics.effort import effort_to_first
    from ptxbench.metrics.frame import TurnFrame
    from ptxbench.metrics.intervals import intervals_by_limit, median_best_intervals
    from ptxbench.metrics.resources import resources_by_outcome
    from ptxbench.metrics.trajectories import trajectories, trajectory_medians

    seconds = {"import": time.perf_counter() - started}
    processor = time.process_time()

    def timed(name: str, compute: Callable[[], Any]) -> Any:
        begun = time.perf_counter()
        result = compute()
        seconds[name] = time.perf_counter() - begun
        return result

    flat = timed("read", lambda: pl.read_parquet(path))
    frame = timed("check", lambda: TurnFrame.from_flat(flat))
    rows = {
        "by_limit": timed("by_limit", lambda: by_limit(frame)).height,
        "fast_p": timed("fast_p", lambda: fast_p_curves(frame)).height,
        "fast_p_inst": timed("fast_p_inst", lambda: fast_p_curves(frame, "fast_p_inst")).height,
        "outcomes_by_turn": timed("outcomes_by_turn", lambda: outcomes_by_turn(frame)).height,
        "kernels_by_turn": timed("kernels_by_turn", lambda: kernels_by_turn(frame)).height,
        "reasoning_by_turn": timed("reasoning_by_turn", lambda: reasoning_by_turn(frame)).height,
    }
    paths = timed("trajectories", lambda: trajectories(frame))
    rows |= {
        "trajectories": paths.height,
        "trajectory_medians": timed("trajectory_medians", lambda: trajectory_medians(paths)).height,
        "at_budgets": timed("at_budgets", lambda: at_budgets(frame, [100_000, 300_000])).height,
        "effort": timed("effort", lambda: effort_to_first(frame)).height,
        "resources": timed("resources", lambda: resources_by_outcome(frame)).height,
        "intervals_by_limit": timed("intervals_by_limit", lambda: intervals_by_limit(frame)).height,
        "intervals_of_medians": timed("intervals_of_medians", lambda: median_best_intervals(frame, paths)).height,
    }
    return {
        "turns": flat.height,
        "cells": frame.cells.height,
        "cores": CORES,
        "total_s": round(sum(value for name, value in seconds.items() if name not in ("import", "read")), 3),
        "processor_s": round(time.process_time() - processor, 3),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "rows": rows,
    }


if __name__ == "__main__":
    main()
