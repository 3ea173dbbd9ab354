"""What holds for every table of turns."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxbench.metrics import summarise, value_at
from ptxbench.schema import Outcome

OUTCOMES = [None, *Outcome]
SPEEDUPS = [None, 0.01, 0.5, 0.5, 1.0, 2.5]
PROOFS = [None, "qualified", "not_executed", "absent", "unknown"]
CELLS = st.tuples(st.sampled_from(OUTCOMES + [Outcome.CORRECT] * 8), st.sampled_from(SPEEDUPS), st.sampled_from(PROOFS))
TABLES = st.dictionaries(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.integers(0, 7)), CELLS, max_size=40)


@pytest.fixture(scope="session")
def build(make_turn):
    def turns(table):
        return [
            make_turn(
                f"{variant}-{trajectory}", turn, outcome, speedup if outcome is Outcome.CORRECT else None, proof, variant=variant
            )
            for (variant, trajectory, turn), (outcome, speedup, proof) in table.items()
        ]

    return turns


@settings(deadline=None)
@given(table=TABLES)
def test_fast_p_never_rises_and_inst_is_never_above_it(build, table):
    for row in summarise(build(table)):
        for curves in (row.fast_p, row.fast_p_inst):
            for points in (curves.mean, curves.min, curves.max):
                if points is not None:
                    values = [value for _, value in points]
                    assert values == sorted(values, reverse=True) and all(0.0 <= value <= 1.0 for value in values)
        if row.fast_p.mean is not None:
            for p in (0.0, 0.01, 0.3, 0.5, 1.0, 3.0):
                assert value_at(row.fast_p_inst.mean, p) <= value_at(row.fast_p.mean, p)
                assert value_at(row.fast_p.min, p) <= value_at(row.fast_p.mean, p) + 1e-12
                assert value_at(row.fast_p.mean, p) <= value_at(row.fast_p.max, p) + 1e-12


@settings(deadline=None)
@given(table=TABLES)
def test_best_speedups_and_successes_never_fall_with_the_limit(build, table):
    for row in summarise(build(table)):
        at = [row.at[k] for k in ("1", "4", "8")]
        for name in (
            "best_speedup",
            "target_best_speedup",
            "trajectories_with_success",
            "target_trajectories_with_success",
            "turns",
        ):
            values = [getattr(one, name) or 0 for one in at]
            assert values == sorted(values)
        for one in at:
            assert one.qualified_turns <= one.correct_turns <= one.turns
            assert one.qualified_turns + one.unknown_proofs <= one.correct_turns
            assert (one.target_turn_correctness or 0) <= (one.turn_correctness or 0)


@settings(deadline=None)
@given(table=TABLES, random=st.randoms())
def test_the_order_of_turns_means_nothing(build, table, random):
    turns = build(table)
    shuffled = turns.copy()
    random.shuffle(shuffled)
    assert summarise(shuffled) == summarise(turns)


@settings(deadline=None)
@given(table=TABLES)
def test_every_turn_is_counted_once(build, table):
    turns = build(table)
    rows = summarise(turns)
    assert sum(row.n_evaluated for row in rows) == len(turns)
    assert sum(sum(outcomes.values()) for row in rows for outcomes in row.outcomes_by_turn.values()) == len(turns)
