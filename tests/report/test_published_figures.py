"""What others published: every figure has a source, what is unknown stays unknown, and the docs say what the data say."""

import csv
import tomllib
from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from ptxbench.agent.imports.published import COLUMNS, LABELS
from ptxbench.arch import ARCHITECTURES
from ptxbench.packs.manifest import Arm
from ptxbench.report.published import disagreements, exposure_table, find_model, headlines, models, reference_lines
from ptxbench.report.published.headlines import Headline, HeadlineSource
from ptxbench.report.published.models import ModelFile, model_file
from ptxbench.suite.loading import load

PAGE = Path(__file__).parents[2] / "docs" / "published-results.md"
PAPER = HeadlineSource(id="paper", title="a paper")


def test_every_figure_names_its_source_and_is_of_something_that_is_known_here():
    tasks = set(load().names)
    assert len(headlines()) > 100 and {one.source.id for one in headlines()} == {"paper", "repository"}
    for one in headlines():
        assert one.source.title and one.where
        assert one.arch is None or one.arch in ARCHITECTURES
        assert one.task is None or one.task in tasks
        assert one.arm is None or one.arm in list(Arm)
        assert one.model is None or find_model(one.model), one.model


def test_no_source_says_two_things_of_one_subject():
    subjects = [(one.source.id, one.subject, one.where) for one in headlines()]
    assert len(set(subjects)) == len(subjects)


def test_reference_lines_are_of_one_metric_architecture_task_and_language():
    lines = reference_lines("best_speedup", arch="sm_100a", task="mha_bwd_d128", language="triton")
    assert [(one.model, one.value, one.source.id) for one in lines] == [("Gemini 3.1 Pro", 0.514, "paper")]
    cuda = reference_lines("best_speedup", arch="sm_100a", task="mha_bwd_d128")
    values = {(one.source.id, one.model): one.value for one in cuda}
    assert values["paper", "Gemini 3.1 Pro"] == 0.198 and values["repository", "Gemini 3.1 Pro"] == pytest.approx(0.133, abs=1e-3)
    assert values["repository", "Qwen3.6-27B"] is None


def test_where_paper_and_repository_differ_is_known_and_told_in_the_docs():
    found = {(one.model, one.arch, one.task): (one.value, other.value) for one, other in disagreements()}
    assert found == {
        ("Gemini 3.1 Pro", "sm_100a", "mha_bwd_d128"): (0.198, pytest.approx(0.133, abs=1e-3)),
        ("Gemini 3.1 Pro", "sm_100a", "mha_bwd_d128_causal"): (None, pytest.approx(0.0146, abs=1e-4)),
    }
    page = PAGE.read_text(encoding="utf-8")
    assert "| MHA backward, d = 128, B200 | 0.198 | 0.133 |" in page
    assert "| the same, causal | no correct kernel | 0.015 |" in page


def test_the_repository_s_figures_equal_its_tables(shared_data):
    published = {}
    for name, metric, column in (
        ("best_speedup", "best_speedup", "best_speedup"),
        ("arch_instruction_correctness", "correct_turns", "n_correct_turns"),
        ("arch_instruction_correctness", "target_trajectories", "correct_with_arch"),
    ):
        with (shared_data / "published" / f"{name}_by_release_date.csv").open() as stream:
            for line in csv.DictReader(stream):
                arch = {"hopper": "sm_90a", "blackwell": "sm_100a"}[line["arch"]]
                if line["turn_limit"] == "8":
                    key = (metric, line["model"], arch, line["definition"])
                    published[key] = (float(line[column]), int(line["n_trajectories"]))
    bundled_figures = {
        (one.metric, one.model, one.arch, one.task): (one.value or 0.0, one.trajectories)
        for one in headlines()
        if one.source.id == "repository"
    }
    assert len(published) == 93
    assert {key: bundled_figures[key] for key in published} == published


@pytest.mark.parametrize(
    "figure",
    [
        {"metric": "correct_turns", "value": 3},
        {"metric": "correct_turns", "value": 97, "of": 96},
        {"metric": "correct_turns", "value": None, "of": 96},
        {"metric": "best_speedup", "value": 0.5, "of": 96},
        {"metric": "best_speedup", "value": -0.5},
        {"metric": "best_speedup", "value": float("inf")},
        {"metric": "median_speedup", "value": 0.5},
        {"metric": "best_speedup", "value": 0.5, "arch": "hopper"},
        {"metric": "best_speedup", "value": 0.5, "modle": "X"},
    ],
)
def test_a_figure_that_makes_no_sense_is_refused(figure):
    with pytest.raises(ValidationError):
        Headline(**figure, source=PAPER, where="here")


def test_every_fact_about_a_model_names_its_source_and_whose_word_it_is():
    for model in models():
        for fact in (model.released, model.knowledge_cutoff, *model.score):
            assert fact is None or (fact.source and fact.kind)
    assert [one.name for one in models() if one.knowledge_cutoff is None and one.base is None] == ["GLM-5.2", "Qwen3.6-27B"]
    assert {one.name: one.score[0].percent for one in models() if one.score} == {
        "Claude Opus 4.8": 69.2,
        "Gemini 3.1 Pro": 54.2,
        "GLM-5.2": 62.1,
        "Qwen3.6-27B": 53.5,
    }


def test_the_dates_of_the_repository_are_those_of_its_tables(shared_data):
    with (shared_data / "published" / "model_release_dates.csv").open() as stream:
        given = {line["model"]: line["date"] for line in csv.DictReader(stream)}
    for name, day in given.items():
        found = find_model(name)
        if found is None:
            assert name.startswith("Qwen3.6-27B + "), name  # A condition of that model and no model.
            continue
        released = found.released.date.isoformat() if found.released else None
        cutoff = found.knowledge_cutoff.month if found.knowledge_cutoff else None
        assert day == released or day[:7] == cutoff, name
    with (shared_data / "published" / "ptx_release_dates.csv").open() as stream:
        documented = {line["arch"]: date.fromisoformat(line["date"]) for line in csv.DictReader(stream)}
    ours = {one.arch: one.date for one in model_file().ptx_documentation}
    assert ours == {"sm_90a": documented["hopper"], "sm_100a": documented["blackwell"]}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Claude Opus 4.8", "Claude Opus 4.8"),
        ("inspect/anthropic/claude-opus-4-8", "Claude Opus 4.8"),
        ("openai/Qwen/Qwen3.6-27B", "Qwen3.6-27B"),
        ("openai/Qwen3.6-27B-s1", "Qwen3.6-27B-s1"),
        ("openai/Qwen3.6", None),
        ("", None),
    ],
)
def test_a_model_is_found_by_the_names_that_endpoints_give_it(name, found):
    model = find_model(name)
    assert (model and model.name) == found


def test_exposure_is_counted_from_the_documentation_to_the_cutoff():
    table = {(line.model, line.arch): line for line in exposure_table()}
    assert table["Gemini 3.1 Pro", "sm_100a"].months == 0  # The paper: the same month.
    assert table["Claude Opus 4.8", "sm_90a"].months == 39 and table["Claude Opus 4.8", "sm_100a"].text == "12 months"
    unknown = table["GLM-5.2", "sm_100a"]
    assert (unknown.months, unknown.at_most_months, unknown.text) == (None, 17, "unknown, at most 17 months")
    tuned = table["Qwen3.6-27B-s1", "sm_100a"]
    assert (tuned.months, tuned.at_most_months) == (None, 15)  # Its base model's: April 2026.
    (nobody, _) = exposure_table(["somebody/else"])
    assert (nobody.model, nobody.months, nobody.at_most_months, nobody.text) == ("somebody/else", None, None, "unknown")


def test_the_docs_show_the_table_of_exposure_as_it_is():
    page = PAGE.read_text(encoding="utf-8")
    for line in exposure_table([one.name for one in models() if one.base is None]):
        assert f"| {line.model} | `{line.arch}` | {line.ptx_documented.date} |" in page
        row = next(row for row in page.splitlines() if row.startswith(f"| {line.model} | `{line.arch}` |"))
        cutoff = line.knowledge_cutoff.month if line.knowledge_cutoff else "unknown"
        released = line.released.date.isoformat() if line.released else "unknown"
        assert row.endswith(f"| {cutoff} | {released} | {line.text} |")


def test_the_docs_name_every_label_and_column_of_an_imported_table():
    page = PAGE.read_text(encoding="utf-8")
    assert [label for label, outcome in LABELS.items() if f"| {label} | `{outcome.value}` |" not in page] == []
    assert [name for name in COLUMNS if f"`{name}`" not in page] == []


MODEL = '[[model]]\nname = "X"\n'
DOCUMENTED = '[[ptx_documentation]]\narch = "sm_90a"\ndate = 2022-10-05\nkind = "repository"\nsource = "s"\n'


@pytest.mark.parametrize(
    "text",
    [
        MODEL + MODEL + DOCUMENTED,
        MODEL + '[[model]]\nname = "Y"\nalso = ["x"]\n' + DOCUMENTED,
        MODEL + DOCUMENTED + DOCUMENTED,
        MODEL + 'base = "Z"\n' + DOCUMENTED,
        MODEL + "released = 2026-01-01\n" + DOCUMENTED,
        MODEL + '[model.released]\ndate = 2026-01-01\nkind = "hearsay"\nsource = "s"\n' + DOCUMENTED,
        MODEL + '[model.released]\ndate = 2026-01-01\nkind = "vendor"\n' + DOCUMENTED,
        MODEL + '[model.knowledge_cutoff]\nmonth = "2026-13"\nkind = "vendor"\nsource = "s"\n' + DOCUMENTED,
        MODEL + '[[model.score]]\nbenchmark = "b"\npercent = 101\nkind = "vendor"\nsource = "s"\n' + DOCUMENTED,
        MODEL + 'color = "blue"\n' + DOCUMENTED,
    ],
)
def test_facts_that_lack_a_source_or_stand_twice_are_refused(text):
    ModelFile.model_validate(tomllib.loads(MODEL + DOCUMENTED))
    with pytest.raises(ValidationError):
        ModelFile.model_validate(tomllib.loads(text))
