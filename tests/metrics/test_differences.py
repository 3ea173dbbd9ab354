"""Differences between cells: none with oneself, signs that turn, planted ones found as often as stated, chance ones rarely."""

import importlib.util
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxbench.core.errors import UsageError
from ptxbench.metrics import NotReached, Plan, summarise, value_at
from ptxbench.metrics.differences import differences, mean_difference
from ptxbench.metrics.tallies import CellTally, Tally, cell_tallies
from ptxbench.schema import TokenCount

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")
EVIDENCE = json.loads((ROOT / "evidence" / "cpu" / "compare-power.json").read_text(encoding="utf-8"))["figures"]
TRIALS = 150
VARIANTS = "abc"
SPEEDUPS = st.sampled_from([0.0, 0.25, 0.9, 1.0, 1.5])


@pytest.fixture(scope="session")
def power():
    """The script that measures how often differences are found."""
    spec = importlib.util.spec_from_file_location("compare_power", ROOT / "benchmarks" / "compare_power.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@st.composite
def tallies(draw):
    """One trajectory with counts that can be."""
    variant, number = draw(st.sampled_from(VARIANTS)), draw(st.integers(0, 5))
    correct = draw(st.integers(0, 8))
    qualified = draw(st.integers(0, correct))
    best = [draw(SPEEDUPS) if correct else 0.0 for _ in range(3)]
    target = [draw(SPEEDUPS) if qualified else 0.0 for _ in range(3)]
    fast = draw(st.integers(0, correct))
    return Tally(
        variant=variant,
        name=f"{variant}-{number}",
        n=8,
        undecided=0,
        correct=correct,
        qualified=qualified,
        unproven=0,
        turns=8,
        fast=fast,
        target_fast=min(fast, qualified),
        best=tuple(np.maximum.accumulate(best).tolist()),
        target_best=tuple(np.maximum.accumulate(target).tolist()),
        tokens=draw(st.none() | st.integers(0, 10_000)),
    )


CELLS = st.lists(tallies(), max_size=14, unique_by=lambda tally: tally.name).map(
    lambda members: CellTally(tuple(sorted(members, key=lambda tally: tally.order)), target=True, known=bool(members))
)


@settings(deadline=None, max_examples=60)
@given(cell=CELLS)
def test_a_cell_does_not_differ_from_itself(cell):
    for each in differences(cell, cell):
        found = each.found
        assert not found.exceeds_noise and found.difference in (0.0, None) and found.first == found.second
        assert found.low in (0.0, None) and found.high in (0.0, None) and found.by_chance in (1.0, None)
        assert found.pairs == found.trajectories[0] == found.trajectories[1]


@settings(deadline=None, max_examples=60)
@given(first=CELLS, second=CELLS)
def test_exchanging_the_sides_turns_the_signs_and_changes_nothing_else(first, second):
    for one, other in zip(differences(first, second), differences(second, first), strict=True):
        there, back = one.found, other.found
        assert (there.first, there.second, there.trajectories) == (back.second, back.first, back.trajectories[::-1])
        for ours, theirs in ((there.difference, back.difference), (there.low, back.high), (there.high, back.low)):
            assert ours == (None if theirs is None else -theirs)
        same = ("other_side", "by_chance", "exceeds_noise", "pairs", "metric")
        assert [getattr(there, name) for name in same] == [getattr(back, name) for name in same]


@settings(deadline=None, max_examples=30)
@given(first=CELLS, second=CELLS, seed=st.integers(0, 9))
def test_equal_input_gives_equal_output(first, second, seed):
    def run():
        return [each.found for each in differences(first, second, seed=seed, name="cell")]

    assert run() == run()


@settings(deadline=None, max_examples=60)
@given(first=CELLS, second=CELLS)
def test_a_verdict_follows_from_the_figures_beside_it(first, second):
    for each in differences(first, second):
        found = each.found
        if found.exceeds_noise:
            assert found.low > 0.0 or found.high < 0.0
            assert found.by_chance <= 0.05 and found.other_side <= 0.025
        if found.low is not None:
            assert found.low <= found.high and min(found.trajectories) > 1
        assert (found.difference is None) == (found.first is None or found.second is None)


@pytest.mark.parametrize("prefix", ["", "x"], ids=["pairs", "no pairs"])
def test_two_noisy_copies_rarely_differ(power, prefix):
    shares = power.found(np.random.default_rng(7), TRIALS, 12, power.RATE, prefix)
    assert max(exceeds for exceeds, _ in shares.values()) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / TRIALS), shares


@pytest.mark.parametrize("trajectories", ["12", "24"])
def test_a_planted_difference_is_found_in_about_the_stated_share(power, trajectories):
    shares = power.found(np.random.default_rng(7), TRIALS, int(trajectories), power.PLANTED)
    stated = EVIDENCE["trajectories"][trajectories]["planted_percent"]
    for metric in ("turn_correctness at 8", "fast_p", "best_speedup at 8", "tokens"):
        share = stated[metric] / 100
        assert abs(shares[metric][power.EXCEEDS] - share) <= 3 * math.sqrt(share * (1 - share) / TRIALS), (metric, shares)


def test_the_page_states_the_shares_that_were_measured():
    for trajectories, measured in EVIDENCE["trajectories"].items():
        planted, copies = measured["planted_percent"], measured["copies_percent"]
        figures = [planted[name] for name in ("turn_correctness at 8", "fast_p", "best_speedup at 8")] + [max(copies.values())]
        assert f"| {trajectories} | {' | '.join(f'{figure:.0f} %' for figure in figures)} |" in PAGE
    worst = max(
        share
        for measured in EVIDENCE["trajectories"].values()
        for name in ("copies_percent", "copies_without_pairs_percent")
        for share in measured[name].values()
    )
    assert f"{worst:g} % of {EVIDENCE['trials']} pairs of copies" in PAGE
    alone = [measured["copies_by_interval_alone_percent"] for measured in EVIDENCE["trajectories"].values()]
    best = [share for shares in alone for name, share in shares.items() if name.startswith("best_speedup at")]
    assert f"called {min(best):.0f} to {max(best):.0f} % of best speedups different" in " ".join(PAGE.split())


def test_pairs_see_what_the_spread_between_trajectories_hides(power):
    """The same trajectories, each a turn better: pairs tell, and without their names nothing does."""
    first = power.simulated(np.random.default_rng(1), 12, 0.4)
    better = [replace(tally, correct=min(8, tally.correct + 1)) for tally in first.trajectories]
    paired = differences(first, replace(first, trajectories=tuple(better)))[0].found
    others = tuple(replace(tally, name=f"x{tally.name}") for tally in better)
    unpaired = differences(first, replace(first, trajectories=others))[0].found
    assert (paired.pairs, paired.exceeds_noise) == (12, True)
    assert (unpaired.pairs, unpaired.exceeds_noise) == (0, False)
    assert paired.difference == unpaired.difference


def test_where_only_some_have_a_partner_all_count(power):
    rng = np.random.default_rng(2)
    first, second = power.simulated(rng, 12, 0.4), power.simulated(rng, 12, 0.4)
    fewer = replace(second, trajectories=second.trajectories[:9])
    found = differences(first, fewer)[0].found
    assert (found.trajectories, found.pairs) == ((12, 9), 9)
    assert found.first == sum(tally.correct for tally in first.trajectories) / 96


@pytest.mark.parametrize(("trajectories", "told"), [(1, None), (3, None), (4, True), (12, True)])
def test_few_trajectories_cannot_tell_and_four_that_all_differ_can(power, trajectories, told):
    def cell(correct):
        one = power.simulated(np.random.default_rng(0), 1, 0.5).trajectories[0]
        return CellTally(
            tuple(replace(one, name=f"a-{number:02}", correct=correct) for number in range(trajectories)), target=True, known=True
        )

    assert differences(cell(0), cell(8))[0].found.exceeds_noise is told


def test_figures_are_those_of_the_report(make_turn):
    key = make_turn.key
    turns = [
        make_turn(f"{variant}-{number}", turn, outcome, speedup, proof, variant=variant, tokens=TokenCount(input=100, output=turn))
        for variant, number, turn, outcome, speedup, proof in (
            ("a", 0, 0, "compile_error", None, None),
            ("a", 0, 1, "correct", 1.5, "qualified"),
            ("a", 0, 2, "correct", 2.0, "unknown"),
            ("a", 1, 0, "correct", 0.5, "qualified"),
            ("b", 0, 0, None, None, None),
            ("b", 0, 9, "correct", 1.1, "qualified"),
        )
    ]
    gap = NotReached(trajectory="a-1", variant="a", first=1)
    plans = {key: Plan(variants=("a", "b"), trajectories=2, turns=10, not_reached=(gap,))}
    (row,) = summarise(turns, plans)
    cell = cell_tallies(turns, plans)[key]
    found = {(each.found.metric.name, each.found.metric.k): each.found.first for each in differences(cell, cell)}
    at = row.at
    assert found["turn_correctness", 8] == at["8"].turn_correctness
    assert found["target_turn_correctness", 8] == at["8"].target_turn_correctness
    for k in (1, 4, 8):
        assert found["best_speedup", k] == (at[str(k)].best_speedup or 0.0)
        assert found["target_best_speedup", k] == (at[str(k)].target_best_speedup or 0.0)
    assert found["fast_p", None] == pytest.approx(value_at(row.fast_p.mean, 1.0))
    assert found["fast_p_inst", None] == pytest.approx(value_at(row.fast_p_inst.mean, 1.0))
    assert found["tokens", None] == (row.tokens.input + row.tokens.output) / 3
    assert cell.total("undecided") == at["8"].undecided_turns and cell.total("unproven") == at["8"].unknown_proofs


@pytest.mark.parametrize("proof", [None, "unknown"])
def test_target_figures_are_unknown_where_no_correct_turn_has_a_proof(make_turn, proof):
    turns = [make_turn("a-0", 0, "correct", 1.0, proof), make_turn("a-1", 0, "wrong_value")]
    cell = cell_tallies(turns, {})[make_turn.key]
    known = {each.found.metric.name: each.found.first is not None for each in differences(cell, cell)}
    assert not any(known[name] for name in ("target_turn_correctness", "target_best_speedup", "fast_p_inst"))
    assert known["turn_correctness"] and known["best_speedup"]


def test_where_nothing_was_decided_only_tokens_are_compared(make_turn):
    turns = [make_turn(f"a-{number}", 0, None, tokens=TokenCount(input=1, output=number)) for number in range(8)]
    cell = cell_tallies(turns, {})[make_turn.key]
    assert {each.found.metric.name for each in differences(cell, cell) if each.found.first is not None} == {"tokens"}


def test_a_turn_that_occurs_twice_is_refused(make_turn):
    with pytest.raises(UsageError, match="r/gemm/a-0/0"):
        cell_tallies([make_turn("a-0", 0), make_turn("a-0", 0)], {make_turn.key: Plan(variants=("a",), trajectories=1, turns=1)})


def test_the_mean_over_cells_counts_each_the_same_and_tells_more_than_one(power):
    rng = np.random.default_rng(5)
    cells = [(power.simulated(rng, 6, 0.3), power.simulated(rng, 6 + 3 * number, 0.6)) for number in range(4)]
    parts = [differences(first, second, name=str(number))[0] for number, (first, second) in enumerate(cells)]
    mean = mean_difference(parts)
    assert mean.found.difference == pytest.approx(np.mean([part.found.difference for part in parts]))
    assert mean.found.trajectories == (24, 42) and mean.found.exceeds_noise
    width = mean.found.high - mean.found.low
    assert all(width < part.found.high - part.found.low for part in parts)


def test_the_mean_leaves_out_cells_that_do_not_know(power):
    known = power.simulated(np.random.default_rng(6), 6, 0.5)
    unknown = replace(known, known=False)
    parts = [differences(known, known)[0], differences(known, unknown, name="other")[0]]
    assert mean_difference(parts).found.trajectories == (6, 6)
    nothing = mean_difference(parts[1:]).found
    assert (nothing.first, nothing.difference, nothing.exceeds_noise) == (None, None, None)
