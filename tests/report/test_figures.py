"""Figures hold the marks that their data ask for, draw without a browser, and carry their header with them."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from ptxbench.metrics.curves import fast_p_curves
from ptxbench.report.catalogue import FIGURES
from ptxbench.report.documents import figure_documents
from ptxbench.report.figure import Figure

KINDS = {kind.name: kind for kind in FIGURES}


@pytest.fixture(scope="module")
def two_models(results):
    return results.sources(results.comparable_runs())


@pytest.fixture(scope="module")
def apart(results):
    return results.sources(results.comparable_runs(), results.incomparable_runs(), evidence=results.evidence())


def drawn(figure):
    """The texts of the figure's SVG, and the SVG."""
    (document,) = figure_documents(figure.kind, [figure], "svg")
    assert document.name == f"figure-{figure.kind}.svg"
    root = ET.fromstring(document.text)
    texts = [node.text for name in ("text", "tspan") for node in root.iter(f"{{http://www.w3.org/2000/svg}}{name}") if node.text]
    return texts, document.text


def test_fast_p_has_a_line_and_a_band_for_each_model_and_a_mark_at_each_best_speedup(two_models):
    (figure,) = KINDS["fast_p"].build(two_models)
    texts, svg = drawn(figure)
    cells, panels = 4, 2
    assert svg.count('class="mark-line') >= cells * panels
    assert svg.count('class="mark-area') >= cells * panels
    for label in ("1.500", "1.250", "0.250", "0.125"):
        assert label in texts
    assert "0.976" not in texts, "published speedups are lines, and no label of one's own"
    assert {"openai/A_1", "B & co", "gemm_n7168_k5120", "mha_bwd_d128", "Fast_p", "Fast_p^Inst"} <= set(texts)


def test_the_curve_is_the_metrics(two_models):
    (figure,) = KINDS["fast_p"].build(two_models)
    wanted = sorted(
        (round(row["p"], 9), row["mean"], row["min"], row["max"]) for row in fast_p_curves(two_models.frame).rows(named=True)
    )
    got = [row for row in figure.data if row["mark"] == "curve" and row["panel"] == "Fast_p"]
    seen = sorted((round(row["p"], 9), row["mean"], row["min"], row["max"]) for row in got)
    assert [point for point in wanted if point not in seen] == []
    ends = {(row["task"], row["series"]): row["p"] for row in got}
    assert ends["gemm_n7168_k5120", "B & co"] == ends["gemm_n7168_k5120", "openai/A_1"] == 1.5, "curves go on to the panel's end"


def test_published_speedups_are_dashed_marks_with_their_source(two_models):
    (figure,) = KINDS["fast_p"].build(two_models)
    marks = [row for row in figure.data if row["mark"] == "published"]
    assert {row["panel"] for row in marks} == {"Fast_p"}
    assert 0.975629186 in {row["p"] for row in marks}
    assert all("arXiv:2608.17379" in row["source"] for row in marks)
    assert "stroke-dasharray" in drawn(figure)[1]
    assert any("not comparable with these rows" in note for note in figure.notes)


@pytest.mark.parametrize(
    ("words", "low"),
    [("q0.5 n0.5 x x", None), ("q0.5 u0.75 x x", "Fast_p^Inst"), ("q0.5 n0.75 ? x", "Fast_p^Inst and Fast_p")],
)
def test_curves_that_unknown_turns_could_raise_are_said_to_be_lower_bounds(results, words, low):
    (figure,) = KINDS["fast_p"].build(results.sources((results.turns(results.key(), a_0=words), {})))
    said = [note for note in figure.notes if note.startswith("Lower bounds")]
    assert said == ([] if low is None else [f"Lower bounds: {low}, which undecided turns or unknown proofs could raise."])


def test_no_panel_of_zeros_stands_for_proofs_that_nobody_has(results):
    imported = results.sources((results.turns(results.key(), a_0="u0.5 u0.7 x x"), {}))
    (figure,) = KINDS["fast_p"].build(imported)
    assert {row["panel"] for row in figure.data} == {"Fast_p"}
    honest = results.sources((results.turns(results.key(), a_0="n0.5 n0.7 x x"), {}))
    (figure,) = KINDS["fast_p"].build(honest)
    assert {row["panel"] for row in figure.data} == {"Fast_p", "Fast_p^Inst"}
    (kernels,) = KINDS["kernels"].build(imported)
    assert {row["kind"] for row in kernels.data} == {"correct"}


def test_unnamed_variants_have_no_band(results):
    made = [turn.model_copy(update={"variant": None}) for turn in results.turns(results.key(), a_0="q0.5 q0.7", b_0="x q0.1")]
    (figure,) = KINDS["fast_p"].build(results.sources((made, {})))
    assert {row["min"] for row in figure.data if row["mark"] == "curve"} == {None}
    assert drawn(figure)[1]


def test_languages_are_drawn_for_each_model_that_has_several(apart):
    (figure,) = KINDS["languages"].build(apart)
    assert figure.facts["model"] == "openai/A_1"
    assert {row["series"] for row in figure.data if row["mark"] == "curve"} == {"cuda", "triton"}


def test_no_two_curves_or_bars_lie_on_each_other(apart, results):
    """A checkpoint, a second run, another pack: each is a series of its own, or a panel or figure of its own."""
    again = results.key(run="r-again")
    packs = results.key(pack="other", run="r-pack")
    more = results.sources(
        results.comparable_runs(), results.incomparable_runs(), (results.turns(again, a_0="q0.3"), {again: results.plan()}),
        (results.turns(packs, a_0="q0.4"), {packs: results.plan()}),
    )  # fmt: skip
    for name, place in (("fast_p", ("panel", "task", "series", "p")), ("languages", ("panel", "task", "series", "p")),
                        ("arms", ("panel", "x", "form")), ("recipes", ("panel", "x", "form"))):  # fmt: skip
        for sources in (apart, more):
            for figure in KINDS[name].build(sources):
                drawn_at = Counter(tuple(row[key] for key in place) for row in figure.data if row.get("mark", "curve") == "curve")
                doubled = {at for at, count in drawn_at.items() if count > 1}
                ends = set({at[:3]: at for at in sorted(drawn_at)}.values()) if "p" in place else set()
                assert doubled <= ends, "only a curve that already reaches the end of its panel may have that point twice"


def test_outcomes_stack_to_all_turns(two_models):
    (figure,) = KINDS["outcomes"].build(two_models)
    shares = {}
    for row in figure.data:
        place = row["model"], row["task"], row["turn"]
        shares[place] = shares.get(place, 0.0) + row["share"]
    assert all(share == pytest.approx(1.0) for share in shares.values())
    texts, svg = drawn(figure)
    assert {"compile_error", "wrong_value", "timeout", "correct", "undecided", "not_reached"} <= set(texts)
    assert len(re.findall(r'aria-roledescription="bar"', svg)) == len(figure.data)


@pytest.mark.parametrize("name", sorted({kind.name for kind in FIGURES}))
def test_each_kind_draws_as_svg_and_png_with_its_header(apart, name):
    figures = KINDS[name].build(apart)
    assert figures, "the example has something of each kind"
    for figure in figures[:2]:
        texts, _ = drawn(figure)
        text = " ".join(texts)
        assert figure.title in text
        assert figure.facts["device"] in text
        if "baseline" in figure.facts:
            assert f"baseline {figure.facts['baseline']}".split()[:2] == ["baseline", "cuBLAS"]
            assert "cuBLAS 13.1.0" in text
        assert "Not established by" in text
        for metric in figure.metrics.values():
            assert metric.does_not_establish
    (png, *_) = figure_documents(name, figures[:1], "png")
    assert png.content.startswith(b"\x89PNG\r\n")
    assert len(png.content) > 5000


@pytest.mark.parametrize("name", ["fast_p", "outcomes", "kernels", "reasoning"])
def test_what_may_not_stand_together_is_drawn_apart(apart, name):
    figures = KINDS[name].build(apart)
    headers = [json.dumps(figure.facts, sort_keys=True) for figure in figures]
    assert len(headers) == len(set(headers)) == 7


def test_bars_have_whiskers_where_trajectories_tell_a_spread(apart):
    figure = KINDS["arms"].build(apart)[0]
    assert {row["form"] for row in figure.data} == {"target instruction", "unrestricted"}
    pooled = [row for row in figure.data if "pooled" in row["panel"]]
    assert all(row["low"] <= row["share"] <= row["high"] for row in pooled)
    assert {row["low"] for row in figure.data if "prompt" in row["panel"]} == {None}, "one trajectory tells no spread"


def test_budgets_are_not_drawn_where_tokens_are_unknown(results):
    made = [results.turn(results.key(), "a-0", index, results.Outcome.CORRECT, 0.5, "qualified", tokens=None) for index in range(3)]
    assert KINDS["budgets"].build(results.sources((made, {}))) == []
    assert KINDS["reasoning"].build(results.sources((made, {}))) == []


def test_figures_are_records_that_stand_alone(two_models):
    for kind in FIGURES:
        for figure in kind.build(two_models):
            again = Figure.model_validate_json(figure.model_dump_json())
            assert again == figure
            assert "http" not in json.dumps(figure.spec).replace("https://vega.github.io/schema", "")


def test_the_same_turns_in_another_order_give_the_same_picture(results):
    made, planned = results.comparable_runs()
    turned = results.sources((made[::-1], dict(reversed(planned.items()))))
    for name in ("fast_p", "outcomes"):
        one, other = KINDS[name].build(results.sources((made, planned))), KINDS[name].build(turned)
        assert figure_documents(name, one, "svg") == figure_documents(name, other, "svg")


def test_csv_of_a_figure_is_what_it_draws(two_models):
    figures = KINDS["outcomes"].build(two_models)
    (document,) = figure_documents("outcomes", figures, "csv")
    assert document.text.count("\n") == 1 + len(figures[0].data)
    assert document.text.splitlines()[0].startswith("figure,header.profile,header.arch,header.device")
