"""The turn frame: records in, checked tables out; and the same figures as the summary of single cells."""

import random
import subprocess
import sys

import polars as pl
import pytest

from ptxbench.core.errors import UsageError
from ptxbench.metrics import NotReached, Plan, summarise
from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.by_turn import outcomes_by_turn
from ptxbench.metrics.curves import fast_p_curves
from ptxbench.metrics.frame import TurnFrame
from ptxbench.metrics.intervals import intervals_by_limit
from ptxbench.metrics.tallies import cell_tallies
from ptxbench.metrics.turn_columns import Resources
from ptxbench.schema import TokenCount

OUTCOMES = [None, "correct", "correct", "correct", "compile_error", "timeout"]


@pytest.fixture(scope="session")
def drawn_run(make_turn):
    """Turns and plans of two cells, one of a CPU, with trajectories that ended early and turns that were lost."""

    def draw(seed):
        rng = random.Random(seed)
        turns, plans = [], {}
        for number, arch in enumerate(["sm_90a", "cpu"]):
            key = make_turn.key.model_copy(update={"arch": arch, "run": f"r{number}"})
            gaps = []
            for variant in "ab":
                for trajectory in range(3):
                    name, ends = f"{variant}-{trajectory}", rng.choice([8, 8, rng.randint(0, 7)])
                    if ends < 8 and rng.random() < 0.7:
                        gaps.append(NotReached(trajectory=name, variant=variant, first=ends))
                    for turn in range(ends):
                        speedup, proof = (
                            rng.choice([None, 0.5, 1.0, rng.random()]),
                            rng.choice(["qualified", "unknown", None, "absent"]),
                        )
                        flags = rng.choice([(), (), ("under_roofline",)])
                        turns.append(
                            make_turn(name, turn, rng.choice(OUTCOMES), speedup, proof, key=key, flags=flags, variant=variant)
                        )
            plans[key] = Plan(variants=("a", "b"), trajectories=3, turns=8, not_reached=tuple(gaps), baseline="cuBLAS 13.1.0")
        rng.shuffle(turns)
        return turns, plans

    return draw


@pytest.mark.parametrize("seed", range(25))
def test_the_figures_of_records_are_those_of_their_summary(drawn_run, seed):
    turns, plans = drawn_run(seed)
    frame = TurnFrame.of(turns, plans)
    figures, outcomes, ends = by_limit(frame), outcomes_by_turn(frame), intervals_by_limit(frame)
    curves = {hits: fast_p_curves(frame, hits) for hits in ("fast_p", "fast_p_inst")}
    rows = {row.key.run: row for row in summarise(turns, plans)}
    assert frame.cells.get_column("run").to_list() == sorted(rows, key=lambda run: rows[run].key.arch)
    for cell in frame.cells.to_dicts():
        row, mine = rows[cell["run"]], pl.col("cell") == cell["cell"]
        assert (cell["n_planned"], cell["baseline"]) == (row.n_planned, row.baseline)
        for k, at in row.at.items():
            (found,) = figures.filter(mine, pl.col("k") == int(k)).to_dicts()
            for name, value in {
                "n": at.turns,
                "correct": at.correct_turns,
                "qualified": at.qualified_turns,
                "unknown_proofs": at.unknown_proofs,
                "undecided": at.undecided_turns,
                "not_reached": at.not_reached_turns,
                "turn_correctness": at.turn_correctness,
                "target_turn_correctness": at.target_turn_correctness,
                "best_speedup": at.best_speedup,
                "target_best_speedup": at.target_best_speedup,
                "median_speedup": at.median_speedup,
                "target_median_speedup": at.target_median_speedup,
                "trajectories_correct": at.trajectories_with_success,
                "trajectories_qualified": at.target_trajectories_with_success,
            }.items():
                assert found[name] == (pytest.approx(value) if isinstance(value, float) else value), name
            for figure, interval in at.ci95.items():
                low_high = ends.filter(mine, pl.col("k") == int(k), pl.col("figure") == figure).select("low", "high").rows()
                assert low_high == ([] if interval is None else [interval])
        for hits, whole in (("fast_p", row.fast_p), ("fast_p_inst", row.fast_p_inst)):
            for name in ("mean", "min", "max"):
                points = curves[hits].filter(mine).select("p", name).rows()
                assert points == [pytest.approx(point) for point in getattr(whole, name) or ()]
        by_turn = {}
        for turn, outcome, count in outcomes.filter(mine).select("turn", "outcome", "turns").iter_rows():
            by_turn.setdefault(str(turn), {})[outcome] = count
        assert by_turn == row.outcomes_by_turn


def test_every_cell_of_the_plan_is_there_even_without_a_turn(make_turn):
    plan = Plan(variants=("a",), trajectories=2, turns=3, settings={"history": "full"}, device_name="NVIDIA H200")
    frame = TurnFrame.of([], {make_turn.key: plan})
    (cell,) = frame.cells.to_dicts()
    assert (cell["n_planned"], cell["device_name"], cell["settings"]) == (6, "NVIDIA H200", '{"history":"full"}')
    assert by_limit(frame).select("n", "turn_correctness").rows() == [(0, None)] * 3
    assert fast_p_curves(frame).is_empty() and intervals_by_limit(frame).is_empty()


def test_an_empty_frame_has_empty_figures():
    frame = TurnFrame.of([])
    assert (
        frame.cells.is_empty()
        and by_limit(frame).is_empty()
        and fast_p_curves(frame).columns == ["cell", "p", "mean", "min", "max"]
    )


def test_turns_that_occur_twice_are_refused_with_the_list(make_turn):
    turns = [make_turn("a-0", n, "correct", 1.0) for n in (0, 1, 2, 1, 2, 2)] + [make_turn("a-1", 1)]
    with pytest.raises(UsageError, match=r"2 turns occur more than once: r/gemm/a-0/1, r/gemm/a-0/2") as caught:
        TurnFrame.of(turns)
    assert caught.value.details["duplicates"] == ["r/gemm/a-0/1", "r/gemm/a-0/2"]


@pytest.mark.parametrize("count", [summarise, cell_tallies, TurnFrame.of])
def test_a_trajectory_that_goes_on_after_its_end_is_refused_alike(make_turn, count):
    gap = NotReached(trajectory="a-0", variant="a", first=2)
    plan = Plan(variants=("a",), trajectories=2, turns=4, not_reached=(gap,))
    count([make_turn(turn=n) for n in range(2)], {make_turn.key: plan})
    with pytest.raises(UsageError, match=r"1 turns occur more than once: r/gemm/a-0/3") as caught:
        count([make_turn(turn=n) for n in (0, 1, 3)], {make_turn.key: plan})
    assert caught.value.details["duplicates"] == ["r/gemm/a-0/3"]
    with pytest.raises(UsageError, match=r"2 turns occur more than once: r/gemm/a-0/2, r/gemm/a-0/3"):
        count([], {make_turn.key: plan.model_copy(update={"not_reached": (gap, gap)})})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda flat: flat.drop("outcome", "task"), "lacks the columns task, outcome"),
        (lambda flat: flat.with_columns(outcome=pl.lit("excellent")), "holds a value that its column cannot"),
        (lambda flat: flat.with_columns(turn=pl.lit("first")), "holds a value that its column cannot"),
        (lambda flat: flat.with_columns(turn=pl.lit(None, pl.Int32)), "has rows without turn"),
        (lambda flat: flat.with_columns(turn=pl.lit(-1, pl.Int32)), "turns count from 0"),
    ],
)
def test_a_table_that_is_none_of_turns_is_refused(make_turn, change, said):
    with pytest.raises(UsageError, match=said):
        TurnFrame.from_flat(change(TurnFrame.of([make_turn()]).flat()))


def test_what_evaluations_and_gates_say_comes_by_hash(make_turn):
    hashes = make_turn().hashes.model_copy(update={"source": "sha256:s", "evaluation": "sha256:e"})
    judged = make_turn(seconds={"model": 9.0, "compare": 0.5, "time": 0.25}, tokens=TokenCount(input=5, output=2), cost=0.5)
    judged = judged.model_copy(update={"hashes": hashes})
    frame = TurnFrame.of(
        [judged, make_turn(turn=1)],
        resources={"sha256:e": Resources(registers=168, spill_bytes=8, occupancy_percent=37.5)},
        gates={"sha256:s": True},
    )
    known, unknown = frame.turns.to_dicts()
    assert (known["registers"], known["spill_bytes"], known["occupancy_percent"], known["gate_passed"]) == (168, 8, 37.5, True)
    assert (known["gpu_seconds"], known["model_seconds"], known["total_tokens"], known["cost_usd"]) == (0.75, 9.0, 7, 0.5)
    assert [unknown[name] for name in ("registers", "gate_passed", "gpu_seconds", "total_tokens", "cost_usd")] == [None] * 5


def test_cells_can_be_chosen_and_named(make_turn):
    keys = [make_turn.key.model_copy(update={"model": model, "run": f"{model}1"}) for model in "xyz"]
    frame = TurnFrame.of([make_turn(key=key, speedup=n + 1.0) for n, key in enumerate(keys)])
    chosen = frame.only(pl.col("model").is_in(["x", "z"]))
    named = chosen.keyed(by_limit(chosen, (8,)))
    assert named.select("model", "run", "best_speedup").rows() == [("x", "x1", 1.0), ("z", "z1", 3.0)]
    assert fast_p_curves(chosen).get_column("cell").unique().to_list() == [0, 2]


def test_without_polars_there_is_one_clear_error():
    code = "import sys; sys.modules['polars'] = None; import ptxbench.metrics; import ptxbench.metrics.frame"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "UsageError: metrics over many runs need polars, which is not installed" in done.stderr
