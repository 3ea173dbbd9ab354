"""Tables say what the turns say: two forms, three limits, honest blanks, and never a row pooled from what is not comparable."""

import pytest

from ptxbench.core.errors import UsageError
from ptxbench.metrics.definitions import definitions
from ptxbench.report.catalogue import FIGURES, TABLES, chosen
from ptxbench.report.groups import comparable
from ptxbench.report.table import Pair
from ptxbench.report.writers.texts import body

KINDS = {kind.name: kind for kind in TABLES}


@pytest.fixture(scope="module")
def two_models(results):
    return results.sources(results.comparable_runs())


@pytest.fixture(scope="module")
def apart(results):
    return results.sources(results.comparable_runs(), results.incomparable_runs(), evidence=results.evidence())


def build(name, sources):
    return KINDS[name].build(sources)


def row(table, **wanted):
    (found,) = [line.values for line in table.rows if all(line.values.get(key) == value for key, value in wanted.items())]
    return found


def test_a_row_a_model_a_column_a_workload_and_triplets_in_two_forms(two_models, results):
    correct, best, typical = build("models", two_models)
    assert [column.key for column in correct.columns] == ["model", results.GEMM, results.BWD]
    assert correct.columns[1].limits == (1, 4, 8)
    cell = row(correct, model="openai/A_1")[results.GEMM]
    assert (cell.target, cell.unrestricted) == ((0.0, 3 / 8, 3 / 8), (0.0, 5 / 8, 5 / 8))
    assert cell.unproven == (0, 1, 1)
    assert row(best, model="openai/A_1")[results.GEMM].unrestricted == (None, 1.5, 1.5)
    assert row(best, model="openai/A_1")[results.GEMM].target == (None, 1.25, 1.25)
    assert row(typical, model="openai/A_1")[results.GEMM] == Pair(target=(0.5,), unrestricted=(0.75,))


def test_turns_not_reached_and_undecided_are_in_n_and_said(two_models, results):
    table = build("models", two_models)[0]
    cell = row(table, model="B & co")[results.GEMM]
    assert cell.unrestricted == (0.0, 1 / 8, 1 / 8)
    assert cell.undecided == (0, 1, 1)
    assert any("1 turn not decided" in note for note in table.notes)
    assert any("2 turns not reached" in note for note in table.notes)


def test_fast_p_is_a_lower_bound_where_turns_are_undecided_or_unproven(results):
    (table,) = build("fast_p", results.sources((results.turns(results.key(), a_0="q0.5 u0.75 ? x"), {})))
    (line,) = table.rows
    assert (line.values["p=0"].undecided, line.values["p=0"].unproven) == ((1,), (1,))
    (row_lines,) = [cells for _, cells in body(table)]
    assert row_lines[2] == ("≥25.0", "(≥50.0)")


def test_runs_of_more_than_eight_turns_say_what_fast_p_is_of(results):
    said = "Fast_p is of all turns, up to {} of a trajectory"
    for turns, told in ((8, False), (9, True)):
        sources = results.sources((results.turns(results.key(), a_0=" ".join(["q0.5"] * turns)), {}))
        (table,), (figure,) = build("fast_p", sources), chosen(FIGURES, ["fast_p"], "figure")[0].build(sources)
        for notes in (table.notes, figure.notes):
            assert any(said.format(turns) in note for note in notes) is told


def test_the_header_names_device_pack_and_each_baseline_with_its_version(two_models):
    for table in build("models", two_models):
        assert table.facts["device"] == "NVIDIA H200"
        assert table.facts["pack"] == "hopper"
        assert table.facts["baseline"] == "cuBLAS 13.1.0 (torch 2.11.0), cuDNN 9.20.0"


def test_published_figures_stand_apart_from_rows_with_their_source(two_models, results):
    best = build("models", two_models)[1]
    assert {line.values["model"] for line in best.rows} == {"openai/A_1", "B & co"}
    opus = [line for line in best.published if line.values["model"] == "Claude Opus 4.8"]
    assert {line.values[results.GEMM].unrestricted[-1] for line in opus if results.GEMM in line.values} == {0.975629186}
    assert all(line.source and "arXiv:2608.17379" in line.source for line in best.published)


def test_the_published_ablation_and_token_multiples_stand_below_ours(apart, results):
    (arms,) = build("arms", apart)
    shown = {line.values["arm"]: line.values["turn_correctness"] for line in arms.published}
    assert shown["parameters"].unrestricted[-1] == 0.26
    assert shown["contracts"].target[-1] == 0.385
    assert shown["contracts"].unrestricted == (None, None, None)
    harnesses = build("harnesses", apart)[0]
    assert [line.values["token_multiple"] for line in harnesses.published] == [3.32, 5.06]
    success = build("success", apart)[0]
    (opus,) = [
        line for line in success.published if (line.values["model"], line.values["task"]) == ("Claude Opus 4.8", "mha_bwd_d128")
    ]
    assert opus.values["trajectories_correct"].target == (None, None, 12)
    assert opus.values["trajectories"] == 12


def test_published_figures_of_another_language_are_not_shown(results):
    triton = results.key(language="triton", run="t")
    best = build("models", results.sources((results.turns(triton, a_0="q0.5"), {})))[1]
    assert {line.values["model"] for line in best.published} == {"Gemini 3.1 Pro"}
    (line,) = best.published
    assert line.values[results.GEMM].unrestricted[-1] == 0.991


@pytest.mark.parametrize("name", ["models", "success", "search", "fast_p", "intervals", "resources"])
def test_what_may_not_stand_together_comes_as_tables_of_its_own(apart, name):
    """Device, profile, harness, arm, language and condition each keep their row out of the others' tables."""
    tables = build(name, apart)
    names = ("device", "profile", "harness", "arm", "language", "condition")
    headers = [tuple(table.facts.get(name) for name in names) for table in tables]
    assert len(set(headers)) == 7
    assert len(headers) == (21 if name == "models" else 7)


def test_no_table_holds_a_row_made_of_two_runs(apart):
    """Each cell's N is that of its own turns: 8, wherever it stands."""
    found = [
        line.values["n"] for name in ("languages", "recipes", "conditions", "arms") for t in build(name, apart) for line in t.rows
    ]
    assert found
    assert set(found) == {8}


def test_device_names_do_not_hide_that_devices_differ(results):
    other = results.key(device="h100", run="o")
    made = [*results.turns(results.key(), a_0="q0.5"), *results.turns(other, a_0="q0.5")]
    assert len(comparable(results.sources((made, {})).frame)) == 2


@pytest.mark.parametrize("baselines", [("cuBLAS 13.1.0", "cuBLAS 13.2.0"), ("cuBLAS 13.1.0", "an oracle")])
def test_another_baseline_or_version_of_it_keeps_rows_apart(baselines, results):
    one, other = results.key(), results.key(model="other", run="o")
    planned = {key: results.plan(baseline=baseline) for key, baseline in zip((one, other), baselines, strict=True)}
    made = [*results.turns(one, a_0="q0.5 x x x"), *results.turns(other, a_0="q0.5 x x x")]
    tables = build("models", results.sources((made, planned)))
    assert sorted(t.facts["baseline"] for t in tables[::3]) == sorted(baselines)
    assert all(len(t.rows) == 1 for t in tables)


@pytest.mark.parametrize(("name", "fact"), [("device_name", "device"), ("proof_method", "proof method")])
def test_another_device_or_proof_method_keeps_rows_apart_and_an_unknown_one_does_not(results, name, fact):
    keys = [results.key(device=None, model=model, run=model) for model in "xyz"]
    planned = {key: results.plan(**{name: value}) for key, value in zip(keys, ("one", None, "other"), strict=True)}
    made = [row for key in keys for row in results.turns(key, a_0="q0.5 x x x", b_0="x x x x")]
    tables = build("success", results.sources((made, planned)))
    assert [([line.values["model"] for line in table.rows], table.facts[fact]) for table in tables] == [
        (["x", "y"], "one"),
        (["z"], "other"),
    ]


def test_other_settings_keep_rows_apart(results):
    one, other = results.key(), results.key(model="other", run="o")
    changed = results.plan().model_copy(update={"settings": results.plan().settings | {"feedback": "paper"}})
    made = [*results.turns(one, a_0="q0.5"), *results.turns(other, a_0="q0.5")]
    assert len(build("models", results.sources((made, {one: results.plan(), other: changed})))) == 2 * 3


def test_two_runs_of_the_same_cell_are_two_rows_with_their_names(results):
    one, again = results.key(), results.key(run="r-again")
    made = [*results.turns(one, a_0="q0.5"), *results.turns(again, a_0="x")]
    table = build("models", results.sources((made, {})))[0]
    assert [line.values["model"] for line in table.rows] == ["openai/A_1 (r-a-gemm)", "openai/A_1 (r-again)"]


def test_two_workloads_of_a_task_are_two_columns(results):
    one, other = results.key(), results.key(workload="abcdefghij", run="o")
    made = [*results.turns(one, a_0="q0.5"), *results.turns(other, a_0="x")]
    table = build("models", results.sources((made, {})))[0]
    assert [column.key for column in table.columns[1:]] == [f"{results.GEMM}@01234567", f"{results.GEMM}@abcdefgh"]


def test_arms_have_a_column_for_each_prompt_variant_and_one_for_all(apart, results):
    (table,) = [t for t in build("arms", apart) if {line.values["arm"] for line in t.rows} == {"wrappers", "contracts"}]
    gemm = row(table, task=results.GEMM, arm="contracts", model="openai/A_1")
    assert gemm["turn_correctness"].unrestricted[-1] == 5 / 8
    assert gemm["turn_correctness of a"].unrestricted == (3 / 4,)
    assert gemm["turn_correctness of b"].target == (1 / 4,)
    own = [line.values for line in table.rows if (line.values["task"], line.values["model"]) == (results.GEMM, "openai/A_1")]
    order = [values["arm"] for values in own]
    assert order == ["wrappers", "contracts"]


def test_languages_stand_side_by_side_whatever_their_packs(apart):
    (table,) = build("languages", apart)
    assert {line.values["language"] for line in table.rows} == {"cuda", "triton"}
    assert not {"pack", "pack text"} & table.facts.keys()


def test_languages_of_another_arm_or_condition_are_not_beside_each_other(apart):
    (table,) = build("languages", apart)
    assert table.facts["arm"] == "contracts"
    assert "condition" not in table.facts
    assert len(table.rows) == 6


def test_harnesses_have_medians_and_a_multiple_over_multi_turn_refinement(results):
    base, other = results.key(), results.key(harness="other", run="o")
    made = [*results.turns(base, a_0="q0.5 x", b_0="x x"), *results.turns(other, a_0="q0.75 q1.5 x x", b_0="q1 x x x")]
    (table,) = build("harnesses", results.sources((made, {})))
    mini, agent = table.rows
    assert (mini.values["harness"], mini.values["token_multiple"]) == ("mini", None)
    assert agent.values["token_multiple"] == 2.0
    assert mini.values["median_best_speedup"].target == (0.25,)
    assert agent.values["median_best_speedup"].target == (1.25,)


def test_two_bases_leave_the_multiple_unknown(results):
    base, again, other = results.key(), results.key(run="again"), results.key(harness="other", run="o")
    made = [turn for key in (base, again, other) for turn in results.turns(key, a_0="q0.5")]
    (table,) = build("harnesses", results.sources((made, {})))
    assert {line.values["token_multiple"] for line in table.rows} == {None}


def test_the_search_counts_every_turn_once(two_models, results):
    (table,) = build("search", two_models)
    names = [column.key for column in table.columns if "share" in column.metrics]
    assert all(sum(line.values[name] for name in names) == line.values["n"] for line in table.rows)
    first = row(table, model="openai/A_1", task=results.GEMM, turn=0)
    assert (first["n"], first["compile_error"], first["wrong_value"], first["reasoning_mean"]) == (2, 1, 1, 20.0)


def test_budgets_rise_and_end_at_all_that_was_reached(two_models, results):
    (table,) = build("budgets", two_models)
    gemm = [line.values for line in table.rows if (line.values["task"], line.values["model"]) == (results.GEMM, "openai/A_1")]
    shares = [values["success"].unrestricted[0] for values in gemm]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_goal_that_nothing_was_put_to_has_no_row(two_models):
    (table,) = build("effort", two_models)
    assert {line.values["goal"] for line in table.rows} == {"correct", "proven"}


def test_resources_come_forward_first_then_backward(results):
    forward, backward = results.key(task="mha_with_lse_d128", run="f"), results.key(task=results.BWD, run="b")
    made = [*results.turns(backward, a_0="q0.5 q0.6"), *results.turns(forward, a_0="q0.5")]
    (table,) = build("resources", results.sources((made, {})))
    assert [line.values["direction"] for line in table.rows] == ["forward", "backward"]
    assert table.rows[1].values["max_registers"] == 161


def test_throughput_names_benchmark_commit_and_device(apart):
    service, cpu = build("throughput", apart)
    assert [line.values["value"] for line in service.rows] == [10.0, 27.8]
    assert service.facts == {"device": "NVIDIA H200"}
    assert service.rows[0].values["commit"] == "0123456789ab"
    assert {line.values["value"] for line in service.published} == {2.24, 2.78}
    assert cpu.published == ()


def test_exposure_needs_no_run_and_leaves_what_is_unknown_blank(results):
    (table,) = build("exposure", results.sources())
    gemini = row(table, model="Gemini 3.1 Pro", arch="sm_100a")
    assert gemini["exposure"] == "less than a month"
    assert row(table, model="GLM-5.2", arch="sm_100a")["cutoff"] is None
    (own,) = build("exposure", results.sources(results.comparable_runs()))
    assert row(own, model="B & co", arch="sm_90a")["released"] is None


def test_every_metric_column_says_what_it_does_not_establish(apart):
    for kind in TABLES:
        for table in kind.build(apart):
            for column in table.columns:
                assert all(column.metrics[name] == definitions()[name] for name in column.metrics)
                if column.format in ("percent", "speedup", "ratio"):
                    assert column.metrics, f"{kind.name}: {column.key}"


@pytest.mark.parametrize("kind", [*TABLES, *FIGURES], ids=lambda kind: f"{type(kind).__name__}-{kind.module}-{kind.name}")
@pytest.mark.parametrize("words", [None, "x", "q0.5", "u0.5", "?"], ids=["empty", "wrong", "right", "unproven", "undecided"])
def test_no_runs_and_runs_of_one_turn_can_be_reported(kind, words, results):
    """Whatever there is to say; a table of no rows and a figure of no marks are not made."""
    runs = [] if words is None else [(results.turns(results.key(), a_0=words), {})]
    for item in kind.build(results.sources(*runs)):
        assert item.model_dump_json()


def test_a_planned_cell_without_turns_is_a_row(results):
    planned = {results.key(): results.plan()}
    table = build("models", results.sources(([], planned)))[0]
    assert table.rows[0].values[results.GEMM].unrestricted == (None, None, None)
    assert table.notes[0] == "Incomplete: 0 of 8 planned turns."


def test_cpu_cells_have_no_target_form(results):
    cpu = results.key(arch="cpu", device="cpu", task="cpu_softmax_n1024", language="cpp", pack=None, arm=None, run="c")
    table = build("models", results.sources((results.turns(cpu, a_0="q0.5"), {})))[0]
    assert table.rows[0].values["cpu_softmax_n1024"].target == (None, None, None)


def test_an_unknown_kind_is_refused_with_the_near_one():
    with pytest.raises(UsageError, match="there is no table 'model'") as refused:
        chosen(TABLES, ["model"], "table")
    assert "did you mean models?" in refused.value.next_step
    assert chosen(FIGURES, ["all"], "figure") == list(FIGURES)
