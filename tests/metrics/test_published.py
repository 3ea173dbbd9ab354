"""On the published turns our numbers are the published ones, where the definitions agree."""

import polars as pl
import pytest

from ptxbench.metrics.by_limit import by_limit
from ptxbench.metrics.by_turn import outcomes_by_turn
from ptxbench.metrics.curves import fast_p_at, fast_p_curves
from ptxbench.metrics.frame import TurnFrame

OUTCOMES = {
    "Correct": "correct",
    "Numerical error": "wrong_value",
    "Compilation error": "compile_error",
    "Runtime error": "runtime_error",
    "Kernel Execution Timeout": "timeout",
    "Extraction error": "no_code",
    "Other error": "other_error",
    "Sanitize Timeout": "sanitize_timeout",
    "Profiling Service Timeout": "profiling_service_timeout",
}


@pytest.fixture(scope="module")
def published(shared_data):
    return shared_data / "published"


@pytest.fixture(scope="module")
def frame(published):
    turns = pl.read_csv(published / "turns.csv")
    names = {"task": "definition", "workload": "workload_uuid"}
    return TurnFrame.from_flat(
        turns.with_columns(
            **{ours: pl.col(theirs) for ours, theirs in names.items()},
            outcome=pl.col("outcome").replace_strict(OUTCOMES),
            source_target=pl.col("target_instruction") == 1,
        )
    )


def beside(frame, published, name):
    """Return a published table with our figures in the same rows: each run and limit occurs once on both sides."""
    theirs = pl.read_csv(published / f"{name}_by_release_date.csv").rename({"turn_limit": "k"})
    ours = frame.keyed(by_limit(frame)).with_columns(pl.col("k").cast(pl.Int64))
    joined = theirs.join(ours, on=["run", "k"], how="full", suffix="_ours", validate="1:1")
    assert joined.height == theirs.height == ours.height > 0
    return joined


def test_best_speedups(frame, published):
    for row in beside(frame, published, "best_speedup").to_dicts():
        assert float(f"{row['best_speedup_ours'] or 0.0:.9g}") == row["best_speedup"], row["run"]
        assert row["trajectories"] == row["n_trajectories"]


def test_trajectories_with_a_correct_turn(frame, published):
    for row in beside(frame, published, "correctness_rate").to_dicts():
        assert row["trajectories_correct"] == row["correct"], row["run"]
        assert row["trajectories_correct"] / row["trajectories"] == pytest.approx(row["correctness_rate"], abs=5e-7)


def test_trajectories_with_a_target_instruction_by_their_tag(frame, published):
    for row in beside(frame, published, "arch_instruction_correctness").to_dicts():
        assert row["trajectories_tagged"] == row["correct_with_arch"], row["run"]
        assert row["correct"] == row["n_correct_turns"]


def test_a_tag_is_no_proof(frame):
    assert frame.turns.get_column("tagged").any()
    figures = by_limit(frame)
    assert figures.get_column("qualified").sum() == 0 and (figures["unknown_proofs"] == figures["correct"]).all()
    assert (fast_p_curves(frame, "fast_p_inst").get_column("mean") == 0.0).all()


def test_three_turns_of_all_beat_the_baseline_and_variants_have_no_band(frame):
    curves = fast_p_curves(frame)
    assert curves.get_column("min").is_null().all() and curves.get_column("max").is_null().all()
    above = fast_p_at(curves, [1.0]).join(by_limit(frame).filter(pl.col("k") == 8), on="cell")
    assert above.select((pl.col("mean") * pl.col("n")).sum()).item() == pytest.approx(3)


def test_outcomes_that_only_they_know_stay_in_n(frame):
    counted = dict(outcomes_by_turn(frame).group_by("outcome").agg(pl.col("turns").sum()).rows())
    assert sum(counted.values()) == frame.turns.height and counted["other_error"] > 0
