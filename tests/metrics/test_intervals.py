"""Confidence intervals: what drawing whole trajectories again gives, worked out by other means."""

import itertools
import random
import statistics
from collections import Counter
from math import comb

import numpy as np
import polars as pl
import pytest

from ptxbench.metrics.bootstrap import median_intervals, rate_interval, rate_intervals
from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.curves import fast_p_at, fast_p_curves
from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.intervals import fast_p_intervals, intervals_by_limit, median_best_intervals
from ptxbench.metrics.trajectories import trajectories, trajectory_medians


def enumerated(values, statistic):
    """Return the ends from every possible draw of as many values with replacement: n to the n of them."""
    found = sorted(statistic(draw) for draw in itertools.product(values, repeat=len(values)))
    counts, reached, ends = Counter(found), 0, []
    for level in (0.025, 0.975):
        reached = 0
        for value in sorted(counts):
            reached += counts[value]
            if reached >= level * len(found) - 1e-6:
                ends.append(value)
                break
    return tuple(ends)


@pytest.mark.parametrize("seed", range(20))
def test_rates_of_equally_long_trajectories_are_exact(seed):
    draw = random.Random(seed)
    n, turns = draw.randint(2, 6), draw.choice([1, 4, 8])
    successes = [draw.randint(0, turns) for _ in range(n)]
    expected = enumerated(successes, lambda drawn: sum(drawn) / (turns * n))
    assert rate_interval(successes, [turns] * n) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("hits", range(13))
def test_shares_of_trajectories_have_binomial_intervals(hits):
    chance, reached, ends = hits / 12, 0.0, []
    for level in (0.025, 0.975):
        reached = 0.0
        for count in range(13):
            reached += comb(12, count) * chance**count * (1 - chance) ** (12 - count)
            if reached >= level - 1e-9:
                ends.append(count / 12)
                break
    assert rate_interval([1] * hits + [0] * (12 - hits), [1] * 12) == tuple(ends)


@pytest.mark.parametrize("seed", range(5))
def test_rates_of_unequally_long_trajectories_are_near_those_of_all_draws(seed):
    draw = random.Random(seed)
    turns = [draw.randint(1, 8) for _ in range(6)]
    pairs = [(draw.randint(0, n), n) for n in turns]
    expected = enumerated(pairs, lambda drawn: sum(s for s, _ in drawn) / sum(t for _, t in drawn))
    found = rate_interval([s for s, _ in pairs], turns)
    assert found == pytest.approx(expected, abs=0.03)
    assert found == rate_interval([s for s, _ in reversed(pairs)], turns[::-1])


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_medians_are_near_those_of_all_draws(n):
    draw = random.Random(n)
    values = [draw.choice([0.0, draw.random()]) for _ in range(n)]
    low, high = median_intervals(np.array([values, values[::-1]]))
    expected = enumerated(values, statistics.median)
    ranks = sorted({statistics.median(pair) for pair in itertools.product(values, repeat=2)})
    for found, wanted in zip((low[0], high[0]), expected, strict=True):
        assert found in ranks and abs(ranks.index(found) - ranks.index(wanted)) <= 1
    assert low[0] == low[1] and high[0] == high[1]


def test_medians_of_many_trajectories_have_the_normal_interval():
    values = np.random.default_rng(3).normal(10, 1, 2001)
    low, high = median_intervals(values[None])
    error = 1.96 * 1.2533 / 2001**0.5
    assert low[0] == pytest.approx(np.median(values) - error, abs=0.02)
    assert high[0] == pytest.approx(np.median(values) + error, abs=0.02)


@pytest.mark.parametrize(("trajectories", "least", "most"), [(4, 73, 84), (12, 88, 93), (48, 94, 95)])
def test_how_often_they_hold_the_true_rate(trajectories, least, most):
    found = []
    for a, b in ((1, 1), (0.5, 2), (3, 3)):
        draw = np.random.default_rng(1)
        successes = draw.binomial(8, draw.beta(a, b, (4000, trajectories)))
        low, high = rate_intervals(successes.astype(np.int64), np.full(successes.shape, 8))
        found.append(round(100 * float(((low <= a / (a + b)) & (a / (a + b) <= high)).mean())))
    assert (min(found), max(found)) == pytest.approx((least, most), abs=1)


def test_large_cells_and_empty_ones():
    low, high = rate_intervals(np.full((1, 20_000), 3), np.full((1, 20_000), 8))
    assert (low[0], high[0]) == (3 / 8, 3 / 8)
    assert rate_interval([], []) is None and rate_interval([3, 0], [8, 0]) is None


@pytest.fixture
def frame():
    draw = random.Random(11)
    rows = [
        {
            "model": "m",
            "arch": arch,
            "task": "gemm",
            "run": run,
            "variant": variant,
            "trajectory": f"{variant}-{number}",
            "turn": turn,
        }
        | {"outcome": draw.choice(["correct", "timeout"]), "speedup": draw.random(), "proof": draw.choice(["qualified", "unknown"])}
        | {"input_tokens": draw.randint(10, 90), "output_tokens": 5}
        for run, arch in (("r", "sm_90a"), ("s", "sm_90a"), ("cpu", "cpu"))
        for variant in "abc"
        for number in range(4)
        for turn in range(8)
    ]
    lone = [rows[0] | {"run": "one trajectory", "turn": turn} for turn in range(8)]
    return TurnFrame.from_flat(pl.DataFrame(rows + lone))


def test_every_interval_holds_its_figure(frame):
    figures = by_limit(frame).with_columns(
        success=pl.col("trajectories_correct") / pl.col("trajectories"),
        target_success=pl.col("trajectories_qualified") / pl.col("trajectories"),
        tagged_success=pl.col("trajectories_tagged") / pl.col("trajectories"),
    )
    found = intervals_by_limit(frame)
    names = found.get_column("figure").unique().sort().to_list()
    assert names == ["success", "tagged_success", "target_success", "target_turn_correctness", "turn_correctness"]
    long = figures.unpivot(names, index=["cell", "k"], variable_name="figure")
    joined = found.join(long, on=["cell", "k", "figure"], how="left")
    assert joined.select(pl.col("value").is_between("low", "high").all()).item()
    assert joined.filter(pl.col("figure") == "turn_correctness").select((pl.col("low") < pl.col("high")).all()).item()
    medians = trajectory_medians(trajectories(frame))
    best = median_best_intervals(frame, trajectories(frame))
    long = medians.unpivot(best.get_column("figure").unique(), index="cell", variable_name="figure")
    assert best.join(long, on=["cell", "figure"]).select(pl.col("value").is_between("low", "high").all()).item()
    shares = fast_p_intervals(frame, [0.0, 0.5]).join(fast_p_at(fast_p_curves(frame), [0.0, 0.5]), on=["cell", "p"])
    assert shares.height and shares.select(pl.col("mean").is_between("low", "high").all()).item()


def test_what_has_no_interval(frame):
    named = frame.keyed(intervals_by_limit(frame))
    assert "one trajectory" not in named.get_column("run").to_list()
    on_cpu = named.filter(pl.col("run") == "cpu").get_column("figure").unique().sort().to_list()
    assert on_cpu == ["success", "tagged_success", "turn_correctness"]
    assert "cpu" not in frame.keyed(fast_p_intervals(frame, [0.0], "fast_p_inst")).get_column("run").to_list()
