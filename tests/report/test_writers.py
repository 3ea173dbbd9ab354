"""Each format says the same: golden files hold a small table and its footnotes in all of them."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ptxbench.report.catalogue import TABLES
from ptxbench.report.documents import TABLE_FORMATS, table_document
from ptxbench.report.table import Column, Line, Pair, Table

GOLDEN = Path(__file__).with_name("golden")
KINDS = {kind.name: kind for kind in TABLES}


@pytest.fixture(scope="module")
def runs(results):
    return results.sources(results.comparable_runs())


@pytest.fixture(scope="module")
def apart(results):
    return results.sources(results.comparable_runs(), results.incomparable_runs(), evidence=results.evidence())


def written(name, sources, format, width=120):
    return table_document(name, KINDS[name].build(sources), format, width).text


@pytest.mark.parametrize("format", TABLE_FORMATS)
@pytest.mark.parametrize("name", ["models", "search"])
def test_a_table_is_as_recorded_in_every_format(results, name, format):
    """Golden files: PTXBENCH_WRITE_GOLDEN=1 writes them again, and the difference must be wanted."""
    unpublished = results.sources(results.comparable_runs("gemm_n4096_k4096", "mha_bwd_d96"))
    text = written(name, unpublished, format)
    file = GOLDEN / f"{name}.{TABLE_FORMATS[format]}"
    if os.environ.get("PTXBENCH_WRITE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_the_same_turns_in_another_order_give_the_same_text(results, format):
    made, planned = results.comparable_runs()
    turned = results.sources((made[::-1], dict(reversed(planned.items()))))
    straight = results.sources((made, planned))
    for name in ("models", "recipes", "budgets", "effort"):
        assert written(name, turned, format) == written(name, straight, format)


def test_csv_holds_each_figure_of_each_row_with_what_keeps_it_apart(apart):
    rows = list(csv.DictReader(io.StringIO(written("models", apart, "csv"))))
    own = [row for row in rows if not row["source"]]
    (best,) = [
        row for row in own
        if (row["metric"], row["column"], row["k"], row["model"]) == ("best_speedup", "gemm_n7168_k5120", "8", "openai/A_1")
        and (row["header.profile"], row["header.device"], row["header.harness"], row["header.arm"]) ==
        ("strict", "NVIDIA H200", "mini", "contracts") and row["header.language"] == "cuda" and not row["header.condition"]
    ]  # fmt: skip
    assert float(best["value"]) == 1.5
    assert {row["source"] != "" for row in rows if row["model"] == "Claude Opus 4.8"} == {True}
    (rate,) = [row for row in own if row["metric"] == "turn_correctness" and row["k"] == "8" and row["model"] == "openai/A_1 [s1]"]
    assert (float(rate["value"]), float(rate["ci95_low"]), float(rate["ci95_high"])) == (0.375, 0.25, 0.5)


def test_json_is_the_records(runs):
    content = json.loads(written("models", runs, "json"))
    assert content["figures"] == []
    assert [Table.model_validate_json(json.dumps(table)) for table in content["tables"]] == KINDS["models"].build(runs)
    metric = content["tables"][0]["columns"][1]["metrics"]["turn_correctness"]
    assert metric["does_not_establish"].startswith("That a kernel is right on other sizes")


@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_texts_for_people_say_what_figures_do_not_establish(runs, format):
    text = " ".join(written("models", runs, format).split())
    assert "Not established by “Best speedup”: how often such a kernel appears" in text
    assert "baseline cuBLAS 13.1.0 (torch 2.11.0), cuDNN 9.20.0" in text
    assert "published, for comparison by eye" in text


TRIPLET = r"(?<!\S)\(?[≥–\d.]+ / [≥–\d.]+ / [≥–\d.]+\)?(?!\S)"


@pytest.fixture(scope="module")
def built(apart):
    """The tables of each kind that has some, and the figures that they show where there is room for all."""
    tables = {kind.name: found for kind in TABLES if (found := kind.build(apart))}
    return {name: (found, triplets(table_document(name, found, "table", 400).text)) for name, found in tables.items()}


def triplets(text):
    return set(re.findall(TRIPLET, text))


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_figure_is_cut_however_narrow_the_terminal_is(built, width):
    for name, (tables, wide) in built.items():
        text = table_document(name, tables, "table", width).text
        assert "…" not in text
        assert triplets(text) == wide


def test_a_terminal_of_80_columns_is_not_overrun(runs):
    for name in ("models", "search", "effort", "recipes", "harnesses", "intervals"):
        assert max(map(len, written(name, runs, "table", 80).splitlines())) <= 80


def test_hashes_are_shown_only_where_they_keep_tables_apart(results):
    one, other = results.key(), results.key(model="other", run="o")
    changed = results.plan().model_copy(update={"settings": results.plan().settings | {"judge": "99999999"}})
    made = [*results.turns(one, a_0="q0.5"), *results.turns(other, a_0="q0.5")]
    alone = written("models", results.sources((results.turns(one, a_0="q0.5"), {one: results.plan()})), "markdown")
    both = written("models", results.sources((made, {one: results.plan(), other: changed})), "markdown")
    assert "judge" not in alone
    assert "judge 11111111" in both
    assert "judge 99999999" in both


HOSTILE = "\\input{x}_%$#&~^<b>|`*[y]\n{é}"


@pytest.fixture(scope="module")
def hostile():
    """A table with names that mean something to every format."""
    columns = (Column(key="model", title=HOSTILE), Column.of("v", "v_%", "percent", "turn_correctness"))
    rows = (Line(values={"model": HOSTILE, "v": 0.5}), Line(values={"model": "[8pt]", "v": None}))
    return [Table(kind="models", title="a_b & c", facts={"pack": HOSTILE}, columns=columns, rows=rows, notes=("100 % of #1",))]


def test_names_cannot_break_out_of_their_cell(hostile):
    latex = table_document("models", hostile, "latex").text
    body = latex[latex.index("\\midrule") : latex.index("\\bottomrule")]
    assert "\\input" not in latex
    assert "\\textbackslash{}input\\{x\\}\\_\\%\\$\\#\\&" in body
    assert "{[}8pt{]}" in body
    markdown = table_document("models", hostile, "markdown").text
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert "\\<b\\>\\|\\`\\*\\[y\\]" in lines[2]
    assert table_document("models", hostile, "table", 200).text.count("\n") < 20
    assert next(csv.DictReader(io.StringIO(table_document("models", hostile, "csv").text)))["model"] == HOSTILE


def test_latex_compiles_where_a_tool_is_there(apart, hostile, tmp_path):
    tool = next((name for name in ("tectonic", "pdflatex", "lualatex", "xelatex") if shutil.which(name)), None)
    if tool is None:
        pytest.skip("no LaTeX is installed: whether the tables compile was not tried")
    tables = [table_document(kind.name, kind.build(apart), "latex").text for kind in TABLES]
    packages = "\\usepackage[margin=1cm,landscape]{geometry}\\usepackage{booktabs,graphicx}"
    preamble = f"\\documentclass{{article}}{packages}\\begin{{document}}\n"
    tables = [text.replace("[t]", "[p]") + "\\clearpage\n" for text in (*tables, table_document("models", hostile, "latex").text)]
    (tmp_path / "x.tex").write_text(preamble + "".join(tables) + "\\end{document}\n", encoding="utf-8")
    command = [tool, "x.tex"] if tool == "tectonic" else [tool, "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_latex_rows_all_have_as_many_cells_as_columns(apart, hostile):
    """What a compiler would refuse first; holds where no LaTeX is installed as well."""
    texts = [table_document(kind.name, tables, "latex").text for kind in TABLES if (tables := kind.build(apart))]
    for text in (*texts, table_document("models", hostile, "latex").text):
        for kinds, body in re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
            rows = [line for line in body.splitlines() if line.endswith("\\\\")]
            assert rows
            assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(kinds) - 1}
        assert all(ord(c) < 128 or c in "“”é" for c in text), sorted({c for c in text if ord(c) > 127})
        assert text.count("{") - text.count("\\{") == text.count("}") - text.count("\\}")


def test_a_pair_that_all_limits_leave_unknown_is_one_mark():
    column = Column.of("v", "v", "speedup", "best_speedup", "target_best_speedup", limits=(1, 4, 8))
    none = Pair(target=(None,) * 3, unrestricted=(None,) * 3)
    table = Table(kind="models", title="t", facts={}, columns=(column,), rows=(Line(values={"v": none}),))
    assert "| –<br>(–) |" in table_document("models", [table], "markdown").text
