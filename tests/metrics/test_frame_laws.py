"""What holds for every table of turns, over many cells at once."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxbench.metrics.budgets import at_budgets, budget_steps
from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.by_turn import kernels_by_turn, outcomes_by_turn, reasoning_by_turn
from ptxbench.metrics.curves import fast_p_at, fast_p_curves
from ptxbench.metrics.effort import effort_to_first
from ptxbench.metrics.frame import OUTCOMES, TURN_COLUMNS, TurnFrame
from ptxbench.metrics.intervals import fast_p_intervals, intervals_by_limit, median_best_intervals
from ptxbench.metrics.resources import resources_by_outcome
from ptxbench.metrics.trajectories import trajectories, trajectory_medians

TURN = st.fixed_dictionaries(
    {
        "outcome": st.sampled_from([*OUTCOMES, *["correct"] * 12]),
        "speedup": st.sampled_from([None, 0.0, 0.01, 0.5, 0.5, 1.0, 2.5, float("inf"), float("nan")]),
        "proof": st.sampled_from([None, "qualified", "qualified", "not_executed", "absent", "unknown"]),
        "source_target": st.sampled_from([None, True, False]),
        "input_tokens": st.sampled_from([None, 0, 10]),
        "output_tokens": st.sampled_from([1, 7]),
    }
)
PLACES = st.tuples(st.integers(0, 1), st.sampled_from(["a", "b"]), st.integers(0, 2), st.integers(0, 9))
TABLES = st.dictionaries(PLACES, TURN, max_size=40)
UNKNOWN = st.dictionaries(PLACES, TURN.map(lambda turn: turn | {"outcome": "undecided"}), max_size=12)
EVERYTHING = (
    by_limit,
    fast_p_curves,
    lambda frame: fast_p_curves(frame, "fast_p_inst"),
    outcomes_by_turn,
    kernels_by_turn,
    reasoning_by_turn,
    trajectories,
    lambda frame: trajectory_medians(trajectories(frame)),
    lambda frame: at_budgets(frame, [10, 50]),
    effort_to_first,
    resources_by_outcome,
    intervals_by_limit,
    lambda frame: fast_p_intervals(frame, [0.0, 0.5]),
    lambda frame: median_best_intervals(frame, trajectories(frame)),
)


def rows_of(table):
    key = {"model": "m", "arch": "sm_90a", "task": "gemm"}
    return [
        key | {"run": f"r{cell}", "variant": variant, "trajectory": f"{variant}-{number}", "turn": turn} | what
        for (cell, variant, number, turn), what in table.items()
    ]


def framed(rows):
    kinds = {name: pl.String() for name in ("model", "arch", "task", "run")} | dict(TURN_COLUMNS)
    names = ("model", "arch", "task", "run", "variant", "trajectory", "turn", "outcome", "speedup", "proof", "source_target")
    return TurnFrame.from_flat(pl.DataFrame(rows, schema={name: kinds[name] for name in (*names, "input_tokens", "output_tokens")}))


@settings(deadline=None, max_examples=50)
@given(table=TABLES)
def test_curves_never_rise_and_inst_is_never_above(table):
    frame = framed(rows_of(table))
    every, inst = fast_p_curves(frame), fast_p_curves(frame, "fast_p_inst")
    for curves in (every, inst):
        for name in ("mean", "min", "max"):
            assert curves.select((pl.col(name).diff().over("cell") <= 0).fill_null(True).all()).item()
            assert curves.select(pl.col(name).is_between(0.0, 1.0).all()).item()
        assert curves.select(
            (pl.col("min") <= pl.col("mean") + 1e-12).all() & (pl.col("mean") <= pl.col("max") + 1e-12).all()
        ).item()
    grid = [0.0, 0.01, 0.3, 0.5, 1.0, 3.0]
    both = fast_p_at(every, grid).join(fast_p_at(inst, grid), on=["cell", "p"], suffix="_inst")
    for name in ("mean", "min", "max"):
        assert both.select((pl.col(f"{name}_inst") <= pl.col(name)).all()).item()


@settings(deadline=None, max_examples=50)
@given(table=TABLES)
def test_bests_and_any_success_never_fall_with_the_limit(table):
    figures = by_limit(framed(rows_of(table)), tuple(range(1, 11)))
    names = ("best_speedup", "target_best_speedup", "trajectories_correct", "trajectories_qualified", "trajectories_tagged", "n")
    for name in names:
        assert figures.select((pl.col(name).fill_null(0).diff().over("cell") >= 0).fill_null(True).all()).item()
    order = (pl.col("qualified") + pl.col("unknown_proofs") <= pl.col("correct")) & (pl.col("correct") <= pl.col("n"))
    assert figures.select(order.all()).item()
    assert figures.select((pl.col("target_turn_correctness") <= pl.col("turn_correctness")).all()).item()


@settings(deadline=None, max_examples=50)
@given(table=TABLES)
def test_a_larger_budget_never_reaches_less(table):
    frame = framed(rows_of(table))
    figures = at_budgets(frame, [0, 1, 8, 20, 50, 1000])
    for name in ("success", "target_success", "median_best_speedup", "median_target_best_speedup"):
        assert figures.select((pl.col(name).diff().over("cell") >= 0).fill_null(True).all()).item()
    steps = budget_steps(frame)
    assert steps == sorted(set(steps))
    if steps:
        least, most = at_budgets(frame, [steps[0] - 1, steps[-1]]).partition_by("budget")
        assert least.get_column("trajectories_correct").sum() == 0
        assert (most.get_column("trajectories_correct") == at_budgets(frame, [10**9]).get_column("trajectories_correct")).all()


@settings(deadline=None, max_examples=25)
@given(table=TABLES, random=st.randoms())
def test_the_order_of_turns_means_nothing(table, random):
    rows = rows_of(table)
    shuffled = rows.copy()
    random.shuffle(shuffled)
    one, other = framed(rows), framed(shuffled)
    for compute in EVERYTHING:
        assert compute(one).equals(compute(other))


@settings(deadline=None, max_examples=25)
@given(table=TABLES)
def test_a_cell_s_figures_do_not_depend_on_its_neighbours(table):
    frame = framed(rows_of(table))
    for cell in frame.cells.get_column("cell"):
        alone = frame.only(pl.col("cell") == cell)
        for compute in EVERYTHING:
            assert compute(alone).equals(compute(frame).filter(pl.col("cell") == cell))


@settings(deadline=None, max_examples=25)
@given(table=UNKNOWN)
def test_all_unknown_is_not_all_wrong(table):
    frame = framed(rows_of(table))
    figures = by_limit(frame)
    assert figures.get_column("turn_correctness").null_count() == figures.height
    assert figures.get_column("target_turn_correctness").null_count() == figures.height
    assert fast_p_curves(frame).is_empty() and intervals_by_limit(frame).is_empty()
    assert trajectories(frame).select(pl.col("best_speedup").is_null().all()).item()
    assert at_budgets(frame, [100]).select(pl.col("success").is_null().all()).item()


@settings(deadline=None, max_examples=30)
@given(turn=TURN)
def test_a_single_turn(turn):
    frame = framed(rows_of({(0, "a", 0, 0): turn}))
    for compute in EVERYTHING:
        compute(frame)
    (first, *_) = by_limit(frame).to_dicts()
    assert first["n"] == 1 and first["trajectories"] == 1
    assert intervals_by_limit(frame).is_empty()


@settings(deadline=None, max_examples=50)
@given(table=TABLES)
def test_every_turn_has_one_outcome_and_stands_once(table):
    rows = rows_of(table)
    frame = framed(rows)
    assert outcomes_by_turn(frame).get_column("turns").sum() == kernels_by_turn(frame).get_column("n").sum() == len(rows)
    shares = outcomes_by_turn(frame).group_by("cell", "turn").agg(pl.col("share").sum())
    assert shares.select(((pl.col("share") - 1).abs() < 1e-12).all()).item()
