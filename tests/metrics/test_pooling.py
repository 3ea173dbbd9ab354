"""Cells are pooled on request, over what the protocol leaves free, and never across what it does not."""

import polars as pl
import pytest

from ptxbench.core.errors import UsageError
from ptxbench.metrics import Plan
from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.curves import fast_p_curves
from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.intervals import intervals_by_limit
from ptxbench.metrics.pooling import pooled

MEASURED = {"device_name": "NVIDIA H200", "proof_method": "cupti"}


@pytest.fixture
def two_tasks(make_turn):
    """``two_tasks(more)``: two tasks of one run; the second one's plan has ``more``."""

    def make(**more):
        keys = [make_turn.key.model_copy(update={"task": task}) for task in ("gqa_decode", "gqa_prefill")]
        plans = dict.fromkeys(keys, Plan(variants=("a",), trajectories=1, turns=4, baseline="FlashInfer 0.6.14", **MEASURED))
        plans[keys[1]] = plans[keys[1]].model_copy(update=more)
        turns = [make_turn("a-0", n, "correct", speedup, "qualified", key=keys[0]) for n, speedup in enumerate((0.5, 1.0))]
        turns += [make_turn("a-0", n, outcome, 0.75, key=keys[1]) for n, outcome in enumerate(("timeout", "correct", "timeout"))]
        return TurnFrame.of(turns, plans)

    return make


def test_pooled_tasks_are_one_cell_with_all_their_trajectories(two_tasks):
    frame = pooled(two_tasks(), ["task"])
    (cell,) = frame.cells.to_dicts()
    assert (cell["task"], cell["n_planned"], cell["baseline"]) == ("gqa_decode + gqa_prefill", 8, "FlashInfer 0.6.14")
    assert frame.turns.get_column("trajectory").unique().sort().to_list() == ["gqa_decode/a-0", "gqa_prefill/a-0"]
    (row,) = by_limit(frame, [4]).to_dicts()
    assert (row["n"], row["correct"], row["qualified"], row["trajectories_correct"]) == (5, 3, 2, 2)
    assert (row["best_speedup"], row["median_speedup"]) == (1.0, 0.75)
    assert fast_p_curves(frame).rows()[0] == (0, 0.0, 3 / 5, 3 / 5, 3 / 5)
    assert intervals_by_limit(frame, [4]).height == 5


def test_pooling_over_several_columns_keeps_the_rest_apart(make_turn):
    keys = [make_turn.key.model_copy(update={"run": run, "model": model, "workload": run}) for run in "xy" for model in "mn"]
    frame = pooled(TurnFrame.of([make_turn(key=key, speedup=1.0) for key in keys]), ["run", "workload"])
    assert frame.cells.select("model", "run", "workload").rows() == [("m", "x + y", "x + y"), ("n", "x + y", "x + y")]
    assert by_limit(frame, [1]).get_column("n").to_list() == [2, 2]


def test_cells_that_have_no_turn_yet_stay(make_turn):
    keys = [make_turn.key.model_copy(update={"run": run}) for run in "xy"]
    frame = pooled(TurnFrame.of([], {key: Plan(variants=("a",), trajectories=2, turns=8) for key in keys}), ["run"])
    assert frame.cells.select("run", "n_planned").rows() == [("x + y", 32)] and frame.turns.is_empty()


def test_an_absent_value_pools_like_any_other(make_turn):
    frame = TurnFrame.of([make_turn(key=make_turn.key.model_copy(update={"run": run})) for run in "xy"])
    assert pooled(frame, ["run"]).cells.select("pack", "device", "baseline").rows() == [(None, "h200", None)]


@pytest.mark.parametrize("column", ["model", "device", "language", "protocol", "harness", "arm"])
def test_nothing_else_is_pooled_over(two_tasks, column):
    with pytest.raises(UsageError, match=f"may not be pooled over {column}"):
        pooled(two_tasks(), ["task", column])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"baseline": "cuDNN 9.20.0"}, "baseline"),
        ({"device_name": "NVIDIA H100"}, "device_name"),
        ({"settings": {"history": "none"}}, "settings"),
        ({"proof_method": "ncu"}, "proof_method"),
    ],
)
def test_other_conditions_are_not_pooled(two_tasks, more, said):
    with pytest.raises(UsageError, match=f"1 groups of cells differ in {said} and may not be pooled"):
        pooled(two_tasks(**more), ["task"])


@pytest.mark.parametrize("name", ["baseline", "device_name", "proof_method"])
def test_a_cell_in_which_nothing_was_measured_fits_those_where_something_was(two_tasks, name):
    (cell,) = pooled(two_tasks(**{name: None}), ["task"]).cells.to_dicts()
    assert {name: cell[name] for name in ("baseline", *MEASURED)} == {"baseline": "FlashInfer 0.6.14"} | MEASURED


@pytest.mark.parametrize("caveat", ["stops at", "mixed versions"])
def test_runs_that_are_comparable_with_no_other_are_not_pooled(make_turn, caveat):
    keys = [make_turn.key.model_copy(update={"run": run}) for run in "xy"]
    plan = Plan(variants=("a",), trajectories=1, turns=1, settings={caveat: "… (not comparable)"})
    frame = TurnFrame.of([make_turn(key=key) for key in keys], dict.fromkeys(keys, plan))
    with pytest.raises(UsageError, match=f"{caveat} are not comparable"):
        pooled(frame, ["run"])
    assert pooled(frame, ["task"]).cells.height == 2, "a cell alone is pooled with nothing"


def test_pooling_loses_no_turn(two_tasks):
    frame = two_tasks()
    before, after = frame.turns, pooled(frame, ["task", "run", "workload"]).turns
    for name in ("correct", "qualified", "turn"):
        assert before.get_column(name).sum() == after.get_column(name).sum()
    assert before.height == after.height and after.select(pl.struct("path", "turn").is_unique().all()).item()
