"""How often ``ptxbench compare`` finds a difference that was planted, and one where there is none.

    python benchmarks/compare_power.py OUT.json [--trials 1000]

Cells are simulated: prompt variants with four trajectories each, eight turns a trajectory, each with its own rate of correct turns
(Beta with mean 0.3 and a spread of 0.2), speedups of correct turns log-normal about 0.74. The second side has the same rate, or
twice the rate.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ptxbench.metrics.differences import differences
from ptxbench.metrics.tallies import CellTally, Tally

TURNS, LIMITS, PER_VARIANT = 8, (1, 4, 8), 4
RATE, PLANTED = 0.3, 0.6
SIZES = (4, 8, 12, 24)


EXCEEDS, INTERVAL = 0, 1
"""Positions in what ``found`` counts."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how often differences are found.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--trials", type=int, default=1000)
    arguments = parser.parse_args()
    from evidence import write

    figures: dict[str, Any] = {"trials": arguments.trials, "rate": RATE, "planted": PLANTED, "trajectories": {}}
    for size in SIZES:
        rng = np.random.default_rng([1, size])
        planted, copies = found(rng, arguments.trials, size, PLANTED), found(rng, arguments.trials, size, RATE)
        figures["trajectories"][str(size)] = {
            "planted_percent": in_percent(planted, EXCEEDS),
            "copies_percent": in_percent(copies, EXCEEDS),
            "copies_by_interval_alone_percent": in_percent(copies, INTERVAL),
            "copies_without_pairs_percent": in_percent(found(rng, arguments.trials, size, RATE, prefix="other-"), EXCEEDS),
        }
    write(arguments.out, figures)


def in_percent(shares: dict[str, tuple[float, float]], which: int) -> dict[str, float]:
    return {name: round(100 * share[which], 1) for name, share in shares.items()}


def found(rng: np.random.Generator, trials: int, size: int, rate: float, prefix: str = "") -> dict[str, tuple[float, float]]:
    """Return by metric the share of trials in which two sides of ``size`` trajectories differ beyond noise.

    Beside it (``INTERVAL``) the share in which the bootstrap's interval leaves out zero, whatever exchanges say. ``prefix`` stands
    before the names of the second side's trajectories: those then are in no pair.
    """
    hits: dict[str, list[int]] = {}
    for _ in range(trials):
        for each in differences(simulated(rng, size, RATE), simulated(rng, size, rate, prefix)):
            metric = each.found.metric
            name = metric.name if metric.k is None else f"{metric.name} at {metric.k}"
            low, high = each.found.low or 0.0, each.found.high or 0.0
            counts = hits.setdefault(name, [0, 0])
            counts[EXCEEDS] += bool(each.found.exceeds_noise)
            counts[INTERVAL] += low > 0.0 or high < 0.0
    return {name: (counts[EXCEEDS] / trials, counts[INTERVAL] / trials) for name, counts in hits.items()}


def simulated(rng: np.random.Generator, trajectories: int, rate: float, prefix: str = "") -> CellTally:
    """Return a cell whose trajectories differ in how often they are correct: ``rate`` on average."""
    members = []
    for number in range(trajectories):
        correct = rng.random(TURNS) < rng.beta(4 * rate, 4 * (1 - rate))
        speedups = np.exp(rng.normal(-0.3, 0.5, TURNS)) * correct
        variant = f"v{number // PER_VARIANT}"
        right, fast = int(correct.sum()), int((speedups > 1.0).sum())
        best = tuple(float(speedups[:k].max()) for k in LIMITS)
        members.append(
            Tally(
                variant=variant,
                name=f"{prefix}{variant}-{number % PER_VARIANT}",
                n=TURNS,
                undecided=0,
                correct=right,
                qualified=right,
                unproven=0,
                turns=TURNS,
                fast=fast,
                target_fast=fast,
                best=best,
                target_best=best,
                tokens=int(rng.lognormal(10, 0.4)),
            )
        )
    return CellTally(tuple(sorted(members, key=lambda tally: tally.order)), target=True, known=True)


if __name__ == "__main__":
    main()
