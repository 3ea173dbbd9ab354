"""The page's data: the figures are those of the metrics, over all turns and over one prompt variant."""

import pytest

from ptxbench.metrics import summarise
from ptxbench.metrics.definitions import definitions
from ptxbench.report import load_runs
from ptxbench.report.page.figures import metric_notes
from ptxbench.report.page.runs import read_runs
from ptxbench.report.page.summary import OUTCOMES, cell_id, summary


@pytest.fixture(scope="module")
def data(folders):
    return summary(read_runs(folders))


def test_figures_are_those_of_the_metrics(data, folders):
    table = load_runs(folders)
    rows = {cell_id(row.key): row for row in summarise(table.turns, table.planned)}
    assert rows.keys() == {cell["id"] for cell in data["cells"]}
    for cell in data["cells"]:
        row = rows[cell["id"]]
        assert cell["figures"]["at"] == {k: at.model_dump(mode="json") for k, at in row.at.items()}
        assert cell["figures"]["outcomes_by_turn"] == row.outcomes_by_turn
        curve = cell["figures"]["fast_p"]
        assert [tuple(pair) for pair in zip(curve["p"], curve["mean"], strict=True)] == [
            (pytest.approx(p, rel=1e-5), pytest.approx(value, rel=1e-5)) for p, value in row.fast_p.mean
        ]


def test_figures_of_a_variant_are_those_of_its_turns_alone(data, folders):
    cell = next(cell for cell in data["cells"] if cell["key"]["run"] == "cuda-run")
    turns = [turn for turn in load_runs(folders).turns if turn.key.run == "cuda-run"]
    for variant, figures in cell["by_variant"].items():
        own = [turn for turn in turns if turn.variant == variant]
        assert figures["n"] == len(own)
        assert figures["at"]["8"]["correct_turns"] == sum(turn.outcome == "correct" for turn in own)
    assert sum(figures["n"] for figures in cell["by_variant"].values()) == len(turns)
    assert sum(figures["n_planned"] for figures in cell["by_variant"].values()) == cell["n_planned"]


def test_every_cell_is_in_one_comparable_group(data):
    assert sorted(place for group in data["groups"] for place in group["cells"]) == list(range(len(data["cells"])))


def test_addresses_of_cells_do_not_depend_on_what_else_is_shown(data, folders):
    for folder in folders:
        alone = summary(read_runs([folder]))
        assert {cell["id"] for cell in alone["cells"]} <= {cell["id"] for cell in data["cells"]}


def test_every_figure_has_the_lines_of_its_definition():
    told = metric_notes()
    for name, note in told.items():
        assert note.keys() == {"label", "short", "formula", "not"} and all(note.values()), name
    for name in ("turn_correctness", "best_speedup", "fast_p_inst"):
        known = definitions()[name]
        assert (told[name]["label"], told[name]["formula"]) == (known.name, known.formula)
        assert f"{told[name]['not']}.".lower() == known.does_not_establish.lower()


def test_published_figures_stand_beside_a_workload_and_in_no_figure_of_its_own(made, tmp_path):
    shape = made.Shape(name="mine", variants=("v",), trajectories=1, turns=2)
    data = summary(read_runs([made.make_run(tmp_path / "mine", shape)]))
    lines = data["published"]["sm_90a/gemm_n7168_k5120/cuda"]
    assert {one["figure"] for one in lines} == {"turn_correctness", "best_speedup"}
    assert all(one["source"] and one["device"] == "h100" and one["profile"] == "paper" for one in lines)
    assert all(0 <= one["value"] <= 1 for one in lines if one["figure"] == "turn_correctness")
    assert data["cells"][0]["figures"]["n"] == 2


def test_no_folder_above_a_run_is_named(data, folders):
    assert all(str(folder.parent) not in repr(data) for folder in folders)


def test_a_trajectory_that_ended_early_says_so(made, tmp_path):
    for seed in range(40):
        folder = made.make_run(
            tmp_path / str(seed), made.Shape(name=f"r{seed}", variants=("v",), trajectories=2, turns=4, seed=seed)
        )
        (cell,) = summary(read_runs([folder]))["cells"]
        ended = [one for one in cell["trajectories"] if one["ended"]]
        if ended:
            assert ended[0]["ended"] == {"turn": 3, "reason": "context_overflow"} and len(ended[0]["turns"]) == 3
            assert "not_reached" in OUTCOMES and cell["figures"]["at"]["8"]["not_reached_turns"] == len(ended)
            return
    raise AssertionError("no trajectory was made to end early")
